package AdmissionBench::Core;

# Results of bench/core/enter_leave, which measures the core alone.

use strict;
use warnings;

use Cwd ();
use Exporter 'import';
use File::Basename ();

use Admission::Config;

our @EXPORT = qw(enter_leave);

# enter_leave(rounds): { settings => [ { name, median, min, max, ratio }, ... ],
# hand_over => { p50, p99, max, samples } }; nanoseconds for an enter and a leave,
# the ratio to the first setting as from ratios(); microseconds from a leave to the
# next start.
sub enter_leave {
    my ($rounds) = @_;
    my $program = path();
    my $text = `timeout 120 $program $rounds`;
    my (@settings, %hand_over);

    $? == 0 or die "$program failed\n";
    for my $line (split /\n/, $text) {
        $hand_over{samples} = $1 if $line =~ /\((\d+) samples\)/;
        my ($name, @is) = $line =~ /^(\S.*?)((?:\s+[\d.]+)+)$/ ? ($1, split ' ', $2) : next;
        my %setting = (name => $name);
        if (@is == 6) {
            @setting{qw(median min max)} = @is;
            @{ $setting{ratio} }{qw(median min max)} = @is[3 .. 5];
            push @settings, \%setting;
        }
        else {
            @hand_over{qw(p50 p99 max)} = @is;
        }
    }
    return { settings => \@settings, hand_over => \%hand_over };
}

# `make bench` sets its path; otherwise it is in the tree of the module.
sub path {
    return $ENV{ADMISSION_ENTER_LEAVE} if $ENV{ADMISSION_ENTER_LEAVE};
    my $tree = File::Basename::dirname(Admission::Config::admission_module()) . '/..';

    system("make --silent -C $tree bench/core/enter_leave >&2") == 0
        or die "bench/core/enter_leave is not built\n";
    return Cwd::abs_path("$tree/bench/core/enter_leave");
}

1;

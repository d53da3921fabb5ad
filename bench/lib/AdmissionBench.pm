package AdmissionBench;

# What the experiments of bench/ say. One begins with
#
#     use FindBin;
#     use lib "$FindBin::Bin/../lib";
#     use AdmissionBench;
#
#     my $bench = experiment('memory', title => 'A program that fills 200 MB');
#
# which brings strict, warnings, the private httpds of t/lib/AdmissionTest
# and the functions below, and ends with
#
#     $bench->finish;
#
# It is run as bench/experiments/NAME OUTPUT-FOLDER, or by bench/run, which
# assembles the page. Report.pm has the words for what it writes, Load.pm for
# clients, Opponents.pm and Proxy.pm for what mod_admission is compared with.
#
# Environment: BENCH_SCALE (default 1: times and numbers are multiplied by it;
# 0.2 while one works on an experiment), and that of AdmissionTest.

use strict;
use warnings;

use Cwd ();
use Exporter;
use File::Temp ();
use List::Util ();

our $ROOT;

BEGIN {
    ($ROOT) = Cwd::abs_path(__FILE__) =~ m{^(.*)/bench/lib/};
    unshift @INC, "$ROOT/t/lib";
}

use AdmissionTest;
use AdmissionBench::Load qw(ab start_ab start_steady start_visitors start_wrk steady_lines
                            visitors visitors_seen wrk);
use Admission::Machine qw(machine);
use AdmissionBench::Opponents qw(plain_httpd qos_conf qos_serialize_conf);
use AdmissionBench::Proxy qw(start_haproxy start_nginx);
use AdmissionBench::Report;

our @ISA    = ('Exporter');
our @EXPORT = (qw(ab compile experiment interleave machine median percentile plain_httpd
                  qos_conf qos_serialize_conf ratios scaled spread start_ab start_haproxy
                  start_nginx start_steady start_visitors start_wrk steady_lines visitors
                  visitors_seen wrk),
               @AdmissionTest::EXPORT);

sub import {
    strict->import;
    warnings->import;
    # The library is made for tests. Here passes are silenced; failures still go
    # to stderr and to AdmissionBench::Report::finish().
    my $silence;
    Test::More->builder->no_plan;
    Test::More->builder->no_ending(1);
    open my $nowhere, '>', \$silence or die "$!\n";
    Test::More->builder->output($nowhere);
    __PACKAGE__->export_to_level(1);
}

# experiment('name', title => 'what it is', files => number of open files that
# httpd and clients need): reads the command line.
sub experiment {
    my ($name, %o) = @_;
    my ($folder, @more) = @ARGV;

    die "usage: $0 OUTPUT-FOLDER\n" if !defined $folder || @more;
    Admission::Machine::raise_files($o{files}) if $o{files};
    return AdmissionBench::Report->new($name, $folder, $o{title});
}

# A time or number as BENCH_SCALE wants it, at least 1.
sub scaled {
    my ($n) = @_;
    my $scaled = $n * scale();

    return $scaled < 1 ? 1 : $n == int $n ? int $scaled : $scaled;
}

sub scale { return $ENV{BENCH_SCALE} || 1 }

# The path of a program of bench/programs, compiled: compile('clients').
sub source_of {
    my ($name) = @_;
    return (grep { -e } map { "$ROOT/$_/programs/$name.c" } qw(t bench))[0];
}

sub compile {
    my ($name) = @_;
    our $programs //= File::Temp->newdir('admission-bench-XXXXXX', TMPDIR => 1);
    my $path = "$programs/$name";

    return $path if -e $path;
    # The private httpds may run it as another user.
    chmod 0755, "$programs";
    system($ENV{CC} // 'cc', '-O2', '-std=gnu11', '-o', $path, source_of($name), '-lm') == 0
        or die "$name.c does not compile\n";
    return $path;
}

# ---- comparing ---------------------------------------------------------------

# interleave(3, without => sub {...}, with => sub {...}): each in turn, so that
# what the machine does besides hits all alike; another one begins each round.
# Returns { without => [result, ...], with => [result, ...] }.
sub interleave {
    my ($rounds, @sides) = @_;
    my (%result, %code);
    my @order;

    while (my ($name, $code) = splice @sides, 0, 2) {
        push @order, $name;
        $code{$name} = $code;
    }
    for (1 .. $rounds) {
        push @{ $result{$_} }, $code{$_}->() for @order;
        push @order, shift @order;
    }
    return \%result;
}

# { median, min, max } of the first over the second of each pair.
sub ratios {
    my ($these, $those) = @_;
    my @ratios = map { $those->[$_] ? $these->[$_] / $those->[$_] : 0 } 0 .. $#$these;

    return { median => median(@ratios), min => List::Util::min(@ratios),
             max => List::Util::max(@ratios) };
}

# ratios() in words: spread({...}, 'x') is '1.02x (0.98 to 1.05)'.
sub spread {
    my ($ratios, $unit) = @_;
    return sprintf '%.3f%s (%.3f to %.3f)', $ratios->{median}, $unit // '',
        @{$ratios}{qw(min max)};
}

sub median { return percentile(50, @_) }

# The value that so many percent of the others do not exceed; of the median of
# an even number, the mean of the two in the middle.
sub percentile {
    my ($percent, @values) = @_;
    my @sorted = sort { $a <=> $b } @values or return;
    my $place = $percent / 100 * @sorted;

    return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2 if $percent == 50;
    return $sorted[ List::Util::min($#sorted, int $place) ];
}

1;

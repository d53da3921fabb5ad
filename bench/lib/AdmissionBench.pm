package AdmissionBench;

# Functions shared by the experiments of bench/. Each experiment starts with
#
#     use FindBin;
#     use lib "$FindBin::Bin/../lib";
#     use AdmissionBench;
#
#     my $bench = experiment('memory');
#
# which brings strict, warnings, the private httpds of t/lib/Admission and the
# functions below, and ends with
#
#     $bench->finish;
#
# It is run as bench/experiments/NAME OUTPUT-FOLDER, or by bench/run, which puts its
# results into docs/benchmarks/NAME.md. Report.pm has the functions for its output, Load.pm
# here and in t/lib/Admission for clients, Opponents.pm and Proxy.pm for the competitors of
# mod_admission.
#
# Environment: BENCH_SCALE (default 1: times and numbers are multiplied by it; use 0.2
# while you work on an experiment), and the variables of Admission.

use strict;
use warnings;

use Cwd ();
use Exporter;
use List::Util ();

our $ROOT;

BEGIN {
    ($ROOT) = Cwd::abs_path(__FILE__) =~ m{^(.*)/bench/lib/};
    unshift @INC, "$ROOT/t/lib";
}

use Admission;
use Admission::Load qw(percentile);
use AdmissionBench::Load qw(ab start_ab start_wrk wrk);
use Admission::Machine qw(machine);
use AdmissionBench::Opponents qw(counted_conf elsewhere_conf plain_httpd qos_conf
                                 qos_serialize_conf);
use AdmissionBench::Proxy qw(start_haproxy start_nginx);
use AdmissionBench::Report;
use AdmissionBench::Visitors qw(start_visitors visitors visitors_seen);

our @ISA    = ('Exporter');
our @EXPORT = (qw(ab counted_conf elsewhere_conf experiment interleave machine median percentile plain_httpd qos_conf
                  qos_serialize_conf ratios scaled spread start_ab start_haproxy start_nginx
                  start_visitors start_wrk visitors visitors_seen wrk),
               @Admission::EXPORT);

sub import {
    strict->import;
    warnings->import;
    __PACKAGE__->export_to_level(1);
}

# experiment('name', files => number of open files that httpd and clients need): reads
# the command line.
sub experiment {
    my ($name, %o) = @_;
    my ($folder, @more) = @ARGV;

    die "usage: $0 OUTPUT-FOLDER\n" if !defined $folder || @more;
    Admission::Machine::raise_files($o{files}) if $o{files};
    return AdmissionBench::Report->new($name, $folder);
}

# A time or number, multiplied by BENCH_SCALE, at least 1.
sub scaled {
    my ($n) = @_;
    my $scaled = $n * scale();

    return $scaled < 1 ? 1 : $n == int $n ? int $scaled : $scaled;
}

sub scale { return $ENV{BENCH_SCALE} || 1 }

# ---- comparing ---------------------------------------------------------------

# interleave(3, without => sub {...}, with => sub {...}): alternately, so that other
# activity of the machine affects all equally; each round starts with another one.
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

# ratios() as text: spread({...}, 'x') is '1.02x (0.98 to 1.05)'.
sub spread {
    my ($ratios, $unit) = @_;
    return sprintf '%.3f%s (%.3f to %.3f)', $ratios->{median}, $unit // '',
        @{$ratios}{qw(min max)};
}

sub median { return percentile(50, @_) }

1;

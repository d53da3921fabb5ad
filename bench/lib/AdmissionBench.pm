package AdmissionBench;

# What the experiments of bench/ share. Each starts with
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
# results into docs/benchmarks/NAME.md. Report.pm has the words for what it writes, Load.pm here and
# in t/lib/Admission for clients, Opponents.pm and Proxy.pm for what mod_admission is
# compared with.
#
# Environment: BENCH_SCALE (default 1: times and numbers are multiplied by it;
# 0.2 while one works on an experiment), and that of Admission.

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
use Admission::Load qw(percentile start_visitors visitors visitors_seen);
use AdmissionBench::Load qw(ab start_ab start_wrk wrk);
use Admission::Machine qw(machine);
use AdmissionBench::Opponents qw(counted_conf elsewhere_conf plain_httpd qos_conf
                                 qos_serialize_conf);
use AdmissionBench::Proxy qw(start_haproxy start_nginx);
use AdmissionBench::Report;

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

# A time or number as BENCH_SCALE wants it, at least 1.
sub scaled {
    my ($n) = @_;
    my $scaled = $n * scale();

    return $scaled < 1 ? 1 : $n == int $n ? int $scaled : $scaled;
}

sub scale { return $ENV{BENCH_SCALE} || 1 }

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

1;

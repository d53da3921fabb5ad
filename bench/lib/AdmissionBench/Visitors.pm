package AdmissionBench::Visitors;

# Clients that request a static file while something else runs, each on its own connection.
#
#     my $result = visitors($port, rate => 100, clients => 10, seconds => 5);
#     my $load = start_visitors($port, options => ['-s']);
#     ...
#     print visitors_seen($load)->{p99};
#
# Returns { asked, failed, p50, p99, max }, times in milliseconds. With `-s`, requests above
# the maximum number of clients are skipped.

use strict;
use warnings;

use Exporter 'import';

use Admission::Load qw(percentile);

our @EXPORT_OK = qw(start_visitors visitors visitors_seen);

my $LONGEST = 600;    # seconds until a load is ended in any case

sub visitors { return visitors_of(start_visitors(@_)->rest) }

sub start_visitors {
    my ($port, %o) = @_;
    return Admission::Load->start(@{ $o{options} // [] }, $port, $o{rate} // 100, $o{clients} // 10,
                                  $o{seconds} // $LONGEST, '/static.txt');
}

sub visitors_seen { return visitors_of($_[0]->ask_no_more->rest) }

sub visitors_of {
    my (@lines) = @_;
    my @ms = map { $_->[1] / 1000 } grep { $_->[2] } @lines ? @lines : die "no requests\n";
    # Without a response, the time is infinite.
    my ($p50, $p99, $max) = map { percentile($_, @ms) // 'inf' } 50, 99, 100;

    return { asked => scalar @lines, failed => @lines - @ms, p50 => $p50, p99 => $p99, max => $max };
}

1;

package AdmissionBench::Stamps;

# A program that records its start and end, and the gaps between the end of one and the
# start of the next.

use strict;
use warnings;

use Exporter qw(import);
use File::Copy ();

use Admission;
use Admission::Program qw(program);
use AdmissionBench::Load qw(ab);

our @EXPORT_OK = qw(gaps_under_load stamp_httpd $STAMP_CLIENTS $STAMP_MS);

our ($STAMP_CLIENTS, $STAMP_MS) = (10, 20);

# An httpd with the program at /stamp/, and more configuration, in which DIR is replaced
# by its directory.
sub stamp_httpd {
    my ($combo, %o) = @_;
    my ($parts) = combos($combo) or return;
    my $httpd = new_httpd(combo => $parts, workers => 4 * $STAMP_CLIENTS,
                          admission => $o{admission} // 0, stops_within => 20)->allow_in_log(qr/./);
    my $dir = $httpd->{dir};
    my $conf = <<"CONF" . ($o{conf} // '');
LogLevel warn
ScriptAliasMatch ^/stamp/ DIR/cgi/stamp-$STAMP_MS
SetEnv STAMP_DIR DIR/heavy
CONF

    File::Copy::copy(program('stamp'), "$dir/cgi/stamp-$STAMP_MS") or die "stamp: $!\n";
    chmod 0755, "$dir/cgi/stamp-$STAMP_MS";
    $httpd->configure($conf =~ s/\bDIR\b/$dir/gr);
    return $httpd->start;
}

# { gaps in microseconds, peak of concurrent programs, failed, and the clients' waits }
# of some seconds of load: clients, seconds, and the port if it is not httpd's own.
sub gaps_under_load {
    my ($httpd, %o) = @_;
    my $port = $o{port} // $httpd->{port};

    $httpd->put('../heavy/stamps', '');
    chmod 0666, "$httpd->{dir}/heavy/stamps";
    my $load = ab("http://127.0.0.1:$port/stamp/", clients => $o{clients} // $STAMP_CLIENTS,
                  seconds => $o{seconds}, allow_failures => 1);
    # Waiting requests must not run into the next round.
    $httpd->soon(sub { my @stamps = $httpd->slurp('heavy/stamps') =~ /^\w/mg; @stamps % 2 == 0 }, 5);
    return { %{ read_stamps($httpd->slurp('heavy/stamps')) },
             map { $_ => $load->{$_} } qw(failed median max) };
}

sub read_stamps {
    my ($text) = @_;
    my @stamps = sort { $a->[1] <=> $b->[1] } map { [ split ' ' ] } split /\n/, $text;
    my ($live, $most, $ended_at, @gaps) = (0, 0);

    for (@stamps) {
        my ($event, $nsec) = @$_;
        if ($event eq 'start') {
            push @gaps, ($nsec - $ended_at) / 1000 if defined $ended_at && $live == 0;
            $live++;
            $most = $live if $live > $most;
        }
        else {
            $live-- if $live;    # otherwise, it started in the round before
            $ended_at = $nsec;
        }
    }
    return { gaps => \@gaps, most => $most };
}

1;

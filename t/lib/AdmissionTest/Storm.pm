package AdmissionTest::Storm;

# What the storms share: a zone of four that everything happens to, and how it
# must look when the storm is over.

use Exporter 'import';
use Time::HiRes qw(time);

use AdmissionTest;
use Admission::Crowd;
use Admission::Parking qw(backlog);

our @EXPORT = qw($LIMIT crowd_at is_calm_soon nobody_is_counted programs_end
                 runs_a_request start_storm_httpd);

our $LIMIT = 4;

my $ZONE      = '/cgi-bin/';
my $PATIENCE  = 60;    # seconds, for tests that fail

# A private httpd with a line long enough for the crowds of these tests.
sub start_storm_httpd {
    my (%o) = @_;
    my $httpd = start_httpd(workers => 80, replaces_killed => 1, conf => <<"CONF", %o);
<Location $ZONE>
    MaxConcurrent $LIMIT
    AdmissionQueue 50 timeout=5s
</Location>
CONF
    return $httpd->allow_in_log(Admission::Crowd::casualties());
}

# An assertion that all programs end. @return when the last one did.
sub programs_end {
    my ($httpd) = @_;

    # Also those of requests that nobody has accepted yet.
    wait_for { !backlog($httpd) && !$httpd->live_programs_now } 'the last programs end', $PATIENCE;
    return time;
}

# Assertions: soon after $since, when the last thing was killed or the last
# program ended, nobody is counted who is not there, and a new request runs.
sub is_calm_soon {
    my ($httpd, $since) = @_;

    nobody_is_counted($httpd, $since);
    runs_a_request($httpd);
}

sub nobody_is_counted {
    my ($httpd, $since) = @_;

    $httpd->comes_to_rest;
    in_two_seconds($since);
    is scalar($httpd->live_programs_now), 0, 'no program lives on uncounted';
}

sub runs_a_request {
    my ($httpd) = @_;

    my $asked_at = time;
    my $answer = $httpd->get("${ZONE}heavy?id=after");
    is $answer->{status}, 200, 'a new request runs';
    note sprintf '... after %.2f s', time - $asked_at;
    my $status = $httpd->status;
    is_deeply [ @{$status}{qw(AdmissionBlocked AdmissionParked AdmissionUnlimited)} ],
        [ 0, 0, 0 ], 'nobody is left waiting, nobody ran uncounted';
}

1;

# A child is stopped (SIGSTOP, a debugger) while it has a permit. When its program
# has ended somebody else gets the permit; when the child goes on, its client gets
# the answer, and what else the request asks for has to wait.

use FindBin;
use lib "$FindBin::Bin/../lib";
use AdmissionTest;
use AdmissionTest::Parking;

# The first request leads on: its answer is a local redirect into the same zone.
sub stop_child_of {
    my ($combo, $query) = @_;
    my $httpd = $combo->{mpm} eq 'event'
        ? start_parking_httpd(combo => $combo, children => 2, conf => conf())
        : start_httpd(combo => $combo, workers => 8, conf => conf());
    wait_for { $httpd->children > 1 } 'several children serve';
    my ($stays) = $httpd->children;
    my $watch = $httpd->watch;

    # It alone answers while the others are stopped.
    my @others = grep { $_ != $stays } $httpd->children;
    halt($httpd, $_) for @others;
    my $first = $httpd->ask("/cgi-bin/heavy?id=first&until=first$query");
    wait_for { grep { $_ eq 'start first' } $httpd->record } 'its program runs';
    halt($httpd, $stays);
    kill CONT => $_ for @others;

    my $next = $httpd->ask('/cgi-bin/heavy?id=next&until=next');
    $httpd->zone_becomes('/cgi-bin/', 'its child is stopped: it has its permit',
                         Active => 1, Queued => 1);
    $httpd->open_gate('first');
    wait_for { grep { $_ eq 'start next' } $httpd->record } 'it ends: the next one runs';
    $httpd->zone_becomes('/cgi-bin/', '... with its permit', Active => 1, Queued => 0,
                         Reclaimed => 0);
    kill CONT => $stays;
    return ($httpd, $watch, $first, $next);
}

sub conf { return <<'CONF' }
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 3
</Location>
CONF

for_each_combo(sub {
    my ($combo) = @_;
    my ($httpd, $watch, $first, $next) = stop_child_of($combo, '');

    is $first->answer->{status}, 200, 'the child goes on: its client has the answer';
    $httpd->zone_becomes('/cgi-bin/', '... and no permit', Active => 1);
    $httpd->open_gate('next');
    is $next->answer->{status}, 200, 'the next one is served';
    is $watch->most, 1, 'one at a time';
    $httpd->zone_becomes('/cgi-bin/', 'all permits are back', Active => 0, Queued => 0,
                         Admitted => 2);
    $httpd->stop;
}, 'prefork+cgi', 'event+cgi', 'event+cgid');

for_each_combo(sub {
    my ($combo) = @_;
    my ($httpd, $watch, $first, $next) =
        stop_child_of($combo, '&loc=/cgi-bin/heavy?id=second');

    $httpd->zone_becomes('/cgi-bin/', 'the child goes on: what it leads to waits',
                         Active => 1, Queued => 1);
    $httpd->open_gate('next');
    is $next->answer->{status}, 200, 'the next one is served';
    is $first->answer->{status}, 200, '... then the one that led on';
    is $watch->most, 1, 'one at a time';
    $httpd->zone_becomes('/cgi-bin/', 'all permits are back', Active => 0, Queued => 0,
                         Admitted => 3);
    $httpd->stop;
}, 'prefork+cgi', 'event+cgid');

done_testing;

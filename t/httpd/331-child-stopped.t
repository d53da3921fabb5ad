# A child is stopped (SIGSTOP, a debugger) while it has a permit. It keeps the permit,
# also when its program has ended, until it goes on; its client gets the answer then.

use AdmissionTest;

for_each_combo(sub ($combo) {
    my $conf = location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 3 timeout=4s');
    my $httpd = $combo->{mpm} eq 'event'
        ? start_parking_httpd(children => 2, conf => $conf)
        : start_httpd(workers => 8, conf => $conf);
    $httpd->expect_rejections('test.example:/cgi-bin/', 'long');
    wait_for { $httpd->children > 1 } 'several children serve';
    my ($stays) = $httpd->children;
    my $watch = $httpd->watch;

    # It alone answers while the others are stopped.
    my @others = grep { $_ != $stays } $httpd->children;
    halt($httpd, $_) for @others;
    my $first = $httpd->ask('/cgi-bin/heavy?id=first&until=first');
    wait_for { grep { $_ eq 'start first' } $httpd->record } 'its program runs';
    halt($httpd, $stays);
    kill CONT => $_ for @others;

    # Its wait is longer than the agent's rounds need, one a second.
    my $late = $httpd->ask('/cgi-bin/heavy?id=late');
    $httpd->zone_becomes('/cgi-bin/', 'its child is stopped', Active => 1, Queued => 1);
    $httpd->open_gate('first');
    wait_for { !$httpd->live_programs_now } 'its program ends';
    is $late->answer->{status}, 503, 'no request takes the permit';
    $httpd->zone_becomes('/cgi-bin/', '... which is the child\'s', Active => 1, Queued => 0);

    kill CONT => $stays;
    is $first->answer->{status}, 200, 'the child goes on: its client has the answer';
    $httpd->zone_becomes('/cgi-bin/', '... and the permit is back', Active => 0);
    is $httpd->ask('/cgi-bin/heavy?id=next')->answer->{status}, 200, 'the next one runs';
    is $watch->most, 1, 'one at a time';
    $httpd->zone_becomes('/cgi-bin/', 'all permits are back', Active => 0, Queued => 0,
                         Admitted => 2, Reclaimed => 0);
}, 'prefork+cgi', 'event+cgid');

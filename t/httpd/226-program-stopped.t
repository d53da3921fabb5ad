# A program that somebody stops (SIGSTOP, a debugger) while httpd waits for its
# end: APR takes that for its end and forgets it. The permit does not. (mod_cgid
# does not take it for that, and ends it.)

use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'));
    my $watch = $httpd->watch;

    # It has answered, and ignores that httpd tells it to end.
    my $client = $httpd->ask('/cgi-bin/heavy?id=stopped&close=1&ignore=1&until=never');
    wait_for { $client->has_begun } 'a program works on behind its answer';
    my ($program) = $httpd->live_programs_now;
    wait_for { !-l "/proc/$program/fd/1" } '... that it has ended';
    my $next = $httpd->ask('/cgi-bin/heavy?id=next&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'another request waits', Active => 1, Queued => 1);

    kill STOP => $program;
    wait_for { $client->has_begun; $client->{ended} } 'it is stopped, its request ends';
    $httpd->zone_becomes('/cgi-bin/', 'while the program is there, it has the permit',
                         Active => 1, Queued => 1);
    kill KILL => $program;
    wait_for { grep { $_ eq 'start next' } $httpd->record } 'then the next one runs';
    $httpd->serves('go', 'and is answered', $next);
    is $watch->most, 1, 'one at a time';
    $httpd->zone_becomes('/cgi-bin/', 'all permits are back', Active => 0, Queued => 0);
    $httpd->allow_in_log(qr/\[cgid:error\]/)->stop;
}, 'prefork+cgi', 'event+cgi');

# A program that somebody stopped (SIGSTOP, a debugger) when its client left:
# APR takes it for one that has ended and forgets it. Its permit does not.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 10
</Location>
CONF
    my $watch = $httpd->watch;

    my $client = $httpd->ask('/cgi-bin/heavy?id=stopped&stream=1&until=never');
    wait_for { $client->has_begun } 'a program streams';
    my ($program) = $httpd->live_programs_now;
    my $next = $httpd->ask('/cgi-bin/heavy?id=next');
    $httpd->zone_becomes('/cgi-bin/', 'another request waits', Active => 1, Queued => 1);

    kill STOP => $program;
    $client->abort;
    wait_for { grep { /id=stopped/ } $httpd->access_log }
        'the program is stopped, its client leaves: the request ends';
    is_deeply [ $httpd->live_programs_now ], [$program], 'the program is still there';
    kill KILL => $program;
    is $next->answer->{status}, 200, 'the next runs when it is gone';
    is $watch->most, 1, 'and not before';
    $httpd->zone_becomes('/cgi-bin/', 'all permits are back', Active => 0, Queued => 0);
    $httpd->allow_in_log(qr/\[cgid:error\]/)->stop;
});

done_testing;

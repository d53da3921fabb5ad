# Who waits longer than the timeout of the line gets 503.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use Time::HiRes qw(time);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 5 timeout=300ms
</Location>
CONF
    $httpd->expect_rejections('test.example:/cgi-bin/', 'long');

    my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    my $start = time;
    my @answers = answers(map { $httpd->ask("/cgi-bin/heavy?id=late$_") }
                              1 .. 3);
    is_deeply statuses(@answers), { 503 => 3 }, 'three wait and give up: 503';
    cmp_ok $_->{at} - $start, '>=', 0.3, 'not before the timeout' for @answers;
    like $answers[0]{headers}{'retry-after'} // '(none)', qr/^\d+$/,
        'with a whole number in Retry-After';
    $httpd->zone_becomes('/cgi-bin/', 'they have left the line', Active => 1,
                         Queued => 0, RejectedTimeout => 3, RejectedFull => 0);

    my $last = $httpd->ask('/cgi-bin/heavy?id=last');
    $httpd->zone_becomes('/cgi-bin/', 'one more waits', Queued => 1);
    $httpd->open_gate('go');
    is_deeply statuses(answers($hold, $last)), { 200 => 2 },
        'who is in time, runs';
    is_deeply [ $httpd->record ],
        [ 'start hold', 'end hold', 'start last', 'end last' ],
        'no program ran for those who gave up';
    $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0,
                         Queued => 0);
    $httpd->stop;
});

done_testing;

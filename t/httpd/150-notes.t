# What the access log and an ErrorDocument are told about each request.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => <<'CONF');
ErrorDocument 503 /cgi-bin/free/error
<Location /cgi-bin/zone/>
    MaxConcurrent 1
    AdmissionQueue 2 timeout=300ms
</Location>
<Location /cgi-bin/zone/patient/>
    MaxConcurrent 1
    AdmissionQueue 2
</Location>
CONF
    my $zone = 'test.example:/cgi-bin/zone/';
    $httpd->expect_rejections($zone, 'long');
    $httpd->expect_rejections("${zone}patient/", 'full');

    my $hold = $httpd->ask('/cgi-bin/zone/x?id=first&until=go');
    $httpd->zone_becomes('/cgi-bin/zone/', 'one runs', Active => 1);
    my @waiting;
    for my $n (1, 2) {
        push @waiting, $httpd->ask("/cgi-bin/zone/x?id=late$n");
        wait_for { $httpd->zone('/cgi-bin/zone/')->{QueuedMax} >= $n }
            "$n waits";
    }
    is_deeply statuses(answers(@waiting)), { 503 => 2 }, 'both wait too long';
    $httpd->open_gate('go');
    is $hold->answer->{status}, 200, 'the first ends well';

    my @hold = $httpd->ask('/cgi-bin/zone/patient/x?id=hold&until=on');
    $httpd->zone_becomes('/cgi-bin/zone/patient/', 'one runs', Active => 1);
    for my $n (1, 2) {
        push @hold, $httpd->ask("/cgi-bin/zone/patient/x?id=waited$n");
        $httpd->zone_becomes('/cgi-bin/zone/patient/', "$n waits",
                             Queued => $n);
    }
    my $rejected = $httpd->get('/cgi-bin/zone/patient/x?id=full');
    is $rejected->{status}, 503, 'the line is full';
    like $rejected->{body}, qr/^(?:REDIRECT_)?ADMISSION_$_$/m,
        "the ErrorDocument is told ADMISSION_$_"
        for 'STATUS=full', "ZONE=${zone}patient/", 'QUEUED=2', 'WAIT_MS=0';
    $httpd->open_gate('on');
    is_deeply statuses(answers(@hold)), { 200 => 3 },
        'those in line are answered';

    is_deeply $httpd->logged('first'),
        { code => 200, zone => $zone, status => 'admitted', wait => 0, queued => 0 },
        'who finds room is admitted, without a wait';
    my ($late, $waited1, $waited2)
        = map { $httpd->logged($_) } qw(late1 waited1 waited2);
    is $late->{status}, 'timeout', 'who waits too long is logged so';
    cmp_ok $late->{wait}, '>=', 300, 'with the milliseconds it waited';
    is $waited1->{status}, 'queued', 'who waits and runs is logged so';
    cmp_ok $waited1->{wait}, '>=', 1, 'with its wait';
    is_deeply [ $waited1->{queued}, $waited2->{queued} ], [ 0, 1 ],
        'and how many it found waiting';
    is $httpd->logged('full')->{status}, 'full',
        'who finds the line full is logged so';

    $httpd->get('/cgi-bin/free/x?id=free');
    is_deeply $httpd->logged('free'),
        { code => 200, zone => '-', status => '-', wait => '-', queued => '-' },
        'a request outside of zones has no notes';
    $httpd->stop;
});

done_testing;

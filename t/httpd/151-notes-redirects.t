# One line in the access log for several requests: those that internal redirects
# and error pages add to what the client asked for. It tells of the one that was
# rejected; if none was, of the one that waited; else of the first that was asked
# for a permit.

use AdmissionTest;
use AdmissionTest::Zone;

for_each_combo(sub {
    my $httpd = start_httpd(workers => 40, conf => join '',
        "ErrorDocument 503 /cgi-bin/page/error\n",
        location('/cgi-bin/page/', 'MaxConcurrent 10', 'AdmissionQueue 0'),
        location('/cgi-bin/zone/', 'MaxConcurrent 1', 'AdmissionQueue 3',
            'AdmissionExempt "%{QUERY_STRING} =~ /exempt/"'),
        location('/cgi-bin/narrow/', 'MaxConcurrent 1', 'AdmissionQueue 0'),
        "RewriteEngine On\n",
        location('/short', 'RewriteEngine On', 'RewriteRule ^ /cgi-bin/zone/rewritten'));
    my ($page, $zone, $narrow) = map { "test.example:/cgi-bin/$_/" } qw(page zone narrow);
    $httpd->expect_rejections($narrow, 'full');

    # Admitted and led on to another zone: the first. Rewritten before a handler ran: the second.
    $httpd->get('/cgi-bin/zone/x?id=led-on&loc=/cgi-bin/page/x');
    $httpd->is_noted('led-on', code => 200, zone => $zone, status => 'admitted', wait => 0, queued => 0);
    $httpd->get('/short/x?id=rewritten');
    $httpd->is_noted('rewritten', zone => $zone, status => 'admitted');

    my @hold = map { $httpd->ask("/cgi-bin/$_/x?id=hold-$_&until=go") } qw(zone narrow);
    $httpd->zone_becomes("/cgi-bin/$_/", "one runs in $_", Active => 1) for qw(zone narrow);
    # Rejected, with an admitted error page; and admitted, led on and rejected there: the rejection.
    $httpd->get('/cgi-bin/narrow/x?id=with-page');
    $httpd->is_noted('with-page', code => 503, zone => $narrow, status => 'full', wait => 0, queued => 0);
    $httpd->get('/cgi-bin/page/x?id=rejected-there&loc=/cgi-bin/narrow/x');
    $httpd->is_noted('rejected-there', code => 503, zone => $narrow, status => 'full');

    my $waiting = sub {
        my ($url, $queued) = @_;
        push @hold, $httpd->ask($url);
        $httpd->zone_becomes('/cgi-bin/zone/', "$queued wait", Queued => $queued);
    };
    $waiting->('/cgi-bin/zone/x?id=patient&loc=/cgi-bin/page/x', 1);
    $waiting->('/short/x?id=detour', 2);
    # Exempt itself, but not what it leads to.
    $waiting->('/cgi-bin/zone/x?id=exempt&loc=/cgi-bin/zone/y', 3);
    $httpd->serves('go', 'waiting requests get their response', @hold);
    my $queued = 0;
    for my $id (qw(patient detour exempt)) {
        $httpd->is_noted($id, zone => $zone, status => 'queued', queued => $queued++);
        cmp_ok $httpd->logged($id)->{wait}, '>=', 1, '... with its wait';
    }
});

# The error page of conf/examples tells who is rejected which zone is full, how
# many wait there and when to come back.

use FindBin;
use AdmissionTest;
use Project;

my $examples = "$FindBin::Bin/../../conf/examples";
needs_modules('include');

# What the page says, in its order: [ text, value ].
sub items($page) {
    return [ map { [ /^(.*?): (.*)$/ ] } $page->{body} =~ m{<li>(.*?)</li>}gs ];
}

for_each_combo(sub {
    # The numbers below are those of the example.
    my $httpd = start_httpd(workers => 40, conf => qq(Include "$examples/error-page.conf"\n)
        . location('/cgi-bin/late/', 'AdmissionZone "late <&>"', 'MaxConcurrent 1', 'AdmissionQueue 2 timeout=100ms')
        . location('/cgi-bin/silent/', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionReject 503 retry-after=off'));
    $httpd->put('busy.shtml', slurp('conf/examples/busy.shtml'));
    my $zone = 'test.example:/cgi-bin/';
    $httpd->expect_rejections($zone, 'full')->expect_rejections("${zone}silent/", 'full')
          ->expect_rejections('late <&>', 'long');

    my @line = $httpd->fill('/cgi-bin/', 'go', 4, 20);
    my $page = $httpd->get('/cgi-bin/heavy');
    my $retry = $page->{headers}{'retry-after'};
    is $page->{status}, 503, 'the queue is full';
    like $page->{headers}{'content-type'}, qr{^text/html}, 'the answer is a page';
    like $retry, qr/^\d+$/, 'and tells when to retry';
    is_deeply items($page), [ [ 'Zone', $zone ], [ 'Waiting when your request arrived', 20 ],
                              [ 'Seconds until this page tries again', $retry ] ],
        'the page has the numbers';
    like $page->{body}, qr/Too many requests/, 'and the reason';
    like $page->{body}, qr{<meta http-equiv="refresh" content="$retry">}, 'it reloads itself then';
    is $page->{headers}{'cache-control'}, 'no-store', '... and no cache stores it';
    unlike $page->{body}, qr/\(none\)|\[an error occurred|<!--#/, 'every directive of it works';

    $httpd->serves('go', 'waiting requests get their response', @line);

    my $hold = $httpd->ask('/cgi-bin/late/heavy?until=end');
    $httpd->zone_becomes('late <&>', 'one runs', Active => 1);
    $page = $httpd->get('/cgi-bin/late/heavy');
    like $page->{body}, qr/waited in the queue/, 'a request that waits too long gets that reason';
    is items($page)->[0][1], 'late &lt;&amp;&gt;', 'names are escaped';
    is items($page)->[1][1], 0, 'no request waited when it arrived';
    my @silent = $httpd->fill('/cgi-bin/silent/', 'end', 1);
    is_deeply [ map { $_->[0] } @{ items($httpd->get('/cgi-bin/silent/heavy')) } ],
        [ 'Zone', 'Waiting when your request arrived' ],
        'without a Retry-After the page has none';
    $httpd->serves('end', 'the others end well', $hold, @silent);

    $page = $httpd->get('/busy.shtml');
    is_deeply items($page), [], 'for another reason it has no numbers';
    like $page->{body}, qr/cannot answer this request at the moment/, 'and says so';
});

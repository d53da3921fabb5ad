# What cannot wait without a worker waits with one, and stands in the same
# line: requests inside requests, HTTP/2 streams, everybody when parking is off.

use AdmissionTest;
use Admission::Config;
use AdmissionTest::Parking;

my $has_http2 = Admission::Config::is_installed('http2') && `curl -V` =~ /HTTP2/;

for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(threads => 40, tls => 1, http2 => $has_http2);
    my $docs = "$httpd->{dir}/docs";
    my $conf = parking_conf(threads => 40) . <<"CONF" . join '',
AddOutputFilter INCLUDES .shtml
AddHandler run-action .action
Action run-action /cgi-bin/action
ErrorDocument 404 /cgi-bin/error?id=error
RewriteEngine On
RewriteRule ^/passed\$ /cgi-bin/passed [PT]
CONF
        section("Directory $docs/pages", 'RewriteEngine On', 'RewriteRule ^rewritten$ /cgi-bin/rewritten'),
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50 timeout=300s'),
        location('/cgi-bin/free', 'MaxConcurrent off');
    $httpd->configure($conf);
    mkdir "$docs/pages";
    $httpd->put('pages/include.shtml', '<!--#include virtual="/cgi-bin/included" -->');
    $httpd->put('pages/x.action', '');
    $httpd->start;
    my $zone = '/cgi-bin/';

    my @blocks = qw(/pages/include.shtml /missing /cgi-bin/free?loc=/cgi-bin/inner);
    my @parks  = qw(/cgi-bin/plain /passed /pages/x.action /pages/rewritten);
    my ($hold) = ask_line($httpd, 'mixed', 0, $zone);
    my (@line, $blocked);
    for my $n (0 .. $#parks) {
        my $blocks = $blocks[ $n % @blocks ];
        push @line, $httpd->ask($blocks, keep => 1);
        server_becomes($httpd, "$blocks blocks", AdmissionBlocked => ++$blocked,
                       AdmissionParked => $n);
        # Between those that block one that parks.
        push @line, $httpd->ask($parks[$n], keep => 1);
        server_becomes($httpd, "$parks[$n] parks", AdmissionBlocked => $blocked,
                       AdmissionParked => $n + 1);
    }
    if ($has_http2) {
        my $url = $httpd->tls_url('/cgi-bin/stream');
        open my $curl, '-|', "exec curl -sk --http2 --max-time 30 -w '%{http_version}\\n' $url"
            or die "curl: $!\n";
        server_becomes($httpd, 'a stream of HTTP/2 blocks', AdmissionBlocked => ++$blocked,
                       AdmissionParked => scalar @parks);
        push @line, $curl;
    }
    $httpd->zone_becomes($zone, 'all requests wait in one queue', Active => 1, Queued => $blocked + @parks);
    $httpd->serves('mixed', 'the running request gets its response', $hold);
    if ($has_http2) {
        like join('', readline pop @line), qr/^heavy .*^2$/ms, 'the stream gets its response';
    }
    my @answers = answers(@line);
    is_deeply [ grep { $_->{body} !~ /^heavy / } @answers ], [], 'all requests get their response';
    is_deeply statuses(@answers), { 200 => @line - 1, 404 => 1 }, '... with the expected status';
    $_->leave for @line;
    $httpd->comes_to_rest;
    is $httpd->zone($zone)->{Gone}, 0, 'no client is counted as disconnected';

    $httpd->expect_in_log(qr/admission:warn.*AdmissionQueue 50 needs 51 workers/);
    $httpd->configure("AdmissionParking Off\n$conf");
    $httpd->graceful;
    @line = ask_line($httpd, 'off', 5, $zone);
    server_becomes($httpd, 'AdmissionParking Off: all block', AdmissionParked => 0,
                   AdmissionBlocked => 5);
    $httpd->configure("AdmissionParking On\n$conf");
    $httpd->graceful;
    push @line, map { $httpd->ask("/cgi-bin/heavy?id=on$_") } 1 .. 5;
    server_becomes($httpd, 'On again: new requests park in the queue in which old ones block',
                   AdmissionParked => 5, AdmissionBlocked => 5);
    $httpd->serves('off', 'all requests get their response', @line);
    is $httpd->zone($zone)->{Gone}, 0, 'no client is counted as disconnected';
    $_->leave for @line, $hold; # httpd 2.4.37 waits for it
    wait_for { $httpd->children == 1 } 'the old children end';
});

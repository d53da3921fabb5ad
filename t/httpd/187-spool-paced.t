# mod_ratelimit makes the thread of a request sleep while it sends: it paces the handler,
# too, and the response is the same as without AdmissionSpool.

use AdmissionTest;
use AdmissionTest::Backend;
use Admission::Slow;

my $zone = '/cgi-bin/';

# Reads the request, and sends a megabyte.
sub serve {
    my ($client) = @_;
    my $head = read_head($client) // return;
    print {$client} "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", 'x' x 1_000_000, 'end';
    return;
}

for_each_combo(sub {
    my ($combo) = @_;
    my @proxy = grep { Admission::Config::is_installed($_) } qw(proxy proxy_http);
    my (undef, $port) = start_backend(\&serve);
    needs_modules('ratelimit');
    my $has_streams = $combo->{mpm} ne 'prefork' && can_read_http2();
    my $httpd = start_httpd(workers => 20, tls => 1, http2 => $has_streams,
                            modules => ['ratelimit', @proxy], conf => join '',
        "SetEnvIf Request_URI . rate-limit=20\n",
        "SetEnvIf Request_URI /fast/ rate-limit=40000\n",
        section('IfModule mod_proxy_http.c', "ProxyPass /fast/back/ http://127.0.0.1:$port/",
            location('/fast/back/', 'MaxConcurrent 1', "AdmissionZone test.example:$zone",
                'SetOutputFilter RATE_LIMIT')),
        location($zone, 'MaxConcurrent 1', 'AdmissionQueue 5', 'SetOutputFilter RATE_LIMIT'));
    for (['plain', 'url', '--http1.1'], ['TLS', 'tls_url', '--http1.1'],
         $has_streams ? ['HTTP/2', 'tls_url', '--http2'] : ()) {
        my ($how, $url, @options) = @$_;
        # In two parts, with a pause between them.
        my $reader = slow_reader($httpd->$url("/cgi-bin/heavy?early=1&ms=200&bulk=1000000"), @options);
        $httpd->zone_becomes($zone, "$how: a response is paced", Active => 1);
        $reader->leave;
        $httpd->comes_to_rest;    # when its client leaves

        $reader = slow_reader($httpd->$url("/cgi-bin/fast/heavy?early=1&ms=200&bulk=400000"), @options);
        ok $reader->has_read_all(400_000), "$how: everything arrives";
    }
    if (@proxy == 2) {
        my $reader = slow_reader($httpd->url('/fast/back/'), '--http1.1');
        wait_for { $reader->read_so_far =~ /end\z/ } 'proxied: everything arrives';
        $reader->leave;
    }
});

# On the server that the distribution ships, with its sizes, its `Listen` for both families and
# LogLevel warn: limit, queue, rejection, reload, HTTP/2 over TLS and stop.

use AdmissionTest;
use AdmissionTest::Stock;

if (my $why = AdmissionTest::Stock::missing()) { plan skip_all => $why }
my $has_http2 = Admission::Config::is_installed('http2') && `curl -V` =~ /HTTP2/;

for_each_combo(sub {
    my ($combo) = @_;
    my $http2 = $has_http2 && $combo->{mpm} ne 'prefork';
    my $httpd = AdmissionTest::Stock->new(combo => $combo, tls => 1, http2 => $http2,
                                          modules => [qw(proxy proxy_http)], conf =>
        location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 2')
        . location('/cgi-bin/keyed/', 'MaxConcurrent 2', 'AdmissionFair client/24')
        . section('LocationMatch ^/(?:self|cgi-bin/self)/', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionZone self')
        . location('/self/', 'ProxyPass http://127.0.0.1:${PORT}/cgi-bin/self/')
        . location('/admission', 'SetHandler admission-status')
        . location('/control', 'SetHandler admission-control'));
    my $zone = '/cgi-bin/';
    $httpd->allow_in_log(qr/admission:warn.*mod_cgi\b/);
    $httpd->expect_rejections('/cgi-bin/', 'full');
    $httpd->start;
    like $httpd->slurp('httpd.conf'), qr/^LogLevel warn$/m, 'the configuration is the one that is shipped';
    is scalar(grep { /:@{[ sprintf '%04X', $httpd->{port} ]} 0+:0000 0A / } split /\n/, $httpd->slurp('/proc/net/tcp6')), 1,
        'one socket listens for IPv4 and IPv6' if -e '/proc/net/tcp6';

    my @clients = $httpd->fill($zone, 'go', 2, 2);
    my ($keyed) = $httpd->fill('/cgi-bin/keyed/', 'keyed', 1);
    is_deeply [ map { $_->{name} } map { @{ $_->{keys} // [] } } @{ $httpd->json('/admission?json')->{zones} } ],
        ['127.0.0.0/24'], 'a client of IPv4 has the key of its network';
    $httpd->serves('keyed', '... and is served', $keyed);
    my $rejected = $httpd->get('/cgi-bin/heavy?id=out');
    is $rejected->{status}, 503, 'the queue is full: 503';
    like $rejected->{headers}{'retry-after'} // '', qr/^\d+$/, '... with Retry-After';
    is $httpd->get('/static.txt')->{status}, 200, 'files are served';
    is $httpd->order('/control', 'zone=self&limit=1')->{status}, 200,
        'a client of IPv4 on this machine may set limits';
    is $httpd->get('/self/heavy')->{status}, 200, 'what the server asks itself runs with the permit of the first';
    $httpd->serves('go', 'all four requests get their response', @clients);

    my ($old) = $httpd->fill($zone, 'reloaded', 1);
    # mod_cgid loses a request whose program its daemon is about to start.
    wait_for { scalar(my @live = $httpd->live_programs_now) == 1 } '... and so does its program';
    $httpd->graceful($httpd->{conf} =~ s/MaxConcurrent 2/MaxConcurrent 1/r);
    my $new = $httpd->ask('/cgi-bin/heavy?id=new');
    $httpd->zone_becomes($zone, 'after a reload, the new limit counts the old request', Active => 1, Queued => 1);
    $httpd->serves('reloaded', '... and both are served', $old, $new);

    SKIP: {
        last SKIP if $combo->{mpm} eq 'prefork';    # mod_http2 advises against it
        skip 'mod_http2 is not installed, or curl has none', 2 if !$http2;
        my ($hold) = $httpd->fill($zone, 'h2', 1);
        open my $curl, '-|', 'curl', '-sk', '--http2', '-o', '/dev/null', '-w', '%{http_version} %{http_code}',
            "https://127.0.0.1:$httpd->{tls_port}/cgi-bin/heavy?id=h2" or die "curl: $!\n";
        $httpd->zone_becomes($zone, 'a stream of HTTP/2 over TLS waits', Active => 1, Queued => 1);
        $httpd->open_gate('h2');
        is readline $curl, '2 200', '... and is served';
        is_deeply statuses(answers($hold)), { 200 => 1 }, '... as the request before it';
    }
    $httpd->zone_becomes($zone, 'all permits are released', Active => 0, Queued => 0);
    $httpd->end;
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

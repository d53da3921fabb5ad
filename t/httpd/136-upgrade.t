# A WebSocket gives its permit back when the backend has switched protocols: what
# follows may last for hours. A tunnel by CONNECT holds its permit.

use AdmissionTest;

# A backend that switches to a protocol in which it repeats what it hears, and
# answers everything else.
sub serve($client) {
    my $head = read_head($client) // return;
    if ($head !~ /^Upgrade: *websocket/mi || $head =~ m{^GET /never}) {
        syswrite $client, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
        return;
    }
    syswrite $client, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                      . "Connection: Upgrade\r\n\r\n";
    while (sysread $client, my $heard, 4096) {
        syswrite $client, "heard $heard";
    }
    return;
}

my @upgrade = (keep => 1, headers => [ 'Connection: Upgrade', 'Upgrade: websocket' ]);

# Reads until the pattern comes; by default, until the protocol is switched.
sub hears {
    my ($client, $what, $pattern) = (@_, qr/^HTTP\/1\.1 101 /);
    my $until = time + 20;

    while (($client->{buffer} // '') !~ $pattern && time < $until && !$client->{ended}) {
        $client->has_begun or select undef, undef, undef, 0.02;
    }
    return like $client->{buffer}, $pattern, $what;
}

sub tunnel_is_free($httpd, $path) {
    my $tunnel = $httpd->ask($path, @upgrade);

    hears($tunnel, "$path: the protocol is switched");
    $httpd->zone_becomes('/', 'the permit is back', Active => 0);
    is $httpd->get('/ws/page')->{status}, 200, 'another request runs';
    $tunnel->send('hello');
    hears($tunnel, 'and the tunnel is alive', qr/heard hello/);
    hears(my $second = $httpd->ask($path, @upgrade), 'a second one at the same time');
    $_->leave for $tunnel, $second;
}

for_each_combo(sub {
    my @modules = qw(slotmem_shm proxy proxy_connect proxy_http proxy_wstunnel proxy_balancer lbmethod_byrequests);

    needs_modules(@modules);
    plan skip_all => 'mod_proxy_http tunnels since httpd 2.4.47'
        if Admission::Config::version() < 47;
    my (undef, $port) = start_backend(\&serve);
    my $httpd = new_httpd(modules => \@modules, conf => <<"CONF" . join '',
ProxyPass /ws/ http://127.0.0.1:$port/ upgrade=websocket
ProxyPass /all/ http://127.0.0.1:$port/all/ upgrade=websocket
ProxyPass /some/ balancer://some/
# Without mod_proxy_http.
ProxyWebsocketFallbackToProxyHttp Off
ProxyPass /old/ ws://127.0.0.1:$port/old/
CONF
        section('Proxy balancer://some', "BalancerMember http://127.0.0.1:$port/some upgrade=websocket"),
        virtual_host('test.example'),
        virtual_host('127.0.0.1', 'ProxyRequests On', "AllowCONNECT $port", 'MaxConcurrent 1', 'AdmissionQueue 0',
                     'AdmissionZone connect'),
        location('/', 'MaxConcurrent 1', 'AdmissionQueue 0'),
        location('/all/', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionHandlers all'));
    $httpd->put_script('cheat.cgi', "printf 'Status: 101 Switching Protocols\\nUpgrade: x\\n\\n'\n"
                                    . "until [ -e $httpd->{dir}/heavy/go ]; do sleep 0.05; done\n");
    # mod_proxy has one worker for /ws/ and /all/.
    $httpd->allow_in_log(qr/AH01146: /);
    $httpd->expect_rejections($_, 'full') for 'test.example:/all/', 'connect';
    $httpd->start;
    tunnel_is_free($httpd, $_) for qw(/ws/socket /old/socket /some/socket);

    my $both = $httpd->connect;
    is $both->ask('/ws/never', @upgrade)->answer->{status},
        200, 'an upgrade that the backend does not make is an ordinary request';
    $httpd->zone_becomes('/', 'it has no permit at its end', Active => 0);
    $both->ask('/ws/socket', @upgrade);
    hears($both, 'the next one of that connection is switched');
    $httpd->zone_becomes('/', '... and its permit is back', Active => 0);
    $both->leave;

    my $cheat = $httpd->ask('/cheat.cgi', @upgrade);
    $httpd->zone_becomes('/', 'a program that responds with 101 continues', Active => 1);
    hears($cheat, 'when that has been sent, too');
    is $httpd->zone('/')->{Active}, 1, 'and holds its permit';
    $httpd->open_gate('go');
    $cheat->leave;
    $httpd->zone_becomes('/', 'until it has ended', Active => 0);

    my $all = $httpd->ask('/all/socket', @upgrade);
    hears($all, 'AdmissionHandlers all: the protocol is switched');
    is $httpd->get('/all/page')->{status}, 503, 'and the request holds its permit';
    $all->leave;
    $httpd->zone_becomes('/all/', 'until the connection ends', Active => 0);

    my $connect = "CONNECT 127.0.0.1:$port HTTP/1.1\r\nHost: x\r\n\r\n";
    my $tunnel = $httpd->connect->send($connect);
    hears($tunnel, 'CONNECT', qr/^HTTP\/1\.\d 200 /);
    $tunnel->send("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n");
    hears($tunnel, '... is a tunnel', qr/^HTTP\/1\.1 101 /m);
    is $httpd->connect->send($connect)->answer->{status}, 503, '... and holds its permit';
    $tunnel->leave;
    $httpd->zone_becomes('connect', '... until it ends', Active => 0);
}, 'event+cgid', 'prefork+cgi');

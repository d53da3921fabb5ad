# A server that is its own backend: what mod_proxy sends to itself for a request
# that holds a permit runs with that permit. No client can claim that.

use AdmissionTest;
use AdmissionTest::Backend;
use Admission::Config;

my ($limit, $clients) = (2, 8);
my @modules = qw(proxy proxy_http proxy_balancer slotmem_shm lbmethod_byrequests);

# An address of this machine that is no loopback address, as the system chooses it for
# what it would send to another one. Nothing is sent.
sub address_outside {
    my $socket = IO::Socket::INET->new(PeerAddr => '192.0.2.1', PeerPort => 9, Proto => 'udp');
    return $socket ? $socket->sockhost : '';
}

# A server that is no httpd: it shows what it was sent.
sub show {
    my ($client) = @_;
    syswrite $client, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" . (read_head($client) // '');
}

for_each_combo(sub {
    my ($combo) = @_;
    needs_modules(@modules);
    # mod_proxy_http2 has a way of its own to send a header.
    my $has_http2 = $combo->{mpm} ne 'prefork' && Admission::Config::version() >= 58
        && !grep { !Admission::Config::is_installed($_) } qw(http2 proxy_http2);
    my $httpd = new_httpd(workers => 40, http2 => $has_http2,
                          modules => [ @modules, $has_http2 ? 'proxy_http2' : () ]);
    $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue
    my $outside = address_outside();
    my (undef, $foreign) = start_backend(\&show, $outside || '127.0.0.1');
    my $conf = <<"CONF" .
AdmissionReserve 1
MaxConcurrent $limit
AdmissionZone all
AdmissionQueue 50 timeout=10s
@{[ $outside && "ProxyPass /foreign/ http://$outside:$foreign/" ]}
CONF
        location('/shown.cgi', 'MaxConcurrent off');
    $httpd->put_script('shown.cgi', "echo Content-Type: text/plain\necho\nenv\n");
    $httpd->configure($conf);
    $httpd->start;
    my $self = "http://127.0.0.1:$httpd->{port}";
    $httpd->configure($conf . <<"CONF" . join '',
ProxyPass /a/ $self/cgi-bin/
ProxyPass /b/ $self/a/
ProxyPass /shown/ $self/
ProxyPass /c/ balancer://self/b/
ProxyPass /loop/ $self/loop/
<IfModule proxy_http2_module>
    ProxyPass /e/ h2c://127.0.0.1:$httpd->{port}/cgi-bin/
    ProxyPass /shown2/ h2c://127.0.0.1:$httpd->{port}/
    # What mod_proxy asks for is the path of the file then.
    <Location /f/>
        SetHandler proxy:h2c://127.0.0.1:$httpd->{port}
    </Location>
    ScriptAliasMatch ^/.+/f/x\$ $httpd->{dir}/cgi/heavy
</IfModule>
CONF
        section('Proxy balancer://self', "BalancerMember $self"),
        section('VirtualHost 127.0.0.9', 'ServerName other.test', 'ServerAlias 127.1'),
        location('/d/', "ProxyPass http://127.1:$httpd->{port}/cgi-bin/", 'ProxyPreserveHost On'));
    mkdir "$httpd->{dir}/docs/f", 0755;
    $httpd->put('f/x', '');
    $httpd->graceful;

    my $watch = $httpd->watch;
    my @ways = (qw(a b c d), $has_http2 ? qw(e f) : ());
    for my $by (@ways) {
        my @line = map { $httpd->ask("/$by/x?id=$by-$_&ms=10") } 1 .. $clients;
        is_deeply statuses(answers(@line)), { 200 => $clients },
            "/$by/: $clients clients are served";
    }
    cmp_ok $watch->most, '<=', $limit, 'no more programs ran than the limit';
    $httpd->zone_becomes('all', 'each was counted once', Active => 0, Queued => 0,
                         Admitted => @ways * $clients);

    is $httpd->get('/loop/')->{status}, 503, 'a request that is sent to itself in a loop is rejected before it takes all workers';
    $httpd->zone_becomes('all', '... and is counted', Active => 0, RejectedReserve => 1);
    $httpd->expect_in_log(qr/ADM0202: .* sent it to itself 10 times, .* loop/);

    for my $shown ('/shown', $has_http2 ? '/shown2' : ()) {
        my $body = $httpd->get("$shown/shown.cgi")->{body};
        like $body, qr/REQUEST_METHOD/, "$shown: a program prints its environment";
        unlike $body, qr/ADMISSION_TICKET=\S+\//, '... which does not have the ticket';
    }
    my $forged = 'Admission-Ticket: ';
    SKIP: {
        skip 'this machine has no other address', 3 if !$outside;
        my $shown = $httpd->get('/foreign/x')->{body};
        like $shown, qr/^Host: /m, 'a backend at another address than loopback gets the request';
        unlike $shown, qr/Admission-Ticket/i, '... without the ticket';
        unlike $httpd->get('/foreign/x', headers => ["${forged}claimed"])->{body},
            qr/Admission-Ticket/i, '... and without the ticket of a client';
    }

    my @hold = map { $httpd->ask("/cgi-bin/x?id=hold$_&until=go") } 1 .. $limit;
    $httpd->zone_becomes('all', 'the zone is full', Active => $limit);
    push @hold, $httpd->ask('/cgi-bin/x?id=forged',
                            headers => [ "${forged}0123456789abcdef.1.1/" . '0' x 16 ]);
    $httpd->zone_becomes('all', 'a request with a forged token waits like any other', Active => $limit, Queued => 1);
    $httpd->serves('go', 'all requests get their response', @hold);
});

# The permit moves to the request that mod_proxy sends to this server. If that request fails, the
# error page of the first one is a program of the same zone: it asks for its own permit, also
# if the record of the permit belongs to another request by then.
for_each_combo(sub {
    needs_modules(qw(proxy proxy_http));
    my $httpd = new_httpd(workers => 40, modules => [qw(proxy proxy_http)]);
    my $to = 'http://127.0.0.1:%{SERVER_PORT}';

    $httpd->configure(<<"CONF");
MaxConcurrent 1
AdmissionZone all
AdmissionQueue 20 timeout=30s
AdmissionReserve 1
UseCanonicalPhysicalPort On
RewriteEngine On
RewriteRule ^/a/(.*) $to/\$1 [P]
ProxyErrorOverride On
ErrorDocument 500 /cgi-bin/heavy?id=page&ms=30
CONF
    $httpd->put_script('fails.cgi', "echo Status: 500 No\necho Content-Type: text/plain\necho\n");
    $httpd->start;

    my $watch = $httpd->watch;
    my @line = map { ($httpd->ask("/a/fails.cgi?$_"), $httpd->ask("/cgi-bin/heavy?id=other$_&ms=30")) }
        1 .. 8;
    is_deeply statuses(answers(@line)), { 200 => 8, 500 => 8 }, 'all requests get their response';
    is $watch->most, 1, 'error pages and other programs run one at a time';
});

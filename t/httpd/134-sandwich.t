# A filter on this machine between two virtual hosts of one httpd, with one limit for
# both: the request that the filter brings back runs with the permit of the one that was
# sent to the filter. Where the filter drops the header, the log names the cause.

use AdmissionTest;
use Admission::Config;
use AdmissionTest::Backend;
use AdmissionTest::Relay;

needs_modules(qw(proxy proxy_http));

my ($limit, $clients) = (2, 8);

# Two virtual hosts by name, and what is said of the first one.
sub hosts {
    my ($outer) = @_;
    return join '',
        "AdmissionReserve 1\n",
        "MaxConcurrent $limit\n",
        "AdmissionZone all\n",
        virtual_host('test.example', $outer),
        virtual_host('inner.test');
}

sub has_http2 {
    my ($combo) = @_;
    return $combo->{mpm} ne 'prefork' && Admission::Config::is_installed('http2')
        && system('h2load --version >/dev/null 2>&1') == 0;
}

for_each_combo(sub {
    my ($combo) = @_;
    my $has_http2 = has_http2($combo);
    my $httpd = new_httpd(workers => 60, http2 => $has_http2,
                          modules => [qw(proxy proxy_http proxy_balancer slotmem_shm
                                         lbmethod_byrequests)]);
    my $relay = start_relay();
    my $socket = start_relay(path => "$httpd->{dir}/relay.sock");
    my $port = $relay->{port};
    $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue
    $httpd->configure(hosts(<<"CONF") . "AdmissionQueue 50 timeout=20s\n");
ProxyPass /address/ http://127.0.0.1:$port/cgi-bin/
    ProxyPass /other/ http://127.0.0.1:$port/cgi-bin/ disablereuse=on
    ProxyPass /name/ http://localhost:$port/cgi-bin/
    # A name that says nothing of loopback, and resolves so.
    ProxyPass /resolved/ http://2130706433:$port/cgi-bin/
    ProxyPass /socket/ unix:$httpd->{dir}/relay.sock|http://localhost/cgi-bin/
    RewriteEngine On
    RewriteRule ^/rule/(.*) http://127.0.0.1:$port/cgi-bin/\$1 [P]
    <Proxy balancer://filters>
        BalancerMember http://127.0.0.1:$port
    </Proxy>
    ProxyPass /balancer/ balancer://filters/cgi-bin/
CONF
    $httpd->start;
    $_->leads_to($httpd) for $relay, $socket;

    my $watch = $httpd->watch;
    my @ways = qw(address other name resolved socket rule balancer);
    for my $by (@ways) {
        my @line = map { $httpd->ask("/$by/x?id=$by-$_&ms=10") } 1 .. $clients;
        is_deeply statuses(answers(@line)), { 200 => $clients },
            "$clients clients are served by a filter that is reached by $by";
    }
    my $expected = @ways * $clients;
    if ($has_http2) {
        my $report = `h2load -n $clients -c 2 -m 4 '@{[ $httpd->url('/address/x?ms=10') ]}' 2>&1`;
        like $report, qr/status codes: $clients 2xx/, '... and streams of HTTP/2';
        $expected += $clients;
    }
    my @hold = map { $httpd->ask("/address/x?id=hold$_&until=go") } 1 .. $clients;
    $httpd->zone_becomes('all', 'each has one permit, and the others wait', Active => $limit,
                         Queued => $clients - $limit);
    wait_for {
        my $status = $httpd->status;
        $status->{ $combo->{mpm} eq 'event' ? 'AdmissionParked' : 'AdmissionBlocked' }
            == $clients - $limit;
    } '... before the filter, without a worker where they can be parked';
    $httpd->serves('go', '... until they are served', @hold);
    cmp_ok $watch->most, '<=', $limit, 'no more programs ran than the limit';
    $httpd->zone_becomes('all', 'each was counted once', Active => 0, Queued => 0,
                         Admitted => $expected + $clients);
    is $httpd->status->{AdmissionTicketsIgnored}, 0, '... and no ticket was ignored';
});

# The filter drops the header: they wait for each other, until a timeout. Where all
# permits are held by programs, or by a backend on this machine, nobody waits for himself.
for_each_combo(sub {
    my $httpd = new_httpd(workers => 60, modules => [qw(proxy proxy_http)]);
    my $relay = start_relay(drops => qr/^Admission-/i);
    my (undef, $port) = start_backend(answers_at_gate($httpd));
    $httpd->allow_in_log(qr/ADM0105: /);
    $httpd->configure(hosts("ProxyPass /pass/ http://127.0.0.1:$relay->{port}/cgi-bin/\n"
                          . "ProxyPass /app/ http://127.0.0.1:$port/\n")
                      . "AdmissionQueue 50 timeout=1s\n");
    $httpd->start;
    $relay->leads_to($httpd);
    my $told = sub { scalar grep { /ADM0215/ } $httpd->error_log };

    $httpd->expect_rejections('all', 'waited too long');
    for my $slow (qw(cgi-bin app)) {
        my @hold = map { $httpd->ask("/$slow/x?id=slow$_&until=$slow") } 1 .. $limit;
        $httpd->zone_becomes('all', "$slow is busy", Active => $limit);
        is_deeply statuses(answers(map { $httpd->ask("/$slow/x") } 1 .. 3)), { 503 => 3 }, '... others wait too long';
        $httpd->serves($slow, '... the first ones are served', @hold);
        is $told->(), 0, '... and the log has no message about a circle';
    }

    my @line = map { $httpd->ask("/pass/x?id=pass$_&ms=10") } 1 .. 6;
    my $seen = statuses(answers(@line));
    cmp_ok $seen->{503} // 0, '>', 0, 'some clients are rejected';
    $httpd->expect_in_log(qr/admission:warn.*ADM0215: zone all: .*wait for each other/);
    wait_for { $told->() } '... and the log has the cause';
    answers(map { $httpd->ask("/pass/x?id=again$_&ms=10") } 1 .. 6);
    is $told->(), 1, '... once a minute';
}, qw(prefork+cgi event+cgid));

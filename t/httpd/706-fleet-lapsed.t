# A server whose lease is over: Redis is stopped, so that it answers nobody. With
# fallback=reject nothing begins, with keep the share goes on, with open the own limit
# holds; an agent that is stopped keeps no lease alive. Nobody waits for the engine.

use AdmissionTest;

engine_or_skip('redis');

my $redis = Admission::Redis->start(conf => ['requirepass right']);

sub conf {
    my ($fallback) = @_;
    return fleet_zone("redis://127.0.0.1:$redis->{port}/1 password-file=password timeout=100ms",
                      "lease=3s hold=1s fallback=$fallback", 2, 'AdmissionQueue 10 timeout=60s')
        . location('/cgi-bin/local/', 'MaxConcurrent 2', 'AdmissionZone local');
}

sub write_password {
    my ($httpd, $password) = @_;
    $httpd->put('../password', $password);
    chmod 0600, "$httpd->{dir}/password";
}

for_each_combo(sub {
    my $httpd = new_httpd(workers => 40, conf => conf('reject'));

    $httpd->allow_in_log(qr/ADM0105/, qr/ADM0133/, qr/AH10246/, qr/ADM014[36]/,
                         qr/ADM0141: .* (?:in time|arrive any more);/, qr/ADM0142/);
    $httpd->expect_in_log(qr/ADM0141: no connection to the engine \S+: \S*WRONGPASS/,
                          qr/ADM0202: zone db: request rejected \(fleet\): the lease of this server/,
                          qr/ADM0142: zone db: .* lease expired: this server rejects requests \(fallback=reject\)/);
    write_password($httpd, "wrong\n");
    $httpd->start;
    # Once a minute something is told, and a busy machine may be late before.
    wait_for { $httpd->slurp('error.log') =~ /WRONGPASS/ } 'a wrong password is told', 70;
    write_password($httpd, "right\n");
    $httpd->graceful;
    $httpd->zone_becomes('db', 'with the right one it is leased', FleetState => 'leased');
    my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=hold');
    $httpd->zone_becomes('db', 'a request runs', Active => 1);

    kill STOP => $redis->{pid};
    $httpd->zone_becomes('db', 'Redis does not reply: the lease ends', FleetState => 'fallback');
    my $rejected = $httpd->get('/cgi-bin/heavy');
    is $rejected->{status}, 503, '... a new request is rejected';
    cmp_ok $httpd->zone('db')->{RejectedFleet}, '>', 0, '... with the reason fleet';
    is $httpd->get('/cgi-bin/local/heavy')->{status}, 200, '... other zones do not notice';
    is $httpd->status->{AdmissionAgent}, 1, '... nor the agent';

    $httpd->graceful(conf('open'));
    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'fallback=open: the own limit holds';

    kill CONT => $redis->{pid};
    $httpd->zone_becomes('db', 'Redis goes on: leased again', FleetState => 'leased');
    $httpd->graceful(conf('reject'));
    my @agents;
    wait_for { @agents = $httpd->agents; @agents == 1 } 'there is an agent';
    kill STOP => @agents;
    $httpd->zone_becomes('db', 'the agent is stopped: the lease ends as well', FleetState => 'fallback');
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, '... and nothing begins';
    kill CONT => @agents;
    $httpd->zone_becomes('db', 'it goes on: leased again', FleetState => 'leased');
    $httpd->serves('hold', 'the running request is served', $hold);
    is $httpd->get('/cgi-bin/heavy')->{status}, 200, '... and a new request';
}, 'event+cgid', 'prefork+cgi');

# A server that starts while the engine is away: requests that come during the first lease are
# rejected when it ends, not at the end of their own timeout.
for_each_combo(sub {
    my $httpd = new_httpd(workers => 40, conf =>
        fleet_zone('redis://127.0.0.1:1', 'lease=10s hold=1s fallback=reject', 2, 'AdmissionQueue 10 timeout=10min'));
    $httpd->allow_in_log(qr/ADM0105/, qr/ADM0142/);
    $httpd->expect_in_log(qr/ADM0141/, qr/ADM0202: zone db: .*lease/);
    $httpd->start;
    my @early = map { $httpd->ask('/cgi-bin/heavy') } 1 .. 8;
    # All that wait have the queue's timeout of ten minutes, so only the lease ends their wait.
    wait_for { $httpd->zone('db')->{RejectedFleet} == 8 } 'the first lease ends: all are rejected';
    is_deeply statuses(answers(@early)), { 503 => 8 }, '... and are told so';
    is $httpd->zone('db')->{RejectedTimeout}, 0, '... not for the time that they had';
    is $httpd->zone('db')->{Queued}, 0, 'the queue is empty';
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'a later one is rejected, too';
    is $httpd->zone('db')->{RejectedFleet}, 9, '... for the same reason';
}, 'event+cgid', 'prefork+cgi');

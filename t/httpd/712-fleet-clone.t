# Two servers that speak in one name, as a clone does: whoever hears of it takes another
# one, so that both do not use what one was granted, and the log says so once.

use AdmissionTest;
use Admission::Redis;

engine_or_skip('redis');

my $redis = Admission::Redis->start;

sub ids {
    my $all = $redis->command(EVAL => "return table.concat(redis.call('HKEYS', KEYS[1]), ' ')", 1, 'adm:{db}');
    my @ids = sort grep { /^[0-9a-f]{32}\z/ } split / /, $all;
    return @ids;
}

# Another one has spoken in this name.
sub speak_as {
    my ($id) = @_;
    return $redis->command(EVAL => "local x = cjson.decode(redis.call('HGET', KEYS[1], ARGV[1])) "
        . "x[3] = x[3] + 1e12 redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(x)) return 'ok'",
        1, 'adm:{db}', $id);
}

for_each_combo(sub {
    my ($combo) = @_;

    $redis->command('FLUSHALL');
    my $httpd = start_httpd(combo => $combo, workers => 40, conf =>
        fleet_zone("redis://127.0.0.1:$redis->{port}", 'lease=3s hold=1s fallback=reject', 4, 'AdmissionQueue 10 timeout=60s'));
    $httpd->expect_in_log(qr/ADM0144: zone db: .* this server takes another id/);
    wait_for { $httpd->zone('db')->{FleetServers} == 1 } 'there is one server';
    my ($id) = ids();
    my @held = map { $httpd->ask('/cgi-bin/heavy?until=go') } 1 .. 2;
    $httpd->zone_becomes('db', 'two run', Active => 2);

    is speak_as($id), 'ok', 'another one speaks in its name';
    wait_for { ids() == 2 } 'it takes another one';
    my ($other) = grep { $_ ne $id } ids();
    wait_for { my $zone = $httpd->zone('db'); $zone->{FleetServers} == 2 && $zone->{FleetReserved} >= 4 }
        '... and the engine counts what both have';
    push @held, $httpd->ask('/cgi-bin/heavy?until=go');
    $httpd->zone_becomes('db', '... so no other request starts', Active => 2, Queued => 1);
    is $httpd->status->{AdmissionEngineStale}, 1, '... heard once';

    my ($agent) = $httpd->agents;
    kill KILL => $agent;
    $httpd->allow_in_log(qr/ADM0133/, qr/ADM0148/);
    $httpd->next_agent($agent, 'the next agent');
    $httpd->zone_becomes('db', '... until the lease and the hold of the other one are over', Active => 3);
    is_deeply [ ids() ], [$other], '... has the new name, too';
    $httpd->serves('go', 'all are served', @held);
}, 'event+cgid', 'prefork+cgi');

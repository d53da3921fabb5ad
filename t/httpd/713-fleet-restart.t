# A server that is killed or stopped, and started again, has its share of a limit over
# servers back at once, long before its lease is over; not while programs of before live,
# and not for a copy of the file that says who it was. Of two servers that speak in one name, as
# a clone does, the one that hears of it takes another one, so that both do not use what one was
# granted, and the log says so once.

use AdmissionTest;
use AdmissionTest::Fleet;

use File::Copy ();

engine_or_skip('redis');

my $redis = Admission::Redis->start;

sub httpd {
    my ($terms, $limit) = @_;
    return new_httpd(workers => 40, conf =>
        fleet_zone("redis://127.0.0.1:$redis->{port}", "$terms fallback=reject", $limit, 'AdmissionQueue 10 timeout=60s'));
}

# One that goes, and its file of before.
sub mortal {
    return httpd('lease=1min hold=10s', 2)->allow_in_log(
        qr/ADM0105/, qr/ADM0133/, qr/ADM014[1236]/, qr/AH00098: pid file .* overwritten|End of script output/);
}

sub is_full {
    my ($httpd, $what) = @_;
    my @held = map { $httpd->ask("/cgi-bin/heavy?until=go$$") } 1, 2;
    $httpd->zone_becomes('db', $what, Active => 2);
    wait_for { 2 == grep { 1 } $httpd->live_programs_now } '... and programs run';
    return @held;
}

sub kill_all {
    my ($httpd, @others) = @_;

    $httpd->dies;
    kill KILL => @others;
    # Who is not gone yet has what was granted.
    wait_for { !grep { kill 0 => $_ } @others } '... and its programs';
    $httpd->finish;
}

for_each_combo(sub {
    $redis->command('FLUSHALL');
    my $httpd = mortal()->start;
    wait_for { $httpd->zone('db')->{FleetServers} == 1 } 'a server';
    AdmissionTest::Fleet::end_learning($redis);
    is_full($httpd, 'all permits are taken');
    kill_all($httpd, $httpd->live_programs_now);

    $httpd->start;
    my @held = is_full($httpd, 'killed and started: it has them back');
    is $httpd->zone('db')->{FleetServers}, 1, '... and the one before is forgotten';

    # Its programs live: theirs is not free.
    my @programs = $httpd->live_programs_now;
    $httpd->dies(@programs);
    $httpd->start;
    wait_for { $httpd->zone('db')->{FleetServers} == 2 } 'another server starts alongside';
    push @held, $httpd->ask('/cgi-bin/heavy');
    $httpd->zone_becomes('db', '... and has nothing', Active => 0, Queued => 1, FleetReserved => 2);
    like $httpd->slurp('error.log'), qr/ADM0150/, '... says the log';
    kill_all($httpd, @programs);

    # Somebody else's file, which came with an image of his disk.
    my $file = "$httpd->{dir}/run/admission.fleet";
    ok -s $file, 'there is a file';
    is +(stat $file)[2] & 07777, 0600, '... that is nobody else\'s';
    my $other = mortal();
    File::Copy::copy($file, "$other->{dir}/run/admission.fleet") or die "$file: $!\n";
    chmod 0600, "$other->{dir}/run/admission.fleet";
    my $before = $redis->command(HLEN => 'adm:{db}');
    $other->start;
    wait_for { $redis->command(HLEN => 'adm:{db}') == $before + 1 } 'a copy of it says nothing';
    $other->stop;
}, 'event+cgid', 'prefork+cgi', 'worker+cgid');

# ---- two with one name ------------------------------------------------------------

sub ids {
    my @ids = grep { /^[0-9a-f]{32}\z/ } @{ $redis->command(HKEYS => 'adm:{db}') };
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
    $redis->command('FLUSHALL');
    my $httpd = httpd('lease=3s hold=1s', 4)->start;
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

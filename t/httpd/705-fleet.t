# AdmissionZone name fleet: one limit over three servers by a private Redis, as one of
# them is idle, all are busy, Redis is killed, empty and stopped, and an agent is killed.

use AdmissionTest;
use Admission::Redis;

engine_or_skip('redis');

my $redis = Admission::Redis->start;
my @servers;

# All programs write into the record of the first server, and wait there.
sub programs { return @servers ? "SetEnv HEAVY_DIR $servers[0]{dir}/heavy" : () }

sub conf {
    my ($fallback) = @_;
    return fleet_zone("unix:$redis->{socket}", "lease=3s hold=1s fallback=$fallback", 4,
                      'AdmissionQueue 100 timeout=60s', programs());
}

sub server {
    my ($combo, $fallback) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, conf => conf($fallback));

    # What Redis going away says, a machine that is a second late, and what httpd says of a
    # reload's programs.
    $httpd->allow_in_log(qr/ADM0105/, qr/ADM014[1236]/, qr/ADM0133/, qr/AH10246/);
    return $httpd;
}

sub sum {
    my ($field) = @_;
    my $sum = 0;

    $sum += $_->zone('db')->{$field} for @servers;
    return $sum;
}

# The most programs that ran at once, by what they wrote themselves.
sub most_at_once {
    my ($now, $most) = (0, 0);

    for ($servers[0]->record) {
        $now += /^start / ? 1 : -1;
        $most = $now if $now > $most;
    }
    return $most;
}

for_each_combo(sub {
    my ($combo) = @_;

    $redis->command('FLUSHALL');
    @servers = ();
    push @servers, server($combo, 'keep') for 1 .. 3;
    wait_for { sum('FleetServers') == 9 } 'three servers find each other';
    wait_for { 3 == grep { $_->zone('db')->{FleetState} eq 'leased' } @servers }
        'the engine has learnt', 30;
    is $servers[0]->zone('db')->{FleetLimit}, 4, 'the limit of all is known';

    my @one = map { $servers[0]->ask("/cgi-bin/heavy?id=one$_&until=one$_") } 1 .. 4;
    $servers[0]->zone_becomes('db', 'one server may use all of it', Active => 4);
    my @others = map { $servers[$_]->ask('/cgi-bin/heavy?id=other&until=other') } 1, 2;
    $servers[$_]->zone_becomes('db', 'others wait', Active => 0, Queued => 1) for 1, 2;

    # kill -9 of the agent: the next one goes on, nobody gets more.
    my ($agent) = $servers[0]->agents;
    kill KILL => $agent;
    wait_for { my @agents = $servers[0]->agents; @agents == 1 && $agents[0] != $agent }
        'the agent was killed, another one is there';
    is sum('Active'), 4, '... and no more run';

    # Redis dies with all it knew while four run and two wait.
    $redis->stop;
    $redis->launch;
    wait_for { 3 == grep { $_->zone('db')->{FleetState} eq 'learning' } @servers }
        'Redis is killed and empty, and learns';
    is sum('Active'), 4, '... and no more run';
    $servers[0]->open_gate("one$_") for 1, 2;
    wait_for { $servers[1]->zone('db')->{Active} + $servers[2]->zone('db')->{Active} == 2 }
        'other servers get returned permits', 30;
    $servers[0]->open_gate($_) for qw(one3 one4 other);
    is_deeply statuses(answers(@one, @others)), { 200 => 6 }, 'all are served';
    is most_at_once(), 4, 'never more than four programs ran';
    $_->stop for @servers;
}, 'event+cgid', 'prefork+cgi');

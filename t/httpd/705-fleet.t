# AdmissionZone name fleet: one limit over three servers by a private Redis, as one of
# them is idle, all are busy, an agent is killed, and Redis is killed and empty.

use AdmissionTest;
use AdmissionTest::Fleet;

engine_or_skip('redis');

my $redis = Admission::Redis->start;

for_each_combo(sub {
    $redis->command('FLUSHALL');
    my $fleet = AdmissionTest::Fleet->start(engine => "unix:$redis->{socket}", fallback => 'keep');
    my ($one, @others) = @{ $fleet->{httpds} };

    is $one->zone('db')->{FleetLimit}, 4, 'the limit of all is known';

    my @asked = map { $one->ask("/cgi-bin/heavy?id=one$_&until=one$_") } 1 .. 4;
    $one->zone_becomes('db', 'one server may use all of it', Active => 4);
    push @asked, map { $_->ask('/cgi-bin/heavy?id=other&until=other') } @others;
    $_->zone_becomes('db', 'others wait', Active => 0, Queued => 1) for @others;

    # kill -9 of the agent: the next one goes on, and no server gets more.
    my ($agent) = $one->agents;
    kill KILL => $agent;
    $one->next_agent($agent, 'the agent was killed, another one is there');
    is $fleet->sum('Active'), 4, '... and no more run';

    # Redis dies with all it knew while four run and two wait.
    $redis->stop;
    $redis->launch;
    wait_for { 3 == grep { $_->{FleetState} eq 'learning' } $fleet->zones } 'Redis is killed and empty, and learns';
    is $fleet->sum('Active'), 4, '... and no more run';
    $one->open_gate("one$_") for 1, 2;
    wait_for { 2 == grep { $_->zone('db')->{Active} } @others } 'other servers get returned permits';
    $one->open_gate($_) for qw(one3 one4 other);
    is_deeply statuses(answers(@asked)), { 200 => 6 }, 'all are served';
    $fleet->stop;
}, 'event+cgid', 'prefork+cgi');

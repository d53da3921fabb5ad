# What becomes of the engine, under load: away for a while, stopped, killed with all it
# knew, back with older data, another one in its place. Never more than the limit; who is
# saturated goes on.

use AdmissionTest;
use AdmissionTest::Fleet;
use Admission::Redis;

use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my ($LEASE, $HOLD) = (5, 2);

# How much of the time of so many seconds the limit was used, by programs that ended.
sub used {
    my ($fleet, $ms, $seconds) = @_;
    my ($before, $from) = ($fleet->ended, time);
    sleep $seconds;
    return ($fleet->ended - $before) / (time - $from) / (1000 * $AdmissionTest::Fleet::LIMIT / $ms);
}

sub restart {
    my ($redis, $seconds) = @_;
    $redis->stop;
    sleep $seconds;
    $redis->launch;
}

for_each_combo(sub {
    my ($combo) = @_;
    my $fleet = AdmissionTest::Fleet->start($combo, lease => $LEASE, hold => $HOLD);
    my $redis = $fleet->{redis};

    $fleet->is_leased;
    for my $seconds (1, 3, 10) {
        $fleet->load(6, ms => 200);
        $fleet->goes_on("away for $seconds s, empty: there is a load");
        my $whole = used($fleet, 200, 3);
        restart($redis, $seconds);
        my $after = used($fleet, 200, 3);
        note sprintf 'used %.2f before, %.2f in the three seconds after', $whole, $after;
        $fleet->goes_on('... and goes on', 30);
        $fleet->rest;
    }

    $fleet->load(6);
    $fleet->goes_on('stopped for longer than the lease: there is a load');
    kill STOP => $redis->{pid};
    wait_for { 3 == grep { ($_->{FleetState} // '') eq 'fallback' } $fleet->zones } '... no server has a lease', 20;
    sleep 4;
    kill CONT => $redis->{pid};
    $fleet->goes_on('... and when it goes on so does the load', 30);
    $fleet->rest;

    # All that it knows goes while it runs, and its script.
    for my $command ([ 'FLUSHALL' ], [ qw(SCRIPT FLUSH) ], [ qw(CLIENT KILL TYPE normal) ],
                     [ qw(CLIENT KILL TYPE pubsub) ], [ qw(DEL adm:{db}) ]) {
        $fleet->load(6);
        $fleet->goes_on("@$command: there is a load");
        for (1 .. 5) {
            $redis->command(@$command);
            sleep 0.3;
        }
        $fleet->goes_on('... and it goes on', 30);
        $fleet->rest;
    }
    # Something else is in the zone's place.
    $fleet->load(6);
    $fleet->goes_on('a key of another type: there is a load');
    $redis->command('DEL', 'adm:{db}');
    $redis->command('SET', 'adm:{db}', 'something else');
    wait_for { 3 == grep { ($_->{FleetState} // '') eq 'fallback' } $fleet->zones } '... no server has a lease', 20;
    cmp_ok $fleet->lines(0, qr/ADM0152: .*WRONGTYPE/), '<=', 2, '... one line a minute';
    $redis->command('DEL', 'adm:{db}');
    $fleet->goes_on('... until it is gone', 30);
    $fleet->rest;
    for my $field ('#', 'x' x 32) {
        $fleet->load(6);
        $redis->command('HSET', 'adm:{db}', $field, $_), sleep 0.5 for 'garbage', '[]', '[1]', '{"a":1}';
        $redis->command('HDEL', 'adm:{db}', $field);
        $fleet->goes_on("garbage in the field '" . substr($field, 0, 2) . "': it goes on", 30);
        $fleet->rest;
    }
    $fleet->stop;
}, 'event+cgid');

# A replica takes the place of its master, and misses the last seconds.
for_each_combo(sub {
    my ($combo) = @_;
    my $first = Admission::Redis->start;
    my $fleet = AdmissionTest::Fleet->start($combo, lease => $LEASE, hold => $HOLD, redis => $first);

    $fleet->is_leased;
    for my $round (1 .. 4) {
        my $replica = Admission::Redis->start(conf => ["replicaof 127.0.0.1 $fleet->{engine_port}", 'repl-diskless-sync-delay 0']);
        wait_for { $replica->command('EXISTS', 'adm:{db}') eq ':1' } 'a replica has it all', 20;
        $fleet->load(5, only => [ $round % 3 ]);
        $fleet->goes_on('... one server has all');
        # From here on it hears nothing.
        kill STOP => $replica->{pid};
        $fleet->load(5);
        sleep(($round % 2) ? 1 : 3);
        $fleet->{redis}->stop;
        kill CONT => $replica->{pid};
        $replica->command(qw(REPLICAOF NO ONE));
        $_->becomes("engine $replica->{port}") for @{ $fleet->{wires} };
        $fleet->{redis} = $replica;
        $fleet->{engine_port} = $replica->{port};
        $fleet->goes_on('... the replica is the master: the load goes on', 30);
        $fleet->rest;
    }
    # To a replica that stays one.
    my $replica = Admission::Redis->start(conf => ["replicaof 127.0.0.1 $fleet->{engine_port}"]);
    $_->becomes("engine $replica->{port}") for @{ $fleet->{wires} };
    wait_for { 3 == grep { ($_->{FleetState} // '') eq 'fallback' } $fleet->zones } 'a replica is no engine', 20;
    $_->becomes("engine $fleet->{engine_port}") for @{ $fleet->{wires} };
    $fleet->rest;
    $fleet->stop;
}, 'event+cgid');

# Cut off with keep from an engine that is away for everybody: all go on, and no more run.
for_each_combo(sub {
    my ($combo) = @_;
    my $fleet = AdmissionTest::Fleet->start($combo, lease => 3, hold => $HOLD, fallback => 'keep');

    $fleet->is_leased;
    $fleet->load(6, ms => 100);
    $fleet->goes_on('fallback=keep: there is a load');
    $fleet->{redis}->stop;
    wait_for { 3 == grep { ($_->{FleetState} // '') eq 'fallback' } $fleet->zones } '... the engine is away for all', 20;
    my $used = used($fleet, 100, 5);
    note sprintf 'used %.2f without an engine', $used;
    $fleet->goes_on('... and the load goes on');
    $fleet->{redis}->launch;
    $fleet->is_leased('... until it is back', within => 30);
    $fleet->rest;
    $fleet->stop;
}, 'event+cgid');

# What becomes of the engine, under load: away for a while, stopped, killed with all it
# knew, back with older data, another one in its place. Never more than the limit; who is
# saturated goes on.

use AdmissionTest;
use AdmissionTest::Fleet;
use Admission::Redis;

use Time::HiRes qw(sleep);

engine_or_skip('redis');

my %TERMS = (lease => 5, hold => 2);

for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(%TERMS);
    my $redis = $fleet->{redis};

    for my $seconds (1, 3, 10) {
        $fleet->survives("the engine is away for $seconds s, and empty", sub {
            $redis->stop;
            sleep $seconds;
            $redis->launch;
        }, clients => 6);
    }
    $fleet->survives('the engine is stopped', sub {
        kill STOP => $redis->{pid};
        $fleet->is_lapsed('... for longer than the lease');
        sleep 4;
        kill CONT => $redis->{pid};
    });

    # The engine loses its script, connections, and the data of a zone. 90-chaos.t flushes all.
    for my $command ([ qw(SCRIPT FLUSH) ], [ qw(CLIENT KILL TYPE normal) ],
                     [ qw(CLIENT KILL TYPE pubsub) ], [ qw(DEL adm:{db}) ]) {
        $fleet->survives("@$command", sub {
            for (1 .. 5) {
                $redis->command(@$command);
                sleep 0.3;
            }
        });
    }
    $fleet->survives('a key of another type', sub {
        $redis->command('DEL', 'adm:{db}');
        $redis->command('SET', 'adm:{db}', 'something else');
        $fleet->is_lapsed('... is no zone');
        cmp_ok $fleet->lines(0, qr/ADM0152: .*WRONGTYPE/), '<=', 2, '... one line per minute';
        $redis->command('DEL', 'adm:{db}');
    });
    $fleet->stop;
}, 'event+cgid');

# A replica takes the place of its master, and misses the last seconds.
for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(%TERMS, redis => Admission::Redis->start);
    my $replicate = sub {
        return Admission::Redis->start(conf => [ "replicaof 127.0.0.1 $fleet->{engine_port}",
                                                 'repl-diskless-sync-delay 0' ]);
    };

    for my $round (1 .. 4) {
        my $replica = $replicate->();
        wait_for { $replica->command('EXISTS', 'adm:{db}') == 1 } 'a replica has the data', 20;
        $fleet->survives('one server has all permits', sub {
            # From here on the replica receives nothing.
            kill STOP => $replica->{pid};
            $fleet->load(5);
            sleep(($round % 2) ? 1 : 3);
            $fleet->{redis}->stop;
            kill CONT => $replica->{pid};
            $replica->command(qw(REPLICAOF NO ONE));
            $fleet->wires_become("engine $replica->{port}");
            @$fleet{qw(redis engine_port)} = ($replica, $replica->{port});
        }, only => [ $round % 3 ]);
    }
    # To a replica that stays one.
    my $replica = $replicate->();
    $fleet->wires_become("engine $replica->{port}");
    $fleet->is_lapsed('a replica is no engine');
    $fleet->wires_become("engine $fleet->{engine_port}");
    $fleet->rest;
    $fleet->stop;
}, 'event+cgid');

# With keep, servers without an engine run no more than the limit, and no less.
for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(lease => 3, hold => 2, fallback => 'keep');

    $fleet->survives('fallback=keep', sub {
        $fleet->{redis}->stop;
        $fleet->is_lapsed('... and the engine is away');
        $fleet->goes_on('... requests run meanwhile');
        $fleet->{redis}->launch;
        $fleet->is_leased('... until it is back');
    }, clients => 6, ms => 100);
    $fleet->stop;
}, 'event+cgid');

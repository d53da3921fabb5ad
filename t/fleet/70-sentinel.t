# Sentinels say where the engine is: three of them, a master and a replica. The master
# changes by order and by death, Sentinels go silent, some lie. Never more than the
# limit; what is wrong is told in a line a minute.

use AdmissionTest;
use AdmissionTest::FakeRedis;
use AdmissionTest::Fleet;
use Admission::Redis;

use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my ($LEASE, $HOLD) = (10, 2);
my @redis = Admission::Redis->start;
push @redis, Admission::Redis->start(conf => ["replicaof 127.0.0.1 $redis[0]{port}", 'repl-diskless-sync-delay 0']);
my @sentinels = map {
    Admission::Redis->start(options => ['--sentinel'],
                                conf => ["sentinel monitor db 127.0.0.1 $redis[0]{port} 2",
                                         'sentinel down-after-milliseconds db 1000',
                                         'sentinel failover-timeout db 6000'])
} 1 .. 3;

# Before the fleet: a process that it begins holds the observer's pipe.
my $fake = AdmissionTest::FakeRedis->start;

sub of { return 'redis://' . join ' ', map { ref ? "127.0.0.1:$_->{port}" : "127.0.0.1:$_" } @_ }

# Which of the two is the master, as a Sentinel says.
sub master {
    my ($sentinel) = @_;
    my $place = $sentinel->command(qw(SENTINEL get-master-addr-by-name db)) or return -1;
    return $place->[1] == $redis[0]{port} ? 0 : 1;
}

# All servers are with this one.
sub is_with {
    my ($number, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return wait_for { @{ $redis[$number]->command(qw(PUBSUB CHANNELS adm:*)) // [] } == 3 } $what, 40;
}

sub is_replicated {
    my ($number) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    wait_for { my $role = $redis[$number]->command('ROLE') // [];
               ($role->[0] // '') eq 'slave' && $role->[3] eq 'connected' } 'there is a replica', 40;
    wait_for { 3 == grep { my $known = $_->command(qw(SENTINEL REPLICAS db)) // [];
                           grep { my %is = @$_; $is{flags} eq 'slave' } @$known } @sentinels }
        '... which all Sentinels know', 40;
    wait_for { 3 == grep { my %is = @{ $_->command(qw(SENTINEL MASTER db)) // [] }; ($is{'num-other-sentinels'} // 0) == 2 }
               @sentinels } '... as they know each other', 40;
}

for_each_combo(sub {
    my $good = of(@sentinels) . ' sentinel=db';
    is_replicated(1);
    my $fleet = AdmissionTest::Fleet->start(lease => $LEASE, hold => $HOLD, engine => $good);

    is_with(0, 'all servers are with the master');

    for my $to (1, 0) {
        $fleet->survives('a Sentinel moves the master', sub {
            wait_for { $sentinels[0]->command(qw(SENTINEL FAILOVER db)) eq 'OK' } '... it begins', 40;
            wait_for { 3 == grep { master($_) == $to } @sentinels } '... and is over', 40;
            # What was the master goes on for some seconds; one server leaves it.
            my ($client) = $redis[1 - $to]->command(qw(CLIENT LIST TYPE normal)) =~ /^id=(\d+) .* cmd=evalsha/m;
            is $redis[1 - $to]->command(qw(CLIENT KILL ID), $client), 1, '... one server loses the old one';
            is_with($to, '... all servers follow');
        }, within => 60);
        is_replicated(1 - $to);
    }
    $fleet->survives('the master is killed', sub {
        $redis[0]->stop;
        wait_for { 3 == grep { master($_) == 1 } @sentinels } '... the replica takes its place', 40;
        is_with(1, '... all servers follow');
    }, within => 60);
    $redis[0]->launch;
    is_replicated(0);
    is_with(1, '... and stay when it comes back');

    # Two Sentinels say nothing.
    kill STOP => $_->{pid} for @sentinels[0, 1];
    $redis[1]->command(qw(CLIENT KILL TYPE normal));
    $redis[1]->command(qw(CLIENT KILL TYPE pubsub));
    is_with(1, 'one Sentinel of three is enough');
    $fleet->is_told(1, 'no Sentinel answers', of(@sentinels[0, 1]) . ' sentinel=db',
                    qr/no Sentinel reports the master 'db'; 127\S+: it does not answer in time/);
    kill CONT => $_->{pid} for @sentinels[0, 1];

    my ($array, $bulk) = map { AdmissionTest::FakeRedis->can($_) } qw(array bulk);
    my $nobody = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)->sockport;
    for ([ 'an unknown master', "$good-of-others", qr/no Sentinel reports the master 'db-of-others'; 127\S+: it has no master/ ],
         [ 'no listener', of($nobody, $nobody) . ' sentinel=db', qr/; 127.0.0.1:$nobody: Connection refused/ ],
         [ 'a master as a Sentinel', of($redis[1]) . ' sentinel=db', qr/127\S+: ERR unknown command/ ],
         [ 'a Sentinel as an engine', of($sentinels[0]), qr/it is a Sentinel, and sentinel=name is not set/ ]) {
        $fleet->is_told(1, @$_);
    }
    for ([ 'which names a replica', qr/127.0.0.1:$redis[0]{port}: it is a replica/, $array->('127.0.0.1', '') =~ s/\$0\r\n\r\n/$bulk->($redis[0]{port})/er ],
         [ 'which names nobody', qr/127.0.0.1:$nobody: Connection refused/, "*2\r\n" . $bulk->('127.0.0.1') . $bulk->($nobody) ],
         [ 'with silence', qr/does not answer in time/, 'nothing' ]) {
        my ($what, $pattern, $answer) = @$_;
        $fake->says(SENTINEL => $answer);
        $fleet->is_told(1, "a Sentinel $what", of($fake) . ' sentinel=db', $pattern);
    }
    # One that lies is passed by.
    $fake->says(SENTINEL => "*2\r\n" . $bulk->('127.0.0.1') . $bulk->($redis[0]{port}));
    $fleet->change_engine(1, of($fake, @sentinels) . ' sentinel=db');
    $fleet->is_leased('the next Sentinel is asked');

    # Sentinels that want a login.
    my $guarded = "$good sentinel-password-file=docs/sentinel";
    $fleet->{httpds}[1]->put($_->[0], "$_->[1]\n"), chmod 0600, "$fleet->{httpds}[1]{dir}/docs/$_->[0]"
        for [ sentinel => 'guarded' ], [ other => 'other' ];
    $_->command(qw(ACL SETUSER default resetpass >guarded)) for @sentinels;
    $fleet->is_told(1, 'Sentinels with a password, and none is said', $good, qr/no Sentinel reports the master 'db'; 127\S+: NOAUTH/);
    $fleet->is_told(1, '... and another one is said', $guarded =~ s/sentinel\z/other/r, qr/127\S+: WRONGPASS/);
    $fleet->change_engine(1, $guarded);
    $fleet->is_leased('... and it is said');
    $fleet->change_engine(1, "$guarded sentinel-user=default");
    $fleet->is_leased('... with a user');
    $fleet->rest(within => 60);
    $fleet->stop;
}, 'event+cgid');

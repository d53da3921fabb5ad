# A Cluster is the engine: zones are on three nodes, and follow when a replica takes over,
# a node dies, or a slot moves. Never more than the limit; nodes that lie are told of.

use FindBin;
use lib "$FindBin::Bin/../lib";
use AdmissionTest;
use AdmissionTest::FakeRedis;
use AdmissionTest::Fleet;
use Admission::Redis;

use Time::HiRes qw(sleep time);

if (my $why = AdmissionTest::Fleet::missing()) { plan skip_all => $why }

my ($LEASE, $HOLD) = (10, 2);
my $SLOTS = 16384;
my @conf = ('cluster-enabled yes', 'cluster-node-timeout 1000', 'repl-diskless-sync-delay 0',
            'cluster-replica-validity-factor 0');
my @nodes = map { Admission::Redis->start(conf => \@conf) } 0 .. 3;
# Before the fleet: a process that it begins holds the observer's pipe.
my ($fake, $second) = map { AdmissionTest::FakeRedis->start } 1, 2;
my %others;    # zones beside "db", by their node

sub id { return $_[0]->asked(qw(CLUSTER MYID)) }

sub role { return ($_[0]->asked('ROLE') // [''])->[0] }

sub is_whole {
    my ($what, @asked) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return wait_for { @asked == grep { ($_->asked(qw(CLUSTER INFO)) // '') =~ /cluster_state:ok.*cluster_known_nodes:4/s } @asked }
        $what, 40;
}

# Three masters, and a replica of the first, which has the zone "db".
sub build {
    my $slot = $nodes[0]->asked(qw(CLUSTER KEYSLOT adm:{db}));
    my $first = int($slot * 3 / $SLOTS);

    $nodes[0]->command(qw(CLUSTER MEET 127.0.0.1), $_->{port}) for @nodes[1 .. 3];
    for my $part (0 .. 2) {
        my $number = ($part - $first) % 3;
        my ($from, $to) = map { int($_ * $SLOTS / 3) } $part, $part + 1;
        $nodes[$number]->command(qw(CLUSTER ADDSLOTS), $from .. $to - 1);
        for my $name ('a' .. 'z') {
            my $its = $nodes[0]->asked(qw(CLUSTER KEYSLOT), "adm:{$name}");
            $others{$number} //= $name if $its >= $from && $its < $to;
        }
    }
    is_whole('a Cluster of three', @nodes);
    wait_for { $nodes[3]->command(qw(CLUSTER REPLICATE), id($nodes[0])) eq '+OK' } '... and a replica', 20;
    wait_for { my $role = $nodes[3]->asked('ROLE'); $role->[0] eq 'slave' && $role->[3] eq 'connected' } '... that is there', 20;
}

sub of { return 'redis://' . join ' ', map { "127.0.0.1:$_->{port}" } @_ }

# All servers are with these nodes, and no others.
sub is_with {
    my ($what, @numbers) = @_;
    my %expected = map { $_ => 3 } @numbers;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $is_so = wait_for {
        4 == grep { @{ $nodes[$_]->{pid} ? $nodes[$_]->asked(qw(PUBSUB CHANNELS adm:*)) // [] : [] } == ($expected{$_} // 0) } 0 .. 3
    } $what, 40;
    diag join ' ', map { scalar @{ $_->asked(qw(PUBSUB CHANNELS adm:*)) // [] } } grep { $_->{pid} } @nodes
        if !$is_so;
    return $is_so;
}

# Every zone has a lease on every server, and serves.
sub all_serve {
    my ($fleet, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    for my $name (sort values %others) {
        wait_for { 3 == grep { ($_->zone($name)->{FleetState} // '') eq 'leased' } @{ $fleet->{httpds} } } "$what: zone $name", 60;
        is $fleet->{httpds}[$_]->get("/$name/")->{status}, 200, '... is served' for 0 .. 2;
    }
}

build();
for_each_combo(sub {
    my ($combo) = @_;
    my $more = sub {
        my ($dir) = @_;
        return join '', map { <<"CONF" } sort values %others;
<Location /$_/>
    ScriptAlias $dir/cgi/heavy
    SetEnv HEAVY_DIR $dir/heavy
    MaxConcurrent 2
    AdmissionZone $_ fleet
</Location>
CONF
    };
    # None of these has the zone "db".
    my $fleet = AdmissionTest::Fleet->start($combo, lease => $LEASE, hold => $HOLD, engine => of(@nodes[1, 2, 3]),
                                            more => $more);
    $fleet->is_leased;
    is_with('a node that has a zone is connected', 0, 1, 2);
    all_serve($fleet, 'zones on three nodes');
    $fleet->rest;

    my ($master, $replica) = (0, 3);
    for (1, 2) {
        $fleet->load(5);
        $fleet->goes_on('a replica takes over by order: there is a load');
        is $nodes[$replica]->command(qw(CLUSTER FAILOVER)), '+OK', '... it begins';
        wait_for { role($nodes[$replica]) eq 'master' && role($nodes[$master]) eq 'slave' } '... and is over', 40;
        is_with('... all servers follow', $replica, 1, 2);
        $fleet->goes_on('... the load goes on', 30);
        $fleet->rest(within => 60);
        wait_for { my $role = $nodes[$master]->asked('ROLE'); ($role->[3] // '') eq 'connected' } '... the other way round', 20;
        ($master, $replica) = ($replica, $master);
    }

    $fleet->load(5);
    $fleet->goes_on('a node is killed: there is a load');
    $nodes[$master]->stop;
    wait_for { role($nodes[$replica]) eq 'master' } '... its replica takes over', 40;
    is_with('... all servers follow', $replica, 1, 2);
    $fleet->goes_on('... the load goes on', 30);
    $fleet->rest(within => 60);
    all_serve($fleet, '... the others as well');
    $nodes[$master]->launch;
    is_whole('... it comes back', @nodes);
    ($master, $replica) = ($replica, $master);

    # The zone's slot moves.
    my $slot = $nodes[1]->asked(qw(CLUSTER KEYSLOT adm:{db}));
    my $from = $master;
    for my $to (1, $master) {
        my ($old, $new) = @nodes[$from, $to];
        $fleet->load(5);
        $fleet->goes_on('the slot moves: there is a load');
        is $new->command(qw(CLUSTER SETSLOT), $slot, 'IMPORTING', id($old)), '+OK', '... one takes it';
        is $old->command(qw(CLUSTER SETSLOT), $slot, 'MIGRATING', id($new)), '+OK', '... one gives it';
        $old->command(qw(MIGRATE 127.0.0.1), $new->{port}, 'adm:{db}', 0, 5000, 'REPLACE');
        sleep 1;
        $_->command(qw(CLUSTER SETSLOT), $slot, 'NODE', id($new)) for $new, $old, grep { role($_) eq 'master' } @nodes;
        # Else who has not heard of it yet has the lease of before.
        wait_for { 3 == grep { ($_->{FleetState} // '') eq 'learning' } $fleet->zones } '... which learns', 20;
        $fleet->goes_on('... the load goes on', 30);
        wait_for { ($new->asked(qw(EXISTS adm:{db})) // 0) == 1 } '... with the other node', 20;
        $fleet->rest(within => 60);
        $from = $to;
    }

    # A slot that stays on its way, and a key that somebody spoilt: the others of that node
    # have their leases on.
    my $beside = $others{0};
    my $has_lease = sub {
        my ($name, $state) = @_;
        return 3 == grep { ($_->zone($name)->{FleetState} // '') eq $state } @{ $fleet->{httpds} };
    };
    my %ends = (
        'a slot that stays on its way' => sub {
            my ($old, $new) = @nodes[$master, 1];
            $new->command(qw(CLUSTER SETSLOT), $slot, 'IMPORTING', id($old));
            $old->command(qw(CLUSTER SETSLOT), $slot, 'MIGRATING', id($new));
            is $old->command(qw(MIGRATE 127.0.0.1), $new->{port}, 'adm:{db}', 0, 5000), '+OK', '... its key has gone';
            return sub {
                $_->command(qw(CLUSTER SETSLOT), $slot, 'NODE', id($new)) for $new, $old, grep { role($_) eq 'master' } @nodes;
            };
        },
        'a key that is spoilt' => sub {
            $nodes[$_]->command(qw(DEL adm:{db})), $nodes[$_]->command(qw(SET adm:{db} x)) for 1, $master;
            return sub { $nodes[$_]->command(qw(DEL adm:{db})) for 1, $master };
        },
    );
    for my $what (sort keys %ends) {
        my $end = $ends{$what}->();
        my $lost = 0;
        wait_for { $has_lease->('db', 'fallback') } "$what: the lease of its zone ends", $LEASE + 10;
        for (1 .. 10 * ($LEASE / 2)) {
            $lost++ if !$has_lease->($beside, 'leased');
            sleep 0.1;
        }
        is $lost, 0, '... no other one';
        is $fleet->{httpds}[$_]->get("/$beside/")->{status}, 200, '... which is served' for 0 .. 2;
        $end->();
        wait_for { $has_lease->('db', 'leased') } '... it is mended', 40;
    }

    # Who lies.
    my %cluster = (INFO => AdmissionTest::FakeRedis::bulk("redis_mode:cluster\r\nrun_id:" . 'a' x 40 . "\r\n"));
    my $nobody = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)->sockport;
    $second->says(%cluster, EVALSHA => "-MOVED 5 127.0.0.1:$fake->{port}\r\n");
    for ([ 'two nodes that send a zone to one another', qr/send a zone to one another/, "MOVED 5 127.0.0.1:$second->{port}" ],
         [ 'a node that sends it to itself', qr/send a zone to one another/, "MOVED 5 127.0.0.1:$fake->{port}" ],
         [ 'a place where nobody is', qr/127.0.0.1:$nobody: Connection refused/, "MOVED 5 127.0.0.1:$nobody" ],
         [ 'a place without a port', qr/where a zone is, it does not say/, 'MOVED 5 127.0.0.1' ],
         [ 'port 0', qr/where a zone is, it does not say/, 'MOVED 5 127.0.0.1:0' ],
         [ 'port 65536', qr/where a zone is, it does not say/, 'MOVED 5 127.0.0.1:65536' ],
         [ 'a name', qr/where a zone is, it does not say/, 'MOVED 5 example.org:6379' ],
         [ 'ASK', qr/127\S+: ASK 5 127.0.0.1:1\b/, 'ASK 5 127.0.0.1:1' ],
         [ 'a Cluster that is down', qr/CLUSTERDOWN/, 'CLUSTERDOWN The cluster is down' ]) {
        my ($what, $pattern, $error) = @$_;
        $fake->says(%cluster, EVALSHA => "-$error\r\n");
        $fleet->is_told(1, $what, of($fake, $fake), $pattern);
    }
    # It asks again, but not all the time: the pause grows to a second.
    $fake->says(%cluster, EVALSHA => "-MOVED 5 127.0.0.1:$second->{port}\r\n");
    $fleet->change_engine(1, of($fake));
    sleep 3;
    my $errors = $fleet->{httpds}[1]->status->{AdmissionEngineErrors};
    sleep 3;
    cmp_ok $fleet->{httpds}[1]->status->{AdmissionEngineErrors} - $errors, '<=', 30, 'no endless redirection';
    $fleet->change_engine(1, $fleet->{engine});
    $fleet->rest(within => 60);
    $fleet->stop;
}, 'event+cgid');

done_testing;

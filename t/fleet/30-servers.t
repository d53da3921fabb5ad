# What becomes of servers: one is killed for good, stops in order, is stopped for a while;
# its agent is killed at each point of a sync. Never more than the limit; what a server
# had is the others' as soon as it may be.

use AdmissionTest;
use AdmissionTest::Fleet;

use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my ($LEASE, $HOLD) = (4, 2);
my $LIMIT = $AdmissionTest::Fleet::LIMIT;

# Requests that run until the gate is opened, for all permits: ($gate, clients).
sub ask_for_all {
    my ($fleet, $n) = @_;
    my $gate = 'all' . ++$fleet->{gates};

    return ($gate, map { $fleet->{httpds}[$n]->ask("/cgi-bin/heavy?until=$gate") } 1 .. $LIMIT);
}

sub take_all {
    my ($fleet, $n) = @_;
    my @asked = ask_for_all($fleet, $n);

    $fleet->{httpds}[$n]->zone_becomes('db', "server $n has all permits", Active => $LIMIT);
    return @asked;
}

# Seconds until this server has all permits.
sub until_it_has {
    my ($fleet, $n, $since, $what) = @_;
    my ($gate, @asked) = ask_for_all($fleet, $n);

    wait_for { $fleet->{httpds}[$n]->zone('db')->{Active} == $LIMIT } $what, 60;
    my $took = time - $since;
    $fleet->{httpds}[0]->serves($gate, '... and serves requests with them', @asked);
    note sprintf '... after %.1f s', $took;
    return $took;
}

for_each_combo(sub {
    my $began = time;
    my $fleet = AdmissionTest::Fleet->start(lease => $LEASE, hold => $HOLD, waits => 0);

    $fleet->{kills_programs} = 1;
    my $first = until_it_has($fleet, 0, $began, 'the very first permits');
    cmp_ok $first, '>=', $LEASE + $HOLD, '... come after lease and hold';
    $fleet->is_leased;

    # Dead for good.
    take_all($fleet, 2);
    $fleet->{httpds}[2]->dies;
    my $took = until_it_has($fleet, 0, time, '... another one has what it had');
    cmp_ok $took, '>', $HOLD, '... not before the hold is over';
    $fleet->{httpds}[2]->start;
    $fleet->is_leased('it is started again');
    $fleet->rest;

    # Stopped in order, idle and busy.
    my ($gate, @asked) = take_all($fleet, 2);
    $fleet->{httpds}[0]->open_gate($gate);
    answers(@asked);
    $fleet->{httpds}[2]->stop;
    $took = until_it_has($fleet, 0, time, 'a server stops: another one has what it had');
    cmp_ok $took, '<', $LEASE, '... long before its lease is over' if $ENV{ADMISSION_TIMED};
    $fleet->{httpds}[2]->start;
    $fleet->is_leased('it is started again');

    # All its processes are stopped, programs as well, for longer than lease and hold.
    take_all($fleet, 2);
    my @stopped = ($fleet->{httpds}[2]->processes);
    # Its programs live on beyond the hold, though they do not run meanwhile.
    $fleet->{observer}->allow(2 * $LIMIT);
    kill STOP => @stopped;
    my @waits = map { $fleet->{httpds}[0]->ask('/cgi-bin/heavy?until=later') } 1, 2;
    sleep $LEASE + $HOLD + 2;
    is $fleet->{httpds}[0]->zone('db')->{Active}, 2, 'a server is stopped: others have what it had';
    kill CONT => @stopped;
    wait_for { $fleet->{httpds}[2]->zone('db')->{FleetState} eq 'leased' } '... it goes on, and has a lease', 30;
    my $more = $fleet->{httpds}[2]->ask('/cgi-bin/heavy');
    $fleet->{httpds}[2]->zone_becomes('db', '... but begins nothing', Queued => 1);
    $fleet->{httpds}[0]->open_gate("all$fleet->{gates}");
    $fleet->{httpds}[0]->open_gate('later');
    is_deeply statuses(answers(@waits, $more)), { 200 => 3 }, 'all are served';
    wait_for { !$fleet->{httpds}[0]->live_programs_now } 'no program is left', 20;
    $fleet->{observer}->lower($LIMIT);
    $fleet->rest;
    $fleet->stop;
}, 'event+cgid', 'prefork+cgi');

# The agent is killed before and after each step: what it has promised, sent and been told.
my @POINTS = (
    [ 'before a promise',              'fleet_promise' ],
    [ 'promised, not sent',            'law_fleet_fill_sync' ],
    [ 'about to send',                 'sync_zone' ],
    [ 'sent',                          'sync_zone', 'finish' ],
    [ 'answered, not read',            'redis_words_read_reply' ],
    [ 'read, not believed',            'law_fleet_accept_reply' ],
    [ 'believed, not applied',         'fleet_apply' ],
    [ 'applied',                       'fleet_apply', 'finish' ],
    [ 'pushed, not believed',          'law_fleet_accept_push' ],
    [ 'connected',                     'redis_socket_connect' ],
);

sub kill_at {
    my ($httpd, $point, $more) = @_;
    my ($agent) = $httpd->agents or return 0;
    my $finish = $more ? '-ex finish' : '';

    # Not for ever where the point is not reached.
    my $said = `timeout 20 gdb -nx -batch -p $agent -ex 'break $point' -ex continue $finish -ex kill 2>&1`;
    return $said =~ /^\[Inferior \d+ .*killed\]/m && $said =~ /Breakpoint 1, /;
}

for_each_combo(sub {
    SKIP: {
        skip 'no gdb: install gdb', 1 if !grep { -x "$_/gdb" } split /:/, $ENV{PATH};
        skip 'only root may look into another process', 1 if $> != 0;
        my $fleet = AdmissionTest::Fleet->start(lease => $LEASE, hold => $HOLD);

        for my $point (@POINTS) {
            my ($what, @where) = @$point;
            $fleet->survives("the agent is killed $what", sub {
                # It tries again and again.
                $fleet->{wires}[1]->becomes('cut') if $where[0] eq 'redis_socket_connect';
                for (1, 2) {
                    ok kill_at($fleet->{httpds}[1], @where), "... in @where";
                    wait_for { $fleet->{httpds}[1]->agents == 1 } '... another one starts', 20;
                }
                $fleet->{wires}[1]->becomes('pass');
            }, clients => 4);
        }
        $fleet->survives('an agent is killed a hundred times', sub {
            for (1 .. 100) {
                kill KILL => $fleet->{httpds}[int rand 3]->agents;
                sleep 0.1;
            }
        }, clients => 4);
        $fleet->stop;
    }
}, 'event+cgid');

# What becomes of servers: one is killed for good, stops in order, is stopped for a while;
# its agent is killed at each point of a sync. Never more than the limit; what a server
# had is the others' as soon as it may be.

use AdmissionTest;
use AdmissionTest::Fleet;

use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my ($LEASE, $HOLD) = (4, 2);

# All permits are with one server, whose programs wait for a gate.
sub take_all {
    my ($fleet, $n) = @_;
    my $httpd = $fleet->{httpds}[$n];
    my $gate = 'all' . ++$fleet->{gates};
    my @asked = map { $httpd->ask("/cgi-bin/heavy?until=$gate") } 1 .. $AdmissionTest::Fleet::LIMIT;

    $httpd->zone_becomes('db', "server $n has all", Active => $AdmissionTest::Fleet::LIMIT);
    return ($gate, @asked);
}

# Seconds until this one runs as many.
sub until_it_has {
    my ($fleet, $n, $since, $what) = @_;
    my $httpd = $fleet->{httpds}[$n];
    my $gate = 'has' . ++$fleet->{gates};
    my @asked = map { $httpd->ask("/cgi-bin/heavy?until=$gate") } 1 .. $AdmissionTest::Fleet::LIMIT;

    wait_for { $httpd->zone('db')->{Active} == $AdmissionTest::Fleet::LIMIT } $what, 60;
    my $took = time - $since;
    $fleet->{httpds}[0]->open_gate($gate);
    is_deeply statuses(answers(@asked)), { 200 => $AdmissionTest::Fleet::LIMIT }, '... and serves them';
    return $took;
}

sub kill_whole {
    my ($httpd) = @_;
    kill KILL => $httpd->{pid};
    wait_for { $httpd->has_exited } 'a server is killed';
    # What was just being forked as well.
    wait_for { kill KILL => $httpd->processes; !$httpd->processes } '... with all its processes', 20;
    unlink "$httpd->{dir}/run/httpd.pid";
}

for_each_combo(sub {
    my ($combo) = @_;
    my $began = time;
    my $fleet = AdmissionTest::Fleet->start($combo, lease => $LEASE, hold => $HOLD);

    $fleet->{kills_programs} = 1;
    my $first = until_it_has($fleet, 0, $began, 'the very first permits');
    cmp_ok $first, '>=', $LEASE + $HOLD, '... come after lease and hold';
    note sprintf 'first permits %.1f s after the first server was started, lease %d s, hold %d s',
        $first, $LEASE, $HOLD;
    $fleet->is_leased;

    # Dead for good.
    take_all($fleet, 2);
    kill_whole($fleet->{httpds}[2]);
    my $took = until_it_has($fleet, 0, time, '... another one has what it had');
    cmp_ok $took, '>', $HOLD, '... not before the hold is over';
    note sprintf '... after %.1f s', $took;
    $fleet->{httpds}[2]->start;
    $fleet->is_leased('it is started again');
    $fleet->rest;

    # Killed and started at once.
    take_all($fleet, 2);
    kill_whole($fleet->{httpds}[2]);
    my $killed = time;
    $fleet->{httpds}[2]->start;
    $took = until_it_has($fleet, 0, $killed, 'killed and started at once: others have what it had');
    note sprintf '... after %.1f s, with the start of httpd', $took;
    $fleet->rest;

    # Stopped in order, idle and busy.
    my ($gate, @asked) = take_all($fleet, 2);
    $fleet->{httpds}[0]->open_gate($gate);
    answers(@asked);
    $fleet->{httpds}[2]->stop;
    $took = until_it_has($fleet, 0, time, 'a server stops: another one has what it had');
    note sprintf '... after %.1f s', $took;
    cmp_ok $took, '<', $LEASE, '... long before its lease is over' if $ENV{ADMISSION_TIMED};
    $fleet->{httpds}[2]->start;
    $fleet->is_leased('it is started again');

    # All its processes are stopped, programs as well, for longer than lease and hold.
    take_all($fleet, 2);
    my @stopped = ($fleet->{httpds}[2]->processes);
    # Its programs live on beyond the hold, though they do not run meanwhile.
    $fleet->{observer}->allow(2 * $AdmissionTest::Fleet::LIMIT);
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
    $fleet->{observer}->lower($AdmissionTest::Fleet::LIMIT);
    $fleet->rest;
    $fleet->stop;
}, 'event+cgid', 'prefork+cgi');

# The agent is killed before and after each step: what it has promised, sent and been told.
my @POINTS = (
    [ 'before a promise',              'fleet_promise' ],
    [ 'promised, not sent',            'law_fleet_fill_sync' ],
    [ 'about to send',                 'redis_link_sync' ],
    [ 'sent',                          'redis_link_sync', 'finish' ],
    [ 'answered, not read',            'redis_words_read_reply' ],
    [ 'read, not believed',            'law_fleet_accept_reply' ],
    [ 'believed, not applied',         'fleet_apply' ],
    [ 'applied',                       'fleet_apply', 'finish' ],
    [ 'pushed, not believed',          'law_fleet_accept_push' ],
    [ 'connected',                     'redis_node_connect' ],
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
    my ($combo) = @_;
    SKIP: {
        skip 'no gdb: install gdb', 1 if !grep { -x "$_/gdb" } split /:/, $ENV{PATH};
        skip 'only root may look into another process', 1 if $> != 0;
        my $fleet = AdmissionTest::Fleet->start($combo, lease => $LEASE, hold => $HOLD);

        $fleet->is_leased;
        for my $point (@POINTS) {
            my ($what, @where) = @$point;
            $fleet->load(4);
            $fleet->goes_on("the agent is killed $what: there is a load");
            # It tries again and again.
            $fleet->{wires}[1]->becomes('cut') if $where[0] eq 'redis_node_connect';
            for (1, 2) {
                ok kill_at($fleet->{httpds}[1], @where), '... it is killed there';
                wait_for { $fleet->{httpds}[1]->agents == 1 } '... there is another one', 20;
            }
            $fleet->{wires}[1]->becomes('pass');
            $fleet->goes_on('... the load goes on');
            $fleet->rest;
        }
        # Anywhere.
        $fleet->load(4);
        for (1 .. 100) {
            my ($agent) = $fleet->{httpds}[int rand 3]->agents;
            kill KILL => $agent if $agent;
            sleep 0.1;
        }
        $fleet->goes_on('an agent is killed a hundred times: the load goes on', 30);
        $fleet->rest;
        $fleet->stop;
    }
}, 'event+cgid');

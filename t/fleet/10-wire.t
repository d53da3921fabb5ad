# What a network does between servers and their engine, to one of them and to all, under
# load: never more than the limit, the others go on, and all comes right by itself.

use AdmissionTest;
use AdmissionTest::Fleet;

use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my $LEASE = 3;

# What happens, for how long, and what becomes of the lease of the server.
my @ACCIDENTS = (
    [ 'delay 50',  2,            'leased' ],
    [ 'delay 150', $LEASE + 2,   'leased' ],
    [ 'trickle',   $LEASE + 2,   'leased' ],
    [ 'delay 900', $LEASE + 2,   'fallback' ],
    [ 'stall',     $LEASE + 2,   'fallback' ],
    [ 'deaf',      $LEASE + 2,   'fallback' ],
    [ 'mute',      $LEASE + 2,   'fallback' ],
    [ 'hush',      $LEASE + 2,   'fallback' ],
    [ 'cut',       $LEASE + 2,   'fallback' ],
    [ 'garbage',   $LEASE + 2,   'fallback' ],
    [ 'flood',     $LEASE + 2,   'fallback' ],
);

for_each_combo(sub {
    my ($combo) = @_;
    my $fleet = AdmissionTest::Fleet->start($combo, lease => $LEASE, hold => 2, timeout => '1s');

    $fleet->is_leased;
    for my $accident (@ACCIDENTS) {
        my ($how, $seconds, $state) = @$accident;
        my $errors = $fleet->{httpds}[1]->status->{AdmissionEngineErrors};

        $fleet->load(4);
        $fleet->goes_on("$how: there is a load");
        $fleet->{wires}[1]->becomes($how);
        $fleet->goes_on('... one server has it, the load goes on');
        sleep $seconds;
        wait_for { $fleet->{httpds}[1]->zone('db')->{FleetState} eq $state } "... and its lease is $state";
        my $seen = $fleet->{httpds}[1]->status->{AdmissionEngineErrors} - $errors;
        ok $state eq 'leased' ? $seen == 0 : $seen > 0, "... with $seen connections lost";
        $fleet->{wires}[1]->becomes('pass');
        $fleet->rest;
    }
    # All is whole again shortly before a lease ends, and the agent is not there yet.
    for my $left (0.02, 0.04, 0.06) {
        my $end;
        $fleet->{wires}[0]->becomes('stall');
        wait_for { my ($now, $ms) = (time, $fleet->{httpds}[0]->zone('db')->{FleetLeaseMs});
                   $end = $now + $ms / 1000; $ms && $ms < 1000 } 'a lease ends soon';
        sleep $end - $left - time if $end - $left > time;
        kill KILL => $fleet->{httpds}[0]->agents;
        $fleet->{wires}[0]->becomes('pass');
        $fleet->rest;
    }
    cmp_ok $fleet->lines(1, qr/ADM0141/), '<=', 1 + (time - $^T) / 60, 'at most a line a minute';
    $fleet->stop;
}, 'event+cgid');

for_each_combo(sub {
    my ($combo) = @_;
    my $fleet = AdmissionTest::Fleet->start($combo, lease => $LEASE, hold => 2, timeout => '1s');

    $fleet->is_leased;
    for my $accident (grep { $_->[2] eq 'fallback' } @ACCIDENTS) {
        my ($how, $seconds) = @$accident;

        $fleet->load(4);
        $fleet->goes_on("$how: there is a load");
        $_->becomes($how) for @{ $fleet->{wires} };
        wait_for { 3 == grep { ($_->{FleetState} // '') eq 'fallback' } $fleet->zones }
            '... all have it: no lease', $LEASE + 10;
        $_->becomes('pass') for @{ $fleet->{wires} };
        $fleet->goes_on('... which ends, and the load goes on', 30);
        $fleet->rest;
    }

    # Connections are lost again and again, and what was on its way comes later.
    $fleet->load(4);
    for my $n (1 .. 60) {
        $fleet->{wires}[$n % 3]->becomes('lose ' . (0, 100, 600, 1500)[$n % 4]);
        sleep 0.1;
    }
    $fleet->goes_on('connections are lost, what was sent comes later: the load goes on', 30);
    $fleet->rest;
    $fleet->stop;
}, 'prefork+cgi', 'worker+cgid');

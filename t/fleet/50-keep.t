# fallback=keep, and what it costs: a server that is cut off from a living engine goes on
# with what it had when its lease ended, and after lease and hold the others have the whole
# limit. So at most the limit and that run, and once it is back, the limit.

use AdmissionTest;
use AdmissionTest::Fleet;

use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my $LIMIT = $AdmissionTest::Fleet::LIMIT;
my ($LEASE, $HOLD) = (3, 2);

# The most that live within so many seconds.
sub most_for {
    my ($fleet, $seconds) = @_;
    my ($most, $end) = (0, time + $seconds);
    while (time < $end) {
        my $now = $fleet->{httpds}[0]->live_programs_now;
        $most = $now if $now > $most;
        sleep 0.02;
    }
    return $most;
}

for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(lease => $LEASE, hold => $HOLD, fallback => 'keep', watched => 0);

    for my $clients ([ 2, 2, 2 ], [ 0, 9, 0 ], [ 6, 0, 6 ]) {
        my $what = "clients @$clients";

        $fleet->load($clients->[$_], only => [$_], ms => 300) for grep { $clients->[$_] } 0 .. 2;
        $fleet->goes_on("$what: there is a load");
        sleep 1.5; # what is idle is given back
        is most_for($fleet, 2) > $LIMIT, '', '... within the limit';
        my $cut = $fleet->{httpds}[1];
        $fleet->{wires}[1]->becomes('stall');
        wait_for { $cut->zone('db')->{FleetState} eq 'fallback' } '... the second is cut off', 20;
        my $kept = $cut->zone('db')->{FleetShare};
        sleep $LEASE + $HOLD;
        $fleet->load(6, only => [ 0, 1, 2 ], ms => 300);
        my $most = most_for($fleet, 5);
        cmp_ok $most, '<=', $LIMIT + $kept, "... the others have $LIMIT, it keeps $kept: at most $most run";
        is $cut->zone('db')->{FleetShare}, $kept, '... which does not grow';
        $fleet->{wires}[1]->becomes('pass');
        $fleet->is_leased('... it is back');
        wait_for { $fleet->sum('Active') <= $LIMIT && ($fleet->zones)[0]->{FleetReserved} <= $LIMIT }
            '... and what is too much ends', 20;
        is most_for($fleet, 2) > $LIMIT, '', '... and is the limit again';
        $fleet->rest;
    }
    $fleet->stop;
}, 'event+cgid', 'prefork+cgi');

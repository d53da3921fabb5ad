# What a network does between servers and their engine, to one of them and to all, under
# load: never more than the limit, the others go on, and all comes right by itself.

use AdmissionTest;
use AdmissionTest::Fleet;

use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my $LEASE = 3;
my @KEEPS_LEASE = ('delay 50', 'delay 150', 'trickle');
my @LOSES_LEASE = ('delay 900', qw(stall deaf mute hush cut garbage flood));

for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(lease => $LEASE, hold => 2, timeout => '1s');
    my ($httpd, $wire) = map { $fleet->{$_}[1] } qw(httpds wires);

    for my $how (@KEEPS_LEASE, @LOSES_LEASE) {
        my $state = (grep { $_ eq $how } @KEEPS_LEASE) ? 'leased' : 'fallback';
        my $errors = $httpd->status->{AdmissionEngineErrors};

        $fleet->survives("one connection: $how", sub {
            $wire->becomes($how);
            $fleet->goes_on('... requests run meanwhile');
            sleep $LEASE + 2;
            wait_for { $httpd->zone('db')->{FleetState} eq $state } "... the server is in the state $state";
            my $seen = $httpd->status->{AdmissionEngineErrors} - $errors;
            ok $state eq 'leased' ? $seen == 0 : $seen > 0, "... with $seen connections lost";
            $wire->becomes('pass');
        }, clients => 4);
    }
    # The network recovers shortly before a lease ends, and the agent is not there yet.
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
    cmp_ok $fleet->lines(1, qr/ADM0141/), '<=', 1 + (time - $^T) / 60, 'the log has at most one line per minute';
    $fleet->stop;
}, 'event+cgid');

for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(lease => $LEASE, hold => 2, timeout => '1s');

    for my $how (@LOSES_LEASE) {
        $fleet->survives("all connections: $how", sub {
            $fleet->wires_become($how);
            $fleet->is_lapsed($how);
            $fleet->wires_become('pass');
        }, clients => 4);
    }
    $fleet->survives('connections are lost, and what was sent arrives later', sub {
        for my $n (1 .. 60) {
            $fleet->{wires}[$n % 3]->becomes('lose ' . (0, 100, 600, 1500)[$n % 4]);
            sleep 0.1;
        }
    }, clients => 4);
    $fleet->stop;
}, 'prefork+cgi', 'worker+cgid');

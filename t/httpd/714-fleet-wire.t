# What a network does between a server and its engine: it is slow, spoils an answer, is half
# open for all or for what the engine says by itself, or loses the connection. The share goes on, and the server connects again.
# make check-fleet does it to three servers, under load.

use AdmissionTest;
use AdmissionTest::Fleet;

engine_or_skip('redis');

for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(servers => 1, lease => 30, timeout => '200ms', watched => 0, waits => 0);
    my ($httpd, $wire) = ($fleet->{httpds}[0], $fleet->{wires}[0]);

    wait_for { $httpd->zone('db')->{FleetServers} == 1 } 'the engine knows the server';
    AdmissionTest::Fleet::end_learning($fleet->{redis});
    $wire->becomes('delay 20');
    my @held = map { $httpd->ask('/cgi-bin/heavy?until=go') } 1 .. 4;
    $httpd->zone_becomes('db', 'slow: all that is there runs', Active => 4);

    for my $how ('lose 50', 'garbage', 'deaf', 'hush', 'cut') {
        my $errors = $httpd->status->{AdmissionEngineErrors};
        $wire->becomes($how);
        my $waits = $httpd->ask('/cgi-bin/heavy'); # of which the engine has to hear
        wait_for { $httpd->status->{AdmissionEngineErrors} > $errors } "$how: noticed";
        $wire->becomes('pass');
        my $syncs = $httpd->status->{AdmissionEngineSyncs};
        wait_for { my $now = $httpd->status; $now->{AdmissionEngineState} eq 'connected' && $now->{AdmissionEngineSyncs} > $syncs }
            '... and connected again';
        is_deeply [ @{ $httpd->zone('db') }{qw(Active FleetState)} ], [ 4, 'leased' ], '... with its share';
        $waits->leave;
    }
    is $fleet->lines(0, qr/ADM0141/), 1, 'one line says so';
    $httpd->serves('go', 'all are served', @held);
    $fleet->stop;
}, 'event+cgid');

# A hard restart and a stop with a full queue, blocked or a hundred parked: quick, and
# nothing is left over. (httpd warns about children that are slow to stop, which fails
# the test.)

use AdmissionTest;

my $zone = '/cgi-bin/';

for_each_combo(sub ($combo) {
    my $parks = $combo->{mpm} eq 'event' && Admission::Parking::can_park();
    my $waiters = $parks ? 100 : 5;
    my $conf = location($zone, 'MaxConcurrent 1', "AdmissionQueue $waiters timeout=300s");
    my $httpd = $parks ? start_parking_httpd(combo => $combo, conf => $conf)
                       : start_httpd(combo => $combo, conf => $conf);
    # The worker of the one that runs ends no earlier than its program.
    my $fill = sub {
        my ($name) = @_;
        my @clients = $httpd->ask("/cgi-bin/heavy?id=$name&early=1&until=$name");
        # Else the end of mod_cgid's daemon could come before that of its start.
        wait_for { $clients[0]->has_begun } 'one runs';
        push @clients, map { $httpd->ask('/cgi-bin/heavy?id=waiter&ms=60000') } 1 .. $waiters;
        $httpd->zone_becomes($zone, '... the others wait', Active => 1, Queued => $waiters);
        server_becomes($httpd, $parks ? '... parked' : '... blocked',
                       AdmissionParked => $parks ? $waiters : 0, AdmissionBlocked => $parks ? 0 : $waiters);
        return @clients;
    };
    my $let_go = sub {
        is_deeply [ grep { $_->{status} == -1 } answers(@_) ], [], 'all clients have been let go';
    };

    my @cut_off = $fill->('restart');
    $httpd->open_gate_when_stopping('restart');
    $httpd->restart;
    $httpd->zone_becomes($zone, 'after a restart no request runs or waits', Active => 0, Queued => 0);
    server_becomes($httpd, '... parked or blocked', AdmissionParked => 0, AdmissionBlocked => 0);
    $let_go->(@cut_off);
    is $httpd->get('/cgi-bin/heavy?id=next')->{status}, 200, 'the next request runs';

    @cut_off = $fill->('stop');
    $httpd->open_gate_when_stopping('stop');
    $httpd->stop;
    $let_go->(@cut_off);
    is_deeply [ grep { /^start waiter/ } $httpd->record ], [], 'no program was started for waiting requests';
});

# Programs end when their child has just been told to stop, and permits are released while
# requests wait that have not noticed it: none of them starts, or it would try to reach mod_cgid's
# daemon for ten seconds. A child that is told closes its socket first; until then, requests start.
for_each_combo(sub ($combo) {
    for my $parking ('On', 'Off') {
        my $httpd = start_httpd(combo => $combo, workers => 50, conf =>
            "AdmissionParking $parking\n"
            . location('/cgi-bin/', 'MaxConcurrent 4', 'AdmissionQueue 30 timeout=300s'));
        my @clients = map { $httpd->ask("/cgi-bin/heavy?id=$_&early=1&until=go") } 1 .. 4;
        wait_for { 4 == grep { $_->has_begun } @clients } "AdmissionParking $parking: four requests run";
        push @clients, map { $httpd->ask('/cgi-bin/heavy?id=waiter&ms=60000') } 1 .. 26;
        $httpd->zone_becomes('/cgi-bin/', '26 requests wait', Queued => 26);
        $httpd->open_gate_when_stopping('go');
        $httpd->stop;
        answers(@clients);
        is_deeply [ grep { /waiter/ } $httpd->record ], [], 'no program is started for waiting requests';
    }
}, 'worker+cgid', 'event+cgid');

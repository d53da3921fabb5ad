# A hard restart and a stop with a hundred parked are as quick as without, and
# nothing is left over. (httpd warns about children that are slow to stop, which
# fails the test.)

use AdmissionTest;
use AdmissionTest::Parking;

my ($zone, $waiters) = ('/cgi-bin/', 100);

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = start_parking_httpd(combo => $combo, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 200'));
    # The worker of the one that runs ends no earlier than its program.
    my $fill = sub {
        my ($name) = @_;
        my @clients = $httpd->ask("/cgi-bin/heavy?id=$name&until=$name");
        $httpd->zone_becomes($zone, 'one runs', Active => 1);
        # Else the end of mod_cgid's daemon could come before that of its start.
        wait_for { grep { $_ eq "start $name" } $httpd->record } '... its program';
        push @clients, map { $httpd->ask('/cgi-bin/heavy?id=waiter') } 1 .. $waiters;
        server_becomes($httpd, "$waiters are parked", AdmissionParked => $waiters,
                       AdmissionBlocked => 0);
        return @clients;
    };
    my $let_go = sub {
        is_deeply [ grep { $_->{status} == -1 } answers(@_) ], [], 'all clients have been let go';
    };

    my @cut_off = $fill->('restart');
    $httpd->open_gate_soon('restart');
    $httpd->restart;
    server_becomes($httpd, 'after a restart no request is parked', AdmissionParked => 0,
                   AdmissionBlocked => 0);
    $httpd->zone_becomes($zone, '... no request runs or waits', Active => 0, Queued => 0);
    $let_go->(@cut_off);
    is $httpd->get('/cgi-bin/heavy?id=next')->{status}, 200, 'the next request runs';

    @cut_off = $fill->('stop');
    $httpd->open_gate_soon('stop');
    $httpd->stop;
    $let_go->(@cut_off);
    is_deeply [ grep { /^start waiter/ } $httpd->record ], [],
        'no program was started for waiting requests';
}, 'event+cgid', 'event+cgi');

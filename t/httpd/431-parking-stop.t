# A hard restart and a stop with a hundred parked are as quick as without, and
# nothing is left over. (httpd warns about children that are slow to stop, which
# fails the test.)

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use AdmissionTest::Parking;

my ($zone, $waiters) = ('/cgi-bin/', 100);

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = start_parking_httpd(combo => $combo, conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 200
</Location>
CONF
    my $fill = sub {
        my ($name) = @_;
        my @clients = $httpd->ask("/cgi-bin/heavy?id=$name&ms=300");
        $httpd->zone_becomes($zone, 'one runs', Active => 1);
        push @clients, map { $httpd->ask('/cgi-bin/heavy?id=waiter&ms=60000') } 1 .. $waiters;
        server_becomes($httpd, "$waiters are parked", AdmissionParked => $waiters,
                       AdmissionBlocked => 0);
        return @clients;
    };

    for my $times (1 .. 2) {
        my @cut_off = $fill->("restart$times");
        $httpd->restart;
        $httpd->zone_becomes($zone, 'after a restart nobody runs and nobody waits',
                             Active => 0, Queued => 0);
        server_becomes($httpd, '... nor is anybody parked', AdmissionParked => 0,
                       AdmissionBlocked => 0);
        is_deeply [ grep { $_->{status} == -1 } answers(@cut_off) ], [],
            'all clients have been let go';
        is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'the next request runs';
    }

    my @cut_off = $fill->('stop');
    $httpd->stop;
    is_deeply [ grep { $_->{status} == -1 } answers(@cut_off) ], [],
        'all clients have been let go';
    is_deeply [ grep { /waiter/ } $httpd->record ], [],
        'no program was started for those who waited';
}, 'event+cgid', 'event+cgi');

done_testing;

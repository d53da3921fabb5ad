# A line that nobody has made room for: many more clients than a child with
# httpd's own settings can park. Those who do not wait are served all the same.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use AdmissionTest::Parking;

my ($threads, $factor, $clients, $others) = (10, 2, 60, 8);
my $zone   = '/cgi-bin/';
my $parked = $threads * $factor / 2;
my $busy   = int($threads / (1 + $factor));    # running and blocked, beside those

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = new_parking_httpd(combo => $combo, threads => $threads, room => $parked,
                                  conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 100
</Location>
CONF
    $httpd->expect_in_log(qr/admission:warn.*ADM0302: .*AsyncRequestWorkerFactor/)
          ->expect_rejections('test.example:/cgi-bin/', 'reserve')->start;

    my ($hold) = ask_line($httpd, 'go', 0, $zone);
    my @clients = map { $httpd->ask("/cgi-bin/heavy?id=$_") } 1 .. $clients;
    my $waiting = $parked + $busy - 1;
    $httpd->zone_becomes($zone, 'as many wait as may, the others are rejected', Active => 1,
                         Queued => $waiting, RejectedReserve => $clients - $waiting);
    server_becomes($httpd, 'most of them are parked', AdmissionParked => $parked,
                   AdmissionBlocked => $busy - 1);

    # Browsers keep their connections.
    is_deeply statuses(answers(map { $httpd->ask('/static.txt', keep => 1) } 1 .. $others)),
        { 200 => $others }, 'files are served to others';

    $httpd->open_gate('go');
    is_deeply statuses(answers($hold, @clients)),
        { 200 => 1 + $waiting, 503 => $clients - $waiting }, 'everybody has an answer';
    $httpd->zone_becomes($zone, 'the zone is at rest', Active => 0, Queued => 0);
    $httpd->stop;
});

done_testing;

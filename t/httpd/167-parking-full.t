# A queue that nobody has made room for: many more clients than a child with
# httpd's own settings can park. Those who do not wait are served all the same.

use AdmissionTest;
use AdmissionTest::Parking;

my ($threads, $factor, $clients) = (10, 2, 60);
my $zone    = '/cgi-bin/';
my $reserve = int($threads / 4);

# event accepts so many connections for each worker, and begins again when it has
# one worker's less. Those of the reserve are for others, and the one that runs
# has its own.
my $each    = 1 + $factor;
my $others  = $reserve * $each;
my $waiting = ($threads - $reserve - 1) * $each - $factor;

for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(threads => $threads, factor => $factor, conf => join '',
        "KeepAliveTimeout 60\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 100'));
    $httpd->expect_in_log(qr/admission:warn.*ADM0302: .*AsyncRequestWorkerFactor/)
          ->expect_rejections('test.example:/cgi-bin/', 'AsyncRequestWorkerFactor')->start;

    my ($hold) = ask_line($httpd, 'go', 0, $zone);
    my @clients = map { $httpd->ask("/cgi-bin/heavy?id=$_") } 1 .. $clients;
    $httpd->zone_becomes($zone, 'as many wait as may, the others are rejected', Active => 1,
                         Queued => $waiting, RejectedParking => $clients - $waiting);
    server_becomes($httpd, 'they are parked', AdmissionParked => $waiting, AdmissionBlocked => 0);

    # Browsers keep their connections, here for longer than anybody waits below.
    is_deeply statuses(answers(map { $httpd->ask('/static.txt', keep => 1) } 1 .. $others)),
        { 200 => $others }, 'files are served to others';

    $httpd->open_gate('go');
    is_deeply statuses(answers($hold, @clients)),
        { 200 => 1 + $waiting, 503 => $clients - $waiting }, 'every client has a response';
});

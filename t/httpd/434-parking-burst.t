# The listener of the event MPM waits for a worker for each parked request that is
# woken, and a stop ends that wait: the connection goes into the workers' queue, where
# there is no room for it if none of them has run meanwhile. Many that give up at once
# are woken a few at a time.

use AdmissionTest;
use AdmissionTest::Parking;

plan skip_all => 'a sanitizer wants to be loaded first' if $ENV{ADMISSION_SANITIZER};

my $zone    = '/cgi-bin/';
my $threads = 6;
my $many    = 3 * $threads;

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = new_parking_httpd(combo => $combo, threads => $threads, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 100 timeout=5s'));
    # All workers are idle when many give up.
    my ($holder, $second) = start_beside_holder($httpd, $zone);

    my @many = map { $httpd->ask("/cgi-bin/heavy?id=$_") } 1 .. $many;
    server_becomes($httpd, 'many are parked', AdmissionParked => $many);
    $httpd->put('../heavy/yawn', '');
    wait_for { (-s "$httpd->{dir}/heavy/yawned" // 0) >= $threads / 2 } 'workers are called';
    kill USR1 => $httpd->{pid};
    wait_for { 2 == grep { /SIGUSR1 received/ } $httpd->error_log } 'the child is told to end';
    unlink "$httpd->{dir}/heavy/yawn";
    is_deeply statuses(answers(@many)), { 503 => $many }, 'each is answered';
    $httpd->serves('go', '... and the request that ran', $holder);
    wait_for { !grep { $_ == $second } $httpd->children } 'the child ends';
    $httpd->expect_rejections("test.example:$zone", 'long');
}, 'event+cgid', 'event+cgid+completion');

# A child of the event MPM that is to end polls no more as soon as it counts no
# connection, and one that it has just accepted is not counted before a worker takes it.
# Its request waits all the same, with its worker: nobody would see a stand-in.

use AdmissionTest;
use AdmissionTest::Parking;

plan skip_all => 'a sanitizer wants to be loaded first' if $ENV{ADMISSION_SANITIZER};

my $zone = '/cgi-bin/';

sub threads_of { return scalar(() = glob "/proc/$_[0]/task/*") }

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = new_parking_httpd(combo => $combo, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'));
    # What holds the permit is not counted by this child.
    my ($holder, $second) = start_beside_holder($httpd, $zone);

    $httpd->put('../heavy/begin', '');
    my $late = $httpd->ask('/cgi-bin/heavy?id=late');
    wait_for { -e "$httpd->{dir}/heavy/napped" } 'it has accepted a client';
    kill USR1 => $httpd->{pid};
    # Itself, the worker, the dispatcher.
    wait_for { threads_of($second) <= 3 } '... and its listener has ended';
    $httpd->zone_becomes($zone, 'the client waits', Active => 1, Queued => 1);
    $httpd->serves('go', 'both are answered', $holder, $late);
}, 'event+cgid', 'event+cgid+completion');

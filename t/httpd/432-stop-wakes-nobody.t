# Those who are parked sleep on at a hard stop: event's listener would wait half a
# second for a worker for each that is woken, and there is none any more.

use AdmissionTest;
use AdmissionTest::Parking;

plan skip_all => 'a sanitizer wants to be loaded first' if $ENV{ADMISSION_SANITIZER};

my ($zone, $waiters) = ('/cgi-bin/', 40);

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = new_parking_httpd(combo => $combo, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 100'));
    napping($httpd)->start;
    my @clients = ask_line($httpd, 'stop', $waiters, $zone);
    server_becomes($httpd, "$waiters are parked", AdmissionParked => $waiters);

    # Else the end of mod_cgid's daemon could come before that of its start.
    wait_for { $httpd->record } 'its program has started';

    # The listener learns of the stop together with whatever comes in that second.
    $httpd->put('../heavy/doze', '');
    my $other = $httpd->ask('/static.txt');
    wait_for { -e "$httpd->{dir}/heavy/napped" } 'the listener is late';
    $httpd->open_gate_soon('stop');
    # A child that is slow to stop is logged, which fails the test.
    $httpd->stop;
    is_deeply [ grep { $_->{status} == -1 } answers(@clients) ], [], 'all clients have been let go';
    is_deeply [ grep { /^start/ } $httpd->record ], ['start stop-runs'],
        'no program was started for waiting requests';
}, 'event+cgid', 'event+cgi', 'event+cgi+completion');

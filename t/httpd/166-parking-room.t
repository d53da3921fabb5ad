# More in line than the open files allow to park: the rest holds workers, as long
# as event goes on accepting connections; who finds no worker to wait in is
# rejected; and all of it at start is worth a warning.

use AdmissionTest;
use AdmissionTest::Parking;

my ($threads, $factor, $reserve) = (12, 10, 3);
my $zone = '/cgi-bin/';

# What park_room.c leaves for others, besides what is open already: 64, 4
# a thread, and the connections that the reserve can have.
my $files   = 190;
my $left    = 64 + 4 * $threads + $reserve * (1 + $factor);

# How many requests the child can park, by what it says is open.
sub room {
    my ($httpd) = @_;
    my ($room, $open) = map { /ADM0305: .*park (\d+) .* (\d+) of $files files/ }
                        $httpd->error_log;
    is $room, int(($files - $left - $open) / 2), 'the child counts its open files'
        or diag $open // 'nothing said';
    return $room;
}

for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(threads => $threads, factor => $factor, conf => join '',
        "LogLevel admission:debug\n",
        "AdmissionReserve $reserve\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50'));
    $httpd->expect_in_log(qr/admission:warn.*ADM0302: .*\b50\b.*limit of open files/)
          ->expect_rejections('test.example:/cgi-bin/', 'limit of open files')
          ->behind("ulimit -n $files && exec")->start;
    my $room = room($httpd);
    cmp_ok $room, '>', 1, 'some can be parked' or return $httpd->stop;

    my ($hold) = ask_line($httpd, 'go', 0, $zone);
    my @parked = map { $httpd->ask("/cgi-bin/heavy?id=parked$_", keep => 1) } 1 .. $room;
    server_becomes($httpd, "$room park", AdmissionParked => $room, AdmissionBlocked => 0);
    # The reserve would let more block. But a worker takes a connection, and as
    # many as the factor says from those that event accepts.
    my $busy = int($threads - $reserve - ($room + $factor) / (1 + $factor));
    my $blocking = $busy - 1;
    cmp_ok $blocking, '<', $threads - $reserve - 1, 'the reserve is not what bounds them';
    my @blocked = map { $httpd->ask("/cgi-bin/heavy?id=blocked$_") } 1 .. $blocking;
    server_becomes($httpd, "$blocking more hold a worker", AdmissionParked => $room,
                   AdmissionBlocked => $blocking,
                   AdmissionReserveFree => $threads - $reserve - $busy);
    my $rejected = $httpd->get('/cgi-bin/heavy?id=rejected');
    is $rejected->{status}, 503, 'the next is rejected';
    like $rejected->{headers}{'retry-after'} // '(none)', qr/^\d+$/, '... with Retry-After';
    $httpd->zone_becomes($zone, '... and counted so', Active => 1, RejectedParking => 1,
                         RejectedReserve => 0, Queued => $room + $blocking);
    is_deeply statuses(answers(map { $httpd->ask('/static.txt') } 1 .. $reserve)),
        { 200 => $reserve }, 'the workers of the reserve are free';

    # A place to park that becomes free goes to the next who comes.
    (shift @parked)->leave;
    server_becomes($httpd, 'one of the parked leaves', AdmissionParked => $room - 1);
    push @parked, $httpd->ask('/cgi-bin/heavy?id=again');
    server_becomes($httpd, 'the next takes its place', AdmissionParked => $room,
                   AdmissionBlocked => $blocking);

    $httpd->serves('go', 'all waiting requests get their response', $hold, @parked, @blocked);
    is_deeply [ grep { /rejected/ } $httpd->record ], [], 'no program ran for the other';
});

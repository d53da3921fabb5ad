# What bounds how many requests can be parked: the files that a child may open, and the
# connections that event accepts. More requests hold workers while event accepts
# connections, others are rejected, and all else is served. A warning at start tells it.

use AdmissionTest;
use AdmissionTest::Parking;

my $zone = '/cgi-bin/';

# One runs until the gate "go" is opened. @return httpd, and its client
sub start_full {
    my ($warning, $httpd) = @_;
    $httpd->expect_in_log(qr/admission:warn.*ADM0302: .*$warning/)
          ->expect_rejections("test.example:$zone", $warning)->start;
    return ($httpd, ask_line($httpd, 'go', 0, $zone));
}

sub files_bound_parking {
    my ($threads, $factor, $reserve) = (12, 10, 3);
    # What park_room.c leaves for others, in addition to what is open already: 64, 4
    # per thread, and the connections that the reserve can have.
    my $files = 190;
    my $left  = 64 + 4 * $threads + $reserve * (1 + $factor);
    my ($httpd, $hold) = start_full('limit of open files', new_parking_httpd(
        threads => $threads, factor => $factor, conf => join '',
        "LogLevel admission:debug\n",
        "AdmissionReserve $reserve\n",
        location($zone, 'MaxConcurrent 1', 'AdmissionQueue 50'))->behind("ulimit -n $files && exec"));
    my ($room, $open) = map { /ADM0305: .*park (\d+) .* (\d+) of $files files/ } $httpd->error_log;
    is $room, int(($files - $left - $open) / 2), 'the child counts its open files' or diag $open // 'nothing logged';
    cmp_ok $room, '>', 1, 'some requests can be parked' or return;

    my @parked = map { $httpd->ask("/cgi-bin/heavy?id=parked$_", keep => 1) } 1 .. $room;
    server_becomes($httpd, "$room are parked", AdmissionParked => $room, AdmissionBlocked => 0);
    # The reserve would let more block. But a worker takes a connection, and as
    # many as the factor sets from those that event accepts.
    my $busy = int($threads - $reserve - ($room + $factor) / (1 + $factor));
    my $blocking = $busy - 1;
    cmp_ok $blocking, '<', $threads - $reserve - 1, 'the reserve does not bound those that hold a worker';
    my @blocked = map { $httpd->ask("/cgi-bin/heavy?id=blocked$_") } 1 .. $blocking;
    server_becomes($httpd, "$blocking more hold a worker", AdmissionParked => $room,
                   AdmissionBlocked => $blocking,
                   AdmissionReserveFree => $threads - $reserve - $busy);
    my $rejected = $httpd->get('/cgi-bin/heavy?id=rejected');
    is $rejected->{status}, 503, 'the next request is rejected';
    like $rejected->{headers}{'retry-after'} // '(none)', qr/^\d+$/, '... with Retry-After';
    $httpd->zone_becomes($zone, '... and counted', Active => 1, RejectedParking => 1,
                         RejectedReserve => 0, Queued => $room + $blocking);
    is_deeply statuses(answers(map { $httpd->ask('/static.txt') } 1 .. $reserve)),
        { 200 => $reserve }, 'the workers of the reserve are free';

    (shift @parked)->leave;
    server_becomes($httpd, 'one parked client disconnects', AdmissionParked => $room - 1);
    push @parked, $httpd->ask('/cgi-bin/heavy?id=again');
    server_becomes($httpd, 'the next request is parked instead', AdmissionParked => $room,
                   AdmissionBlocked => $blocking);

    $httpd->serves('go', 'all waiting requests get their response', $hold, @parked, @blocked);
    is_deeply [ grep { /rejected/ } $httpd->record ], [], 'no program ran for the rejected request';
}

# Many more clients than a child with httpd's own settings can park. event accepts so many
# connections per worker, and starts again when it has one worker's less. Those of the reserve
# are for others, and the one that runs has its own.
sub connections_bound_parking {
    my ($threads, $factor, $clients) = (10, 2, 60);
    my $reserve = int($threads / 4);
    my $others  = $reserve * (1 + $factor);
    my $waiting = ($threads - $reserve - 1) * (1 + $factor) - $factor;
    my ($httpd, $hold) = start_full('AsyncRequestWorkerFactor', new_parking_httpd(
        threads => $threads, factor => $factor, conf => join '',
        "KeepAliveTimeout 60\n",
        location($zone, 'MaxConcurrent 1', 'AdmissionQueue 100')));

    my @clients = map { $httpd->ask("/cgi-bin/heavy?id=$_") } 1 .. $clients;
    $httpd->zone_becomes($zone, "$waiting of $clients requests wait, the others are rejected", Active => 1,
                         Queued => $waiting, RejectedParking => $clients - $waiting);
    server_becomes($httpd, '... parked', AdmissionParked => $waiting, AdmissionBlocked => 0);

    # Browsers keep their connections, here for longer than any request waits below.
    is_deeply statuses(answers(map { $httpd->ask('/static.txt', keep => 1) } 1 .. $others)),
        { 200 => $others }, 'files are served to others';

    $httpd->open_gate('go');
    is_deeply statuses(answers($hold, @clients)),
        { 200 => 1 + $waiting, 503 => $clients - $waiting }, 'every client has a response';
}

# Each log file is open in each child. What is left bounds how many can be parked, so that the
# child never runs out of files: event would end it then, with connections that it has.
sub files_are_left {
    my ($threads, $logs, $keeping, $waiting) = (25, 450, 200, 200);
    my ($httpd, $hold) = start_full('limit of open files', new_parking_httpd(
        threads => $threads, factor => 40, conf => join '',
        "KeepAliveTimeout 60\n",
        (map { "CustomLog log$_ common\n" } 1 .. $logs),
        location($zone, 'MaxConcurrent 1', 'AdmissionQueue 300'))->behind('ulimit -n 1024 && exec'));
    my ($child) = $httpd->children;
    cmp_ok descriptors($child), '>', $logs, 'each log is an open file';

    # One after the other: httpd before 2.4.53 may forget to accept the rest of a
    # burst, whether the module is loaded or not.
    my @keeping = map { $httpd->connect } 1 .. $keeping;
    is_deeply statuses(map { $_->ask('/static.txt', keep => 1)->answer } @keeping),
        { 200 => $keeping }, "$keeping clients keep their connections";
    my @clients = map { $httpd->ask('/cgi-bin/heavy') } 1 .. $waiting;
    wait_for {
        my $state = $httpd->zone($zone);
        $state->{Queued} + $state->{RejectedParking} == $waiting
    } "$waiting more wait or are rejected";
    cmp_ok $httpd->status->{AdmissionParked}, '>', 2 * $threads, 'many of them are parked';
    cmp_ok descriptors($child), '<', 1024, 'there are files left';
    is_deeply statuses(answers(map { $httpd->ask('/static.txt') } 1 .. 10)), { 200 => 10 },
        '... for others';

    $httpd->open_gate('go');
    my $statuses = statuses(answers($hold, @clients));
    is $statuses->{200} + $statuses->{503}, 1 + $waiting, 'every client has a response'
        or diag join ', ', %$statuses;
    is_deeply [ $httpd->children ], [ $child ], 'the child has not ended';
}

for_each_parking_combo($_) for \&files_bound_parking, \&connections_bound_parking, \&files_are_left;

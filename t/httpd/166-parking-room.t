# What bounds how many requests can be parked: the files that a child may open, and the
# connections that event accepts. More requests hold workers while event accepts
# connections, others are rejected, and all else is served. A warning at start tells it.

use AdmissionTest;

my $zone = '/cgi-bin/';

# One runs until the gate "go" is opened. @return httpd, and its client
sub start_full {
    my ($warning, $httpd) = @_;
    $httpd->expect_in_log(qr/admission:warn.*ADM0302: .*$warning/)
          ->expect_rejections("test.example:$zone", $warning)->start;
    return ($httpd, ask_line($httpd, 'go', 0, $zone));
}

# Each log file is open in each child. What is left bounds how many can be parked, so that the
# child never runs out of files: event would end it then, with connections that it has.
sub files_bound_parking {
    my ($threads, $factor, $reserve, $logs) = (12, 10, 3, 60);
    # What park_room.c leaves for others, in addition to what is open already: 64, 4
    # per thread, and the connections that the reserve can have.
    my $files  = 190 + $logs;
    my $others = $reserve * (1 + $factor);
    my $left   = 64 + 4 * $threads + $others;
    my ($httpd, $hold) = start_full('limit of open files', new_parking_httpd(
        threads => $threads, factor => $factor, conf => join '',
        "LogLevel admission:debug\n",
        "KeepAliveTimeout 60\n",
        "AdmissionReserve $reserve\n",
        (map { "CustomLog log$_ common\n" } 1 .. $logs),
        location($zone, 'MaxConcurrent 1', 'AdmissionQueue 50'))->behind("ulimit -n $files && exec"));
    my ($room, $open) = map { /ADM0305: .*park (\d+) .* (\d+) of $files files/ } $httpd->error_log;
    is $room, int(($files - $left - $open) / 2), 'the child counts its open files' or diag $open // 'nothing logged';
    cmp_ok $room, '>', 1, 'some requests can be parked' or return;
    cmp_ok $open, '>', $logs, '... each log is an open file';
    my ($child) = $httpd->children;

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
    # Browsers keep their connections, here for longer than any request waits below.
    my @keeping = map { $httpd->connect } 1 .. $others;
    is_deeply statuses(map { $_->ask('/static.txt', keep => 1)->answer } @keeping),
        { 200 => $others }, 'the workers and connections of the reserve are free';
    cmp_ok descriptors($child), '<', $files, '... and there are files left';

    (shift @parked)->leave;
    server_becomes($httpd, 'one parked client disconnects', AdmissionParked => $room - 1);
    push @parked, $httpd->ask('/cgi-bin/heavy?id=again');
    server_becomes($httpd, 'the next request is parked instead', AdmissionParked => $room,
                   AdmissionBlocked => $blocking);

    $httpd->serves('go', 'all waiting requests get their response', $hold, @parked, @blocked);
    is_deeply [ grep { /rejected/ } $httpd->record ], [], 'no program ran for the rejected request';
    is_deeply [ $httpd->children ], [$child], 'the child has not ended';
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

# The sizes that distributions ship, and the default queue: requests that cannot be parked may
# take all threads of a child, which then leaves connections to others, and httpd starts these.
# None is rejected before the server has used the workers of zones.
sub httpd_starts_children {
    my $room = 4 + 100;
    my $httpd = new_httpd(workers => 150, conf => stock_conf() . location($zone, 'MaxConcurrent 4'))
        ->behind('ulimit -n 200 && exec')
        ->expect_in_log(qr/admission:warn.*ADM0302: .*limit of open files/)->start;

    my @clients = map { $httpd->ask("/cgi-bin/heavy?id=$_&until=files") } 1 .. $room;
    $httpd->zone_becomes($zone, '200 open files: all are in', Active => 4, Queued => $room - 4,
                         RejectedParking => 0, RejectedReserve => 0, RejectedFull => 0);
    my $status = $httpd->status;
    cmp_ok $status->{AdmissionParked}, '>', 0, '... some parked';
    cmp_ok $status->{AdmissionBlocked}, '>', 2 * 25 - 4, '... and more hold a worker than'
        . ' the children at start have';
    is $httpd->get('/static.txt')->{status}, 200, 'a static file is served meanwhile';
    $httpd->serves('files', 'all requests get their response', @clients);
}

for_each_parking_combo($_)
    for \&files_bound_parking, \&connections_bound_parking, \&httpd_starts_children;

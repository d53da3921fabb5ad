# Waiting holds no worker on the event MPM: ten times more wait than there are
# threads, and the server answers beside them as if nobody did.

use AdmissionTest;
use AdmissionTest::Parking;

my ($threads, $limit, $waiters) = (6, 2, 60);

for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(threads => $threads,
                                    conf =>
                                        location('/cgi-bin/', "MaxConcurrent $limit", "AdmissionQueue $waiters"));
    my $zone = '/cgi-bin/';
    my $watch = $httpd->watch;

    my @hold = map { $httpd->ask("/cgi-bin/heavy?id=hold$_&until=go") } 1 .. $limit;
    $httpd->zone_becomes($zone, 'the zone is full', Active => $limit);
    my @line;
    for my $n (1 .. $waiters) {
        push @line, $httpd->ask("/cgi-bin/heavy?id=$n");
        # Arrivals of one moment may be taken up by any thread.
        $httpd->zone_becomes($zone, 'five more wait', Queued => $n) if $n % 5 == 0;
    }

    server_becomes($httpd, 'all of them are parked, none blocks',
                   AdmissionParked => $waiters, AdmissionBlocked => 0);
    # The worker that showed the last status may not be idle yet.
    server_becomes($httpd, 'busy: the running requests, and the one that shows the status',
                   BusyWorkers => $limit + 1);
    my $status = $httpd->status;
    is $status->{AdmissionReserveFree}, $threads - $status->{AdmissionReserve} - $limit,
        'a parked request takes no worker of those that zones may occupy';

    # Not on kept connections: event closes them while all workers are busy.
    for my $round (1 .. 25) {
        my @static = map { $httpd->ask('/static.txt') } 1 .. $threads - $limit;
        my @wrong = grep { $_->{body} ne "static\n" } answers(@static);
        ok !@wrong, 'static files, on every thread that is left' if $round == 25 || @wrong;
    }
    server_becomes($httpd, 'waiting requests are still parked',
                   AdmissionParked => $waiters, AdmissionBlocked => 0);

    $httpd->serves('go', 'every request gets a response in the end', @hold, @line);
    is $watch->most, $limit, 'no more programs ran than the limit';
    $httpd->zone_becomes($zone, 'each of them waited once', Active => 0, Queued => 0,
                         Admitted => $limit + $waiters, AdmittedAfterWait => $waiters);
    $httpd->access_log_becomes('the access log has so many', qr/ status=queued wait=\d+ /, $waiters);
}, 'event+cgid', 'event+cgi', 'event+cgid+completion');

# The default queue holds what it says on the sizes that distributions ship: four
# run, a hundred wait, and only who comes on top of these is rejected, whichever
# child accepts whom, and also with a reload in the middle of the burst. With the
# AsyncRequestWorkerFactor that the module chooses, and with httpd's own, where one
# child accepts fewer and the parent starts others.

use AdmissionTest;
use AdmissionTest::Parking;

my ($limit, $queue, $others) = (4, 100, 20);
my $room = $limit + $queue;
my $zone = '/cgi-bin/';

sub burst {
    my ($httpd, $clients, $gate) = @_;
    return map { $httpd->ask("/cgi-bin/heavy?id=$gate$_&until=$gate") } 1 .. $clients;
}

# All that the zone has counted since it was at rest last.
my %before;

sub zone_has {
    my ($httpd, $what, $active, $queued, $full) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $before{$httpd} += $full;
    return $httpd->zone_becomes($zone, $what, Active => $active, Queued => $queued,
                                RejectedFull => $before{$httpd}, RejectedParking => 0,
                                RejectedReserve => 0);
}

sub ends_well {
    my ($httpd, $gate, $rejected, @clients) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $httpd->open_gate($gate);
    is_deeply statuses(answers(@clients)),
        { 200 => $room, $rejected ? (503 => $rejected) : () },
        "$room are served, $rejected rejected";
    zone_has($httpd, 'the zone is at rest', 0, 0, 0);
}

sub tell_story {
    my ($conf) = @_;
    my $httpd = start_httpd(workers => 150, conf => stock_conf() . "$conf\n" . location($zone, "MaxConcurrent $limit"));
    my (undef, $dump) = $httpd->configtest('-D', 'DUMP_ADMISSION');
    my ($at_start, $at_most) =
        $dump =~ /parking capacity: (\d+) requests in 2 children at start, (\d+) in 6 at most/;
    cmp_ok $at_start // 0, '>=', $queue, 'the queue has room in the children at start'
        or diag $dump;
    cmp_ok $at_most // 0, '>', $at_start // 0, '... and more comes with more children';
    my $rejected = 150 - $room;

    my @clients = burst($httpd, $room, 'fits');
    zone_has($httpd, "$room at once: all are in", $limit, $queue, 0);
    server_becomes($httpd, '... and hold no worker', AdmissionParked => $queue,
                   AdmissionBlocked => 0);
    is_deeply statuses(answers(map { $httpd->ask('/static.txt', keep => 1) } 1 .. $others)),
        { 200 => $others }, '... nor anything that files need';
    ends_well($httpd, 'fits', 0, @clients);

    $httpd->expect_rejections("test.example:$zone", 'full');
    @clients = burst($httpd, 150, 'full');
    zone_has($httpd, '150 concurrently: the rest is rejected as full', $limit, $queue, $rejected);
    ends_well($httpd, 'full', $rejected, @clients);

    my $generation = $httpd->status->{ParentServerMPMGeneration};
    @clients = burst($httpd, 75, 'reload');
    # mod_cgid's daemon ends with its generation, and what it was just asked for.
    wait_for { $limit == $httpd->live_programs_now } 'the permitted programs run';
    kill USR1 => $httpd->{pid};
    push @clients, burst($httpd, 75, 'reload');
    wait_for { $httpd->status->{ParentServerMPMGeneration} > $generation }
        'a reload in the middle of the burst';
    wait_for { $httpd->runs_programs } 'the new generation starts programs';
    zone_has($httpd, '... costs no request its slot', $limit, $queue, $rejected) or $httpd->show_log;
    is_deeply statuses(answers(map { $httpd->ask('/static.txt', keep => 1) } 1 .. $others)),
        { 200 => $others }, 'static files are served meanwhile';
    ends_well($httpd, 'reload', $rejected, @clients);
}

for_each_parking_combo(sub { tell_story('') }, 'event+cgid', 'event+cgi');
for_each_parking_combo(sub { tell_story('AsyncRequestWorkerFactor 2') });

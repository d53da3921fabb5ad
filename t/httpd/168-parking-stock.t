# The default queue holds what it says on the sizes that distributions ship: four
# run, a hundred wait, and only who comes on top of these is rejected, whichever
# child accepts whom, and also with a reload in the middle of the burst. With the
# AsyncRequestWorkerFactor that the module chooses, and with httpd's own, where one
# child accepts fewer and the parent starts others.

use AdmissionTest;

my ($limit, $queue, $others) = (4, 100, 20);
my $room = $limit + $queue;
my $zone = '/cgi-bin/';

# So many clients come, and wait for their gate.
my @bursts = ([ 'fits', $room ], [ 'full', 150 ], [ 'reload', 150 ]);

sub tell_story {
    my ($conf) = @_;
    my $httpd = start_httpd(workers => 150, conf => stock_conf() . "$conf\n" . location($zone, "MaxConcurrent $limit"));
    my (undef, $dump) = $httpd->configtest('-D', 'DUMP_ADMISSION');
    my ($at_start, $at_most) =
        $dump =~ /parking capacity: (\d+) requests in 2 children at start, (\d+) in 6 at most/;
    cmp_ok $at_start // 0, '>=', $queue, 'the queue has room in the children at start'
        or diag $dump;
    cmp_ok $at_most // 0, '>', $at_start // 0, '... and more comes with more children';
    $httpd->expect_rejections("test.example:$zone", 'full');

    my %rejected = (RejectedFull => 0, RejectedParking => 0, RejectedReserve => 0);
    for (@bursts) {
        my ($gate, $number) = @$_;
        my $rejected = $number - $room;
        my $come = sub { map { $httpd->ask("/cgi-bin/heavy?id=$gate$_&until=$gate") } 1 .. $_[0] };

        my @clients = $come->($gate eq 'reload' ? 75 : $number);
        if ($gate eq 'reload') {
            my $generation = $httpd->status->{ParentServerMPMGeneration};
            # mod_cgid's daemon ends with its generation, and what it was just asked for.
            wait_for { $limit == $httpd->live_programs_now } 'the permitted programs run';
            kill USR1 => $httpd->{pid};
            push @clients, $come->($number - @clients);
            wait_for { $httpd->status->{ParentServerMPMGeneration} > $generation }
                'a reload in the middle of the burst';
            wait_for { $httpd->runs_programs } 'the new generation starts programs';
        }
        $rejected{RejectedFull} += $rejected;
        $httpd->zone_becomes($zone, "$gate: of $number $room are in, the rest is rejected as full",
                             Active => $limit, Queued => $queue, %rejected) or $httpd->show_log;
        server_becomes($httpd, '... and hold no worker', AdmissionParked => $queue,
                       AdmissionBlocked => 0) if !$rejected;
        is_deeply statuses(answers(map { $httpd->ask('/static.txt', keep => 1) } 1 .. $others)),
            { 200 => $others }, '... nor anything that files need';
        $httpd->open_gate($gate);
        is_deeply statuses(answers(@clients)),
            { 200 => $room, $rejected ? (503 => $rejected) : () },
            "... $room are served, $rejected rejected";
        $httpd->zone_becomes($zone, '... and the zone is at rest', Active => 0, Queued => 0,
                             %rejected);
    }
}

for_each_parking_combo(sub { tell_story('') }, 'event+cgid', 'event+cgi');
for_each_parking_combo(sub { tell_story('AsyncRequestWorkerFactor 2') });

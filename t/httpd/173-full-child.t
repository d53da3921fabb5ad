# What cannot be parked may take all threads of a child, which then leaves
# connections to others, and httpd starts these: nobody is rejected before the
# server has used the workers of zones. Who was parked in that child and gets a
# permit finds a worker all the same.

use AdmissionTest;
use AdmissionTest::Parking;
use Time::HiRes qw(sleep);

my $zone = '/cgi-bin/';
my $room = 4 + 100;

# The sizes that distributions ship, and the default queue.
sub few_files {
    my $httpd = new_httpd(workers => 150,
                          conf => stock_conf() . location($zone, 'MaxConcurrent 4'))
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

# One waits parked for its zone in a child, all threads of which others block
# who wait for another zone.
sub permit_without_worker {
    my $threads = 6;
    my $httpd = new_parking_httpd(children => 2, threads => $threads, conf => join '',
        "AdmissionReserve 0\n",
        "ErrorDocument 404 /cgi-bin/slow/heavy?id=slow\n",
        location('/cgi-bin/slow/', 'MaxConcurrent 1'),
        location('/cgi-bin/quick/', 'MaxConcurrent 1'));
    $httpd->expect_rejections('test.example:/cgi-bin/slow/', 'ThreadsPerChild')->start;
    wait_for { $httpd->children == 2 } 'two children serve';
    my ($one, $two) = $httpd->children;

    halt($httpd, $one);
    my @run = map { $httpd->ask("/cgi-bin/$_/heavy?id=$_-runs&until=$_") } qw(slow quick);
    for (qw(slow quick)) {
        $httpd->zone_becomes("/cgi-bin/$_/", "one runs, $_, in one child", Active => 1);
    }
    kill CONT => $one;
    halt($httpd, $two);
    my $parked = $httpd->ask('/cgi-bin/quick/heavy?id=parked');
    $httpd->zone_becomes('/cgi-bin/quick/', 'one is parked in the other', Queued => 1);
    my @blocked = map { $httpd->ask('/missing') } 1 .. $threads;
    # event that has stopped accepting needs two idle workers to begin again.
    wait_for {
        sleep 0.3;
        my $accepts = backlog($httpd) == 0;
        if (!$accepts) {
            (shift @blocked)->leave;
            push @blocked, $httpd->ask('/missing');
        }
        $accepts;
    } 'it accepts as many as it has threads';
    kill CONT => $two;
    server_becomes($httpd, 'others block all its threads', AdmissionParked => 1,
                   AdmissionBlocked => $threads);

    $httpd->serves('quick', 'a parked request gets its permit and a worker', $parked);
    my $after = $httpd->zone('/cgi-bin/slow/');
    cmp_ok $after->{RejectedReserve}, '>=', 1, '... that another one gives up';
    cmp_ok $after->{Queued}, '>=', $threads - 2, '... while the rest waits on';
    $httpd->open_gate('slow');
    my $rejected = $after->{RejectedReserve};
    is_deeply statuses(answers(@run, @blocked)),
        { 200 => 2, 404 => $threads }, 'every client has a response';
    is scalar(grep { $_ eq 'start slow' } $httpd->record), $threads - $rejected,
        '... of the program, but for that one';
}

for_each_parking_combo(\&few_files);
for_each_parking_combo(\&permit_without_worker);

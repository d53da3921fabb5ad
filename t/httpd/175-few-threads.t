# Children with one to three threads each: a child with a parked request may accept no other.
# Clients wait to be accepted then, as without the module, and none is rejected.

use AdmissionTest;

my $clients = 100;

for_each_parking_combo(sub {
    for ([ 1, 30, 4, '' ], [ 1, 30, 4, "AsyncRequestWorkerFactor 2\n" ], [ 1, 30, 4, "AsyncRequestWorkerFactor 50\n" ],
         [ 2, 2, 1, '' ], [ 3, 3, 4, '' ], [ 3, 2, 4, "AsyncRequestWorkerFactor 20\n" ]) {
        my ($threads, $children, $limit, $factor) = @$_;
        my $workers = $threads * $children;
        my $httpd = new_httpd(workers => $workers, conf => $factor . <<"CONF" .
ThreadLimit $threads
ThreadsPerChild $threads
ServerLimit $children
StartServers $children
MinSpareThreads 1
MaxSpareThreads @{[ 2 * $workers ]}
MaxRequestWorkers $workers
CONF
            location('/cgi-bin/', "MaxConcurrent $limit"));
        my (undef, $dump) = $httpd->configtest('-D', 'DUMP_ADMISSION');
        my ($room) = $dump =~ /parking capacity: (-?\d+)/;
        cmp_ok $room // -1, '>', 0, "$threads threads in $children children, limit $limit, $factor: there is room to park"
            or diag $dump;
        $httpd->allow_in_log(qr/ADM0302|AH10159|AH00484/)->start;
        my @all = map { $httpd->ask("/cgi-bin/heavy?id=$_&ms=20") } 1 .. $clients;
        is_deeply statuses(answers(@all)), { 200 => $clients }, '... no request is rejected';
        is $httpd->get('/static.txt')->{status}, 200, '... nor any later request';
        $httpd->zone_becomes('/cgi-bin/', '... and the zone is at rest', Active => 0,
                             Queued => 0, RejectedParking => 0, RejectedReserve => 0);
        $httpd->stop;
    }
}, 'event+cgid', 'event+cgid+completion');

# Each log file is open in each child. What is left bounds how many can be parked,
# so that the child never runs out of files: event would end it then, and clients
# that wait for nothing would find nobody.

use AdmissionTest;
use AdmissionTest::Parking;

my ($threads, $factor, $logs, $keeping, $waiting) = (25, 40, 450, 200, 200);
my $zone = '/cgi-bin/';

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = new_parking_httpd(
        combo => $combo, threads => $threads, factor => $factor,
        conf => "KeepAliveTimeout 60\n"
            . join('', map { "CustomLog log$_ common\n" } 1 .. $logs) .
                location("$zone", 'MaxConcurrent 1', 'AdmissionQueue 300'));
    $httpd->expect_in_log(qr/admission:warn.*ADM0302: .*limit of open files/)
          ->expect_rejections("test.example:$zone", 'limit of open files')
          ->behind('ulimit -n 1024 && exec')->start;
    my ($child) = $httpd->children;
    cmp_ok descriptors($child), '>', $logs, 'each log is an open file';

    # One after the other: httpd before 2.4.53 may forget to accept the rest of a
    # burst, whether the module is loaded or not.
    my @keeping = map { $httpd->connect } 1 .. $keeping;
    is_deeply statuses(map { $_->ask('/static.txt', keep => 1)->answer } @keeping),
        { 200 => $keeping }, "$keeping keep their connections";
    my @clients = map { $httpd->ask('/cgi-bin/heavy?until=go') } 1 .. $waiting;
    wait_for {
        my $state = $httpd->zone($zone);
        $state->{Active} + $state->{Queued} + $state->{RejectedParking} == $waiting
    } "$waiting more wait, or are told that they cannot";
    cmp_ok $httpd->status->{AdmissionParked}, '>', 2 * $threads, 'many of them are parked';
    cmp_ok descriptors($child), '<', 1024, 'there are files left';
    is_deeply statuses(answers(map { $httpd->ask('/static.txt') } 1 .. 10)), { 200 => 10 },
        '... for others';

    $httpd->open_gate('go');
    my $statuses = statuses(answers(@clients));
    is $statuses->{200} + $statuses->{503}, $waiting, 'every client has a response'
        or diag join ', ', %$statuses;
    is_deeply [ $httpd->children ], [ $child ], 'the child has not ended';
});

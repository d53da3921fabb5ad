# A parked request whose socket cannot be added to be woken, for want of memory or
# watches, runs when it can be.

use AdmissionTest;
use AdmissionTest::Parking;

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = new_parking_httpd(combo => $combo, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5 timeout=300s'));
    my $fails = "$httpd->{dir}/heavy/epoll";
    preload($httpd, 'epoll', EPOLL_FAILS => $fails)->start;

    my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    # Its reset is ignored, so its socket is added when it is to be woken.
    my $errand = $httpd->ask('/cgi-bin/heavy?id=errand', method => 'POST', body => 'a=b', keep => 1);
    $httpd->zone_becomes('/cgi-bin/', 'a POST request of this server waits', Queued => 1);
    Admission::File::spill($fails, '');
    $httpd->serves('go', 'the first is answered', $hold);
    wait_for { -s "$fails.failed" } 'the next one cannot be woken';
    is scalar(grep { /^start errand/ } $httpd->record), 0, '... and does not run';
    unlink $fails or die "$fails: $!\n";
    is $errand->answer->{status}, 200, 'it runs when it can be woken';
    $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0, Queued => 0, Admitted => 2);
    $httpd->stop;
}, 'event+cgid', 'event+cgid+completion');

# event's listener stops accepting while all workers are busy, and may miss that
# they are idle again: when they become so while it still goes through the
# connections that one look at its sockets has found. It accepts the next client
# all the same, and not when one of those who are parked runs out of time.

use AdmissionTest;

my $zone = '/cgi-bin/';
my ($stay, $leave) = (3, 40);

for_each_parking_combo(sub {
    plan skip_all => 'a sanitizer wants to be loaded first' if $ENV{ADMISSION_SANITIZER};
    my $httpd = new_parking_httpd(conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 100'));
    faulty($httpd)->start;
    my ($child) = $httpd->children;

    my @stay  = ask_line($httpd, 'go', $stay, $zone);
    my @leave = map { $httpd->ask('/cgi-bin/heavy?id=gone') } 1 .. $leave;
    $httpd->zone_becomes($zone, "$leave more wait", Queued => $stay + $leave);
    server_becomes($httpd, '... parked', AdmissionParked => $stay + $leave);

    # The listener finds all of these at once, and the new client behind them.
    halt($httpd, $child);
    $_->abort for @leave;
    $httpd->put('../heavy/nap', '.' x $leave);
    my $new = $httpd->ask('/static.txt');
    kill CONT => $child;
    wait_for { $new->has_begun } 'a new client is served';
    ok -e "$httpd->{dir}/heavy/napped", '... after the workers were idle';
    is $new->answer->{status}, 200, '... with what it asked for';

    $httpd->zone_becomes($zone, 'the others have left', Queued => $stay, Gone => $leave);
    $httpd->serves('go', 'clients that stayed get their response', @stay);
}, 'event+cgid', 'event+cgid+completion');

# A parked request whose socket cannot be added to be woken, for want of memory or watches, runs
# when it can be.
for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5 timeout=300s'));
    my $fails = "$httpd->{dir}/heavy/epoll";
    faulty($httpd)->start;

    my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=go');
    $httpd->zone_becomes($zone, 'one runs', Active => 1);
    # Its reset is ignored, so its socket is added when it is to be woken.
    my $errand = $httpd->ask('/cgi-bin/heavy?id=errand', method => 'POST', body => 'a=b', keep => 1);
    $httpd->zone_becomes($zone, 'a POST request of this server waits', Queued => 1);
    Admission::File::spill($fails, '');
    $httpd->serves('go', 'the first is answered', $hold);
    wait_for { -s "${fails}_failed" } 'the next one cannot be woken';
    is scalar(grep { /^start errand/ } $httpd->record), 0, '... and does not run';
    unlink $fails or die "$fails: $!\n";
    is $errand->answer->{status}, 200, 'it runs when it can be woken';
    $httpd->zone_becomes($zone, 'each was counted once', Admitted => 2);
}, 'event+cgid', 'event+cgid+completion');

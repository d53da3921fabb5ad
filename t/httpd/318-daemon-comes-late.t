# mod_cgid's daemon cannot be reached for a moment, as after a reload, when its
# socket is not yet of httpd's user: the queue waits instead of being told so.

use AdmissionTest;

my $waiters = 15;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, conf =>
        location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 20'));
    my $zone = '/cgi-bin/';
    my $socket = "$httpd->{dir}/run/cgid.sock.$httpd->{pid}";
    my $tries = sub { scalar grep { /AH01257/ } $httpd->error_log };
    my $watch = $httpd->watch;

    my @runs = map { $httpd->ask("/cgi-bin/heavy?id=first-$_&until=go") } 1, 2;
    $httpd->zone_becomes($zone, 'two run', Active => 2, Queued => 0);
    my @waits = map { $httpd->ask("/cgi-bin/heavy?id=$_") } 1 .. $waiters;
    $httpd->zone_becomes($zone, 'the others wait', Active => 2, Queued => $waiters);

    # Else one that had no program yet would be told so, too.
    wait_for { 2 == grep { /^start first/ } $httpd->record } 'two programs run';
    chmod 0, $socket or die "$socket: $!\n";
    $httpd->serves('go', 'the first two end', @runs);
    wait_for { $tries->() >= 4 } 'the next two try more than once';
    $httpd->zone_becomes($zone, '... and no other request', Active => 2, Queued => $waiters - 2);
    chmod 0600, $socket or die "$socket: $!\n";
    is_deeply statuses(answers(@waits)), { 200 => $waiters },
        'when the daemon can be reached all are served';
    cmp_ok $watch->most, '<=', 2, 'the limit was kept';

    # One that stays away does not keep a request for ever.
    chmod 0, $socket or die "$socket: $!\n";
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'no daemon for long: mod_cgid answers';
    $httpd->zone_becomes($zone, 'the permit is back', Active => 0, Queued => 0);
    $httpd->expect_in_log(qr/\[cgid:error\].*AH01257/);
}, 'worker+cgid', 'event+cgid');

# mod_cgid's daemon dies or cannot be reached: permits stay with programs that run, and are
# released with them. 400 has that it ends at each reload.

use AdmissionTest;

my $zone = '/cgi-bin/';

# The daemon is killed, and the programs it has just started continue: httpd does not have their
# PIDs, and cannot end them with their requests. They keep their permits all the same.
for_each_combo(sub {
    my ($limit, $rounds, $most_rounds) = (8, 2, 8);
    my $httpd = start_httpd(workers => 80, conf =>
        location($zone, "MaxConcurrent $limit", 'AdmissionQueue 20'));
    my $watch = $httpd->watch;
    my $left = 0;

    # The daemon may be quick enough to report all PIDs: then the round tests nothing.
    for (my $n = 1; $n <= $rounds || (!$left && $n <= $most_rounds); $n++) {
        my ($daemon) = $httpd->daemons;

        # The daemon reads all requests together, and the first program kills it before it can
        # report the other PIDs.
        kill STOP => $daemon;
        my @first = map { $httpd->ask('/cgi-bin/heavy?kill=1&ms=1500') } 1 .. $limit;
        $httpd->zone_becomes($zone, 'all permits are granted', Active => $limit);
        kill CONT => $daemon;
        wait_for { !grep { $_ == $daemon } $httpd->daemons } 'the first program kills its daemon';
        wait_for { $httpd->daemons } 'httpd starts another one';
        $left += grep { $_->has_begun } @first;

        my @next = map { $httpd->ask("/cgi-bin/heavy?ms=50") } 1 .. 2 * $limit;
        is_deeply statuses(answers(@next)), { 200 => 2 * $limit },
            'other requests run with the remaining permits';
        $httpd->zone_becomes($zone, 'all permits are released', Active => 0, Queued => 0);
    }
    cmp_ok $left, '>', 0, "requests that ended before their programs: $left";
    cmp_ok $watch->most, '<=', $limit, "there were never more than $limit programs";
    $httpd->allow_in_log(qr/\[cgid:error\]/);
}, 'event+cgid');

# The daemon cannot be reached for a moment, as after a reload, when its socket does not belong to
# httpd's user yet: the queue waits instead of being rejected.
for_each_combo(sub {
    my $httpd = start_httpd(workers => 40, conf =>
        location($zone, 'MaxConcurrent 2', 'AdmissionQueue 20'));
    my $waiters = 15;
    my $socket = "$httpd->{dir}/run/cgid.sock.$httpd->{pid}";
    my $tries = sub { scalar grep { /AH01257/ } $httpd->error_log };
    my $watch = $httpd->watch;

    my @runs = map { $httpd->ask("/cgi-bin/heavy?id=first-$_&until=go") } 1, 2;
    $httpd->zone_becomes($zone, 'two requests run', Active => 2, Queued => 0);
    my @waits = map { $httpd->ask("/cgi-bin/heavy?id=$_") } 1 .. $waiters;
    $httpd->zone_becomes($zone, "$waiters requests wait", Active => 2, Queued => $waiters);

    # A request that has no program yet would be rejected, too.
    wait_for { 2 == grep { /^start first/ } $httpd->record } 'two programs run';
    chmod 0, $socket or die "$socket: $!\n";
    $httpd->serves('go', 'the first two are served', @runs);
    wait_for { $tries->() >= 4 } 'the next two try to reach the daemon again and again';
    $httpd->zone_becomes($zone, '... and no other request', Active => 2, Queued => $waiters - 2);
    chmod 0600, $socket or die "$socket: $!\n";
    is_deeply statuses(answers(@waits)), { 200 => $waiters },
        'when the daemon is reachable all requests are served';
    cmp_ok $watch->most, '<=', 2, 'there were never more than 2 programs';

    # A daemon that stays away does not hold a request indefinitely.
    chmod 0, $socket or die "$socket: $!\n";
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'a daemon that stays away: mod_cgid rejects the request';
    $httpd->zone_becomes($zone, 'the permit is released', Active => 0, Queued => 0);
    $httpd->expect_in_log(qr/\[cgid:error\].*AH01257/);
}, 'worker+cgid', 'event+cgid');

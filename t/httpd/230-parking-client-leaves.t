# A parked client that goes away, however it does, leaves the line at once: no
# worker is needed to notice, no program starts, no descriptor stays.

use AdmissionTest;
use AdmissionTest::Parking;
use Time::HiRes qw(time);

my $zone    = '/cgi-bin/';
my $at_once = 0.5;    # seconds; whoever blocks needs 0.25 on an idle machine

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = start_parking_httpd(combo => $combo, tls => 1, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionSpool request=off', 'AdmissionQueue 150 timeout=300s'));
    my ($child) = $httpd->children;
    my $files_at_rest = descriptors($child);
    my @stay = ask_line($httpd, 'go', 0, $zone);
    for my $n (1 .. 3) {
        push @stay, $httpd->ask("/cgi-bin/heavy?id=go-$n");
        $httpd->zone_becomes($zone, "$n stay, in this order", Active => 1, Queued => $n);
    }

    my %leaves = (
        'closes'      => sub { $_[0]->leave },
        'resets'      => sub { $_[0]->abort },
        'half-closes' => sub { $_[0]->half_close },
        'closes, with a pipeline unread'
                      => sub { $_[0]->ask('/cgi-bin/heavy?id=gone', keep => 1) for 1 .. 5;
                               $_[0]->leave },
        'resets, with a pipeline unread'
                      => sub { $_[0]->ask('/cgi-bin/heavy?id=gone', keep => 1) for 1 .. 5;
                               $_[0]->abort },
    );
    my $gone = 0;
    # How long it takes is no promise, and a busy machine may be late: one try of ten is not.
    my $leave_line = sub {
        my ($how, $come, $leave) = @_;
        my $took;
        for (1 .. 10) {
            my $client = $come->();
            $httpd->zone_becomes($zone, 'one more waits', Queued => 4);
            my $since = time;
            $leave->($client);
            $httpd->zone_becomes($zone, "a client that $how leaves the line", Queued => 3,
                                 Gone => ++$gone, Active => 1);
            $took = time - $since;
            last if $took < $at_once;
        }
        cmp_ok $took, '<', $at_once, '... immediately';
        server_becomes($httpd, '... and is parked no more', AdmissionParked => 3,
                       AdmissionBlocked => 0);
    };
    for my $how (sort keys %leaves) {
        $leave_line->($how, sub { $httpd->ask('/cgi-bin/heavy?id=gone', keep => 1) }, $leaves{$how});
    }
    $leave_line->('resets while it sends', sub {
        return $httpd->connect->send("POST /cgi-bin/heavy?id=gone HTTP/1.1\r\n"
            # A visitor's request: a POST request of this server itself stays (207).
            . "Host: test.example\r\nX-Forwarded-For: 192.0.2.1\r\n"
            . "Content-Length: 100000\r\n\r\n" . 'x' x 50_000);
    }, sub { $_[0]->abort });
    $leave_line->('dies over TLS', sub {
        return start_program(qw(curl -sk --max-time 30), $httpd->tls_url('/cgi-bin/heavy?id=gone'));
    }, sub { kill KILL => $_[0]; waitpid $_[0], 0 });

    # Every second of a hundred, at the same moment.
    my @many = map { $httpd->ask('/cgi-bin/heavy?id=many') } 1 .. 100;
    $httpd->zone_becomes($zone, 'a hundred more wait', Queued => 103);
    $many[$_]->abort for map { 2 * $_ } 0 .. 49;
    $gone += 50;
    $httpd->zone_becomes($zone, 'every second of them leaves', Queued => 53, Gone => $gone);
    server_becomes($httpd, '... and is parked no more', AdmissionParked => 53,
                   AdmissionBlocked => 0);
    @many = @many[ map { 2 * $_ + 1 } 0 .. 49 ];

    $httpd->open_gate('go');
    is_deeply statuses(answers(@stay, @many)), { 200 => 54 }, 'clients that stayed get their response';
    is_in_order $httpd, $zone, [ map { /^start (\S+)/ } $httpd->record ],
        [ 'go-runs', (map { "go-$_" } 1 .. 3), ('many') x 50 ],
        'in order of arrival; no program ran for clients that left';
    $httpd->zone_becomes($zone, 'the zone is at rest', Active => 0, Queued => 0,
                         Admitted => 54, Gone => $gone);
    wait_for { $gone == grep { /^499 .* status=gone / } $httpd->access_log }
        'the access log has gone';
    wait_for { descriptors($child) <= $files_at_rest } 'no descriptor is left open'
        or diag descriptors($child) . " are open, were $files_at_rest";
    $httpd->stop;
}, 'event+cgid', 'event+cgid+completion');

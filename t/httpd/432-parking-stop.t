# A child of the event MPM ends while requests are parked in it, or just when it has accepted
# one: its listener is delayed by programs/faults.c.

use AdmissionTest;

plan skip_all => 'a sanitizer must be loaded first' if $ENV{ADMISSION_SANITIZER};

my $zone = '/cgi-bin/';

# Starts a faulty httpd whose only permit is held in a child of its own, which is to end:
# ($holder, $child), and all workers of that child are idle.
sub start_beside_holder {
    my ($httpd, $zone) = @_;
    my $child;

    faulty($httpd)->start;
    my $holder = $httpd->ask("${zone}heavy?id=holder&early=1&until=go");
    # Begun, not only admitted: mod_cgid forgets programs it is just starting.
    wait_for { $holder->has_begun } 'one runs';
    my ($first) = $httpd->children;
    kill USR1 => $httpd->{pid};
    wait_for { ($child) = grep { $_ != $first } $httpd->children } 'there is another child';
    return ($holder, $child);
}

sub new_server {
    my ($queue) = @_;
    return new_parking_httpd(conf => location($zone, 'MaxConcurrent 1', "AdmissionQueue $queue"));
}

# Parked requests are not woken at a hard stop: event's listener would wait half a second for a
# worker for each, and no worker is left.
for_each_parking_combo(sub {
    my $httpd = faulty(new_server(100))->start;
    my @clients = ask_line($httpd, 'stop', 40, $zone);
    server_becomes($httpd, '40 requests are parked', AdmissionParked => 40);

    # The end of mod_cgid's daemon could otherwise come before its program has started.
    wait_for { $httpd->record } 'the program has started';

    # The listener receives the stop together with all other events.
    $httpd->put('../heavy/doze', '');
    my $other = $httpd->ask('/static.txt');
    wait_for { -e "$httpd->{dir}/heavy/napped" } 'the listener is late';
    # While the test is in stop().
    local $SIG{ALRM} = sub { unlink "$httpd->{dir}/heavy/napped"; $httpd->open_gate('stop') };
    alarm 1;
    # A child that is slow to stop is logged, which fails the test.
    $httpd->stop;
    is_deeply [ grep { $_->{status} == -1 } answers(@clients) ], [], 'all connections are closed';
    is_deeply [ grep { /^start/ } $httpd->record ], ['start stop-runs'],
        'no program is started for waiting requests';
}, 'event+cgid', 'event+cgi', 'event+cgi+completion');

# A child that is to end stops polling as soon as it counts no connection, and a connection that
# it has just accepted is counted only when a worker takes it. Its request must wait with its
# worker: nothing would poll a placeholder.
for_each_parking_combo(sub {
    my $httpd = new_server(10);
    # The request that holds the permit is not counted by this child.
    my ($holder, $second) = start_beside_holder($httpd, $zone);

    $httpd->put('../heavy/begin', '');
    my $late = $httpd->ask('/cgi-bin/heavy?id=late');
    wait_for { -e "$httpd->{dir}/heavy/napped" } 'the child has accepted a client';
    kill USR1 => $httpd->{pid};
    # The main thread, the worker, the dispatcher.
    wait_for { 3 >= (() = glob "/proc/$second/task/*") } '... and its listener has ended';
    unlink "$httpd->{dir}/heavy/napped";
    $httpd->zone_becomes($zone, 'the request waits', Active => 1, Queued => 1);
    $httpd->serves('go', 'both requests are served', $holder, $late);
}, 'event+cgid', 'event+cgid+completion');

# The listener waits for a worker for each parked request that is woken, and a stop ends that
# wait: the connection goes into the workers' queue, which has no room for it if no worker has
# run meanwhile. Many that time out at the same time are woken a few at a time.
for_each_parking_combo(sub {
    my ($threads, $many) = (6, 18);
    my $httpd = new_server('100 timeout=5s');
    # All workers are idle when many time out.
    my ($holder, $second) = start_beside_holder($httpd, $zone);

    my @many = map { $httpd->ask("/cgi-bin/heavy?id=$_") } 1 .. $many;
    server_becomes($httpd, "$many requests are parked", AdmissionParked => $many);
    $httpd->put('../heavy/yawn', '');
    wait_for { (-s "$httpd->{dir}/heavy/yawned" // 0) >= $threads / 2 } 'workers are woken';
    kill USR1 => $httpd->{pid};
    wait_for { 2 == grep { /SIGUSR1 received/ } $httpd->error_log } 'the child is told to end';
    unlink "$httpd->{dir}/heavy/yawn";
    is_deeply statuses(answers(@many)), { 503 => $many }, 'each is rejected';
    $httpd->serves('go', '... and the running request is served', $holder);
    wait_for { !grep { $_ == $second } $httpd->children } 'the child ends';
    $httpd->expect_rejections("test.example:$zone", 'long');
}, 'event+cgid', 'event+cgid+completion');

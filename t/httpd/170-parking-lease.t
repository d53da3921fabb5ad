# A permit that is handed to a parked request whose child cannot begin, because its workers are
# all busy with requests that do not count, or because it is stopped, goes to one that can. The
# other one keeps its place. If all workers wait for another zone, one of them is rejected.

use AdmissionTest;
use Time::HiRes qw(sleep time);

my $zone    = '/cgi-bin/';
my $THREADS = 6;
my $PARKED  = 4;      # in each child

# Starts requests that only this child can take: the others are stopped meanwhile.
# $wait waits for each to get there.
sub ask_child {
    my ($httpd, $pid, $wait, @urls) = @_;
    my @others = grep { $_ != $pid } $httpd->children;
    my @clients;
    halt($httpd, $_) for @others;
    for my $url (@urls) {
        push @clients, $httpd->ask("/cgi-bin/$url");
        $wait->(scalar @clients);
    }
    kill CONT => @others;
    return @clients;
}

sub start_of {
    my ($httpd, $name) = @_;
    return grep { $_ eq "start $name" } $httpd->record;
}

sub order_of {
    my ($httpd, $pattern) = @_;
    return [ map { /^start ($pattern\d+)/ } $httpd->record ];
}

# The one in $elsewhere runs until the gate is opened; others are parked first in
# $cannot, then in $can.
sub make_queue {
    my ($httpd, $gate, $cannot, $can) = @_;
    my $before = 0;
    my ($hold) = ask_child($httpd, $can, sub {
        $httpd->zone_becomes($zone, 'one runs', Active => 1, Queued => 0);
    }, "heavy?id=$gate-runs&until=$gate");
    my @clients = map {
        my ($name, $pid) = @$_;
        my @parked = ask_child($httpd, $pid, sub {
            $httpd->zone_becomes($zone, "number $_[0] is parked, $name", Queued => $before + $_[0]);
        }, map { "heavy?id=$gate-$name-$_" } 1 .. $PARKED);
        $before += @parked;
        @parked;
    } ['first', $cannot], ['second', $can];
    return $hold, @clients;
}

for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(children => 2, threads => $THREADS, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 100')
        . location('/cgi-bin/uncounted', 'MaxConcurrent off'));
    wait_for { $httpd->children == 2 } 'two children serve';
    my ($one, $two) = $httpd->children;

    for my $how (qw(full stopped)) {
        my @clients = make_queue($httpd, $how, $one, $two);
        if ($how eq 'full') {
            push @clients, ask_child($httpd, $one, sub {
                my ($n) = @_;
                wait_for { start_of($httpd, 'long') == $n } "$n workers of one child are busy";
            }, ('uncounted?id=long&until=long') x $THREADS);
        }
        else {
            halt($httpd, $one);
        }
        my $opened_at = time;
        $httpd->open_gate($how);
        wait_for { start_of($httpd, "$how-second-1") } "$how: the other child gets the permit";
        cmp_ok time - $opened_at, '<', 2, '... within 2 seconds' if !is_machine_busy();
        wait_for { start_of($httpd, "$how-second-$PARKED") } '... and so do the requests behind it';
        is_deeply order_of($httpd, "$how-\\w+-"), [ map { "$how-second-$_" } 1 .. $PARKED ],
            '... in their order';
        if ($how eq 'full') {
            $httpd->zone_becomes($zone, '... one waits for a worker', Active => 1,
                                 Queued => $PARKED - 1);
            my $passed_on = $httpd->zone($zone)->{GrantsPassedOn};
            cmp_ok $passed_on, '>=', 1, 'a grant was passed on';
            cmp_ok $passed_on, '<=', $PARKED, '... and not back and forth';
            $httpd->open_gate('long');
        }
        kill CONT => $one;
        is_deeply statuses(answers(@clients)), { 200 => scalar @clients },
            'when the first child can go on all requests get their response';
        is_deeply order_of($httpd, "$how-first-"), [ map { "$how-first-$_" } 1 .. $PARKED ],
            '... in their order';
        $httpd->comes_to_rest;
    }
    is $httpd->zone($zone)->{Gone}, 0, 'no client is counted as disconnected';
});

# One waits parked for its zone in a child, all threads of which others block that wait for
# another zone.
for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(children => 2, threads => $THREADS, conf => join '',
        "AdmissionReserve 0\n",
        "ErrorDocument 404 /cgi-bin/slow/heavy?id=slow\n",
        (map { location("/cgi-bin/$_/", 'MaxConcurrent 1') } qw(slow quick)));
    $httpd->expect_rejections('test.example:/cgi-bin/slow/', 'ThreadsPerChild')->start;
    wait_for { $httpd->children == 2 } 'two children serve';
    my ($one, $two) = $httpd->children;

    my @run = map {
        my $name = $_;
        ask_child($httpd, $two, sub {
            $httpd->zone_becomes("/cgi-bin/$name/", "one runs, $name, in one child", Active => 1);
        }, "$name/heavy?id=$name-runs&until=$name");
    } qw(slow quick);
    my ($parked) = ask_child($httpd, $one, sub {
        $httpd->zone_becomes('/cgi-bin/quick/', 'one is parked in the other', Queued => 1);
    }, 'quick/heavy?id=parked');
    halt($httpd, $two);
    my @blocked = map { $httpd->ask('/missing') } 1 .. $THREADS;
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
                   AdmissionBlocked => $THREADS);

    $httpd->serves('quick', 'a parked request gets its permit and a worker', $parked);
    my $after = $httpd->zone('/cgi-bin/slow/');
    my $rejected = $after->{RejectedReserve};
    cmp_ok $rejected, '>=', 1, '... that another one gives up';
    cmp_ok $after->{Queued}, '>=', $THREADS - 2, '... while the rest waits on';
    $httpd->open_gate('slow');
    is_deeply statuses(answers(@run, @blocked)),
        { 200 => 2, 404 => $THREADS }, 'every client has a response';
    is scalar(start_of($httpd, 'slow')), $THREADS - $rejected, '... of the program, except one';
});

# A permit that is handed to a parked request whose child cannot begin, because
# its workers are all busy with requests that do not count, or because somebody
# stopped it, goes to one that can. The other one keeps its place.

use AdmissionTest;
use AdmissionTest::Parking;
use Time::HiRes qw(sleep time);

my $zone    = '/cgi-bin/';
my $THREADS = 6;
my $PARKED  = 4;      # in each child
my $SECONDS = 2;      # at most, until the permit is used

# Starts requests that only this child can take: the others are stopped meanwhile.
# $wait waits for each to get there.
sub ask_child {
    my ($httpd, $pid, $wait, @urls) = @_;
    my @others = grep { $_ != $pid } $httpd->children;
    my @clients;
    halt($httpd, $_) for @others;
    for my $url (@urls) {
        push @clients, $httpd->ask("/cgi-bin/heavy$url");
        $wait->(scalar @clients);
    }
    kill CONT => @others;
    return @clients;
}

sub start_of {
    my ($httpd, $name) = @_;
    return grep { $_ eq "start $name" } $httpd->record;
}

# How long it takes until this program is started, once the gate is open.
sub seconds_until_start {
    my ($httpd, $gate, $name) = @_;
    my $opened_at = time;
    $httpd->open_gate($gate);
    wait_for { start_of($httpd, $name) } "$name gets the permit";
    return time - $opened_at;
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
    }, "?id=$gate-runs&until=$gate");
    my @clients = map {
        my ($name, $pid) = @$_;
        my @parked = ask_child($httpd, $pid, sub {
            $httpd->zone_becomes($zone, "number $_[0] is parked, $name", Queued => $before + $_[0]);
        }, map { "?id=$gate-$name-$_" } 1 .. $PARKED);
        $before += @parked;
        @parked;
    } ['first', $cannot], ['second', $can];
    return $hold, @clients;
}

for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(children => 2, threads => $THREADS,
                                    conf =>
                                        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 100')
                                        . location('/cgi-bin/heavy/uncounted', 'MaxConcurrent off'));
    my $watch = $httpd->watch;
    wait_for { $httpd->children == 2 } 'two children serve';
    my ($one, $two) = $httpd->children;

    my @clients = make_queue($httpd, 'full', $one, $two);
    my @long = ask_child($httpd, $one, sub {
        my ($n) = @_;
        wait_for { start_of($httpd, 'long') == $n } "$n workers of one child are busy";
    }, ('/uncounted?id=long&until=long') x $THREADS);
    my $took = seconds_until_start($httpd, 'full', 'full-second-1');
    note sprintf 'beside a full child: %.0f ms', 1000 * $took;
    cmp_ok $took, '<', $SECONDS, "... within $SECONDS seconds";
    $httpd->zone_becomes($zone, 'the other child serves its requests; one waits for a worker',
                         Active => 1, Queued => $PARKED - 1);
    is_deeply order_of($httpd, 'full-\w+-'), [ map { "full-second-$_" } 1 .. $PARKED ],
        'in their order';
    cmp_ok $httpd->zone($zone)->{GrantsPassedOn}, '>=', 1, 'a grant was passed on';
    cmp_ok $httpd->zone($zone)->{GrantsPassedOn}, '<=', $PARKED, '... and not back and forth';
    $httpd->serves('long', 'when its workers are idle again all are answered', @clients, @long);
    is_deeply order_of($httpd, 'full-first-'), [ map { "full-first-$_" } 1 .. $PARKED ],
        '... in their order';
    $httpd->comes_to_rest;

    @clients = make_queue($httpd, 'stopped', $one, $two);
    halt($httpd, $one);
    $took = seconds_until_start($httpd, 'stopped', 'stopped-second-1');
    note sprintf 'beside a stopped child: %.0f ms', 1000 * $took;
    cmp_ok $took, '<', $SECONDS, "... within $SECONDS seconds";
    wait_for { start_of($httpd, "stopped-second-$PARKED") } '... and so do the requests behind it';
    kill CONT => $one;
    is_deeply statuses(answers(@clients)), { 200 => 1 + 2 * $PARKED },
        'when it is continued all requests get their response';
    is_deeply order_of($httpd, 'stopped-first-'),
        [ map { "stopped-first-$_" } 1 .. $PARKED ], '... in their order';
    is $httpd->zone($zone)->{Gone}, 0, 'no client is counted as disconnected';
});

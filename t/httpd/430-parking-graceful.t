# graceful and graceful-stop with a hundred parked: they stay parked, in the
# same line, and are answered by the children that they came to.

use AdmissionTest;

my ($zone, $waiters) = ('/cgi-bin/', 100);

sub zone_of {
    my ($limit) = @_;
    return parking_conf() . location('/cgi-bin/', "MaxConcurrent $limit", 'AdmissionQueue 200 timeout=300s');
}

for_each_parking_combo(sub {
    my $httpd = new_parking_httpd();
    $httpd->configure(zone_of(1));
    $httpd->start;
    my ($old) = $httpd->children;

    my @old = ask_line($httpd, 'graceful', $waiters, $zone, keep => 1);
    $httpd->graceful;
    $httpd->zone_becomes($zone, 'graceful: the queue is unchanged', Active => 1,
                         Queued => $waiters, Gone => 0);
    server_becomes($httpd, '... parked', AdmissionParked => $waiters, AdmissionBlocked => 0);
    is $httpd->get('/static.txt')->{status}, 200, 'the new child answers';
    my @new = map { $httpd->ask("/cgi-bin/heavy?id=new") } 1 .. 20;
    $httpd->zone_becomes($zone, 'new requests stand in the same line', Queued => $waiters + 20);
    server_becomes($httpd, '... parked', AdmissionParked => $waiters + 20, AdmissionBlocked => 0);
    $_->leave for splice @old, 51, 10;
    $httpd->zone_becomes($zone, 'parked clients of the old child leave',
                         Queued => $waiters + 10, Gone => 10);
    $httpd->serves('graceful', 'old ones and new ones are answered', @old, @new);
    is_in_order($httpd, $zone, [ map { /^start (new)?/ ? $1 // 'old' : () } $httpd->record ],
                [ ('old') x ($waiters - 9), ('new') x 20 ], '... in the order of arrival');
    $_->leave for @old;
    wait_for { !grep { $_ == $old } $httpd->children } 'then the old child ends';

    # A higher limit holds at once for those parked in an old child.
    @old = ask_line($httpd, 'raised', $waiters, $zone);
    $httpd->graceful(zone_of(3));
    is_deeply statuses(answers(@old[ 1 .. $waiters ])), { 200 => $waiters },
        'a raised limit lets requests run that are parked in the old child';
    $httpd->open_gate('raised');
    is $old[0]->answer->{status}, 200, '... in addition to the first';
    $httpd->graceful(zone_of(1));

    @old = ask_line($httpd, 'stop', $waiters, $zone);
    $httpd->{memory} = '';
    kill WINCH => $httpd->{pid};
    wait_for { !eval { $httpd->connect } } 'graceful-stop: no request is admitted';
    $_->abort for splice @old, 51, 10;
    $httpd->serves('stop', 'admitted requests get their response', @old);
    is scalar(grep { /^start stop-\d/ } $httpd->record), $waiters - 10,
        '... no program ran for clients that left';
    $httpd->finish;
}, 'event+cgid', 'event+cgi');

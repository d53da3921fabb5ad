# server-status: ?auto, and one row a zone in the page. 505 has that all facts are there.

use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, conf =>
        "AdmissionReserve 6\n"
        . location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 3 timeout=1500ms')
        . location('/cgi-bin/odd/', 'MaxConcurrent 2', 'AdmissionQueue 3', 'AdmissionZone "<b>&amp"'));

    my $status = $httpd->status;
    is $status->{AdmissionZones}, 2, 'two zones';
    is $status->{AdmissionReserve}, 6, 'the reserve as configured';
    is_deeply [ grep { /^Admission/ && $status->{$_} !~ /^\d+$/ } keys %$status ], ['AdmissionEngineState'],
        'what is of the server is whole numbers';
    for my $zone (values %{ $status->{zone} }) {
        is_deeply [ sort grep { $zone->{$_} !~ /^\d+$/ } keys %$zone ],
            [qw(FleetState LimitMode LimitReason Mode Name)], "... and of the zone $zone->{Name}";
    }

    for my $query ('?auto&zone=%3Cb%3E%26amp', '?zone=%3cb%3e%26amp&auto') {
        my @names = $httpd->get("/server-status$query")->{body} =~ /^Admission\[\d+\]Name: (.*)$/mg;
        is_deeply \@names, ['<b>&amp'], "$query shows one zone";
    }
    unlike $httpd->get('/server-status?auto&zone=none')->{body}, qr/^Admission\[/m,
        'a zone that is not there shows none';

    my $hold = $httpd->ask('/cgi-bin/heavy?ms=100&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1, OldestWaitMs => 0);
    my $waiter = $httpd->ask('/cgi-bin/heavy?ms=100');
    wait_for { $httpd->zone('/cgi-bin/')->{OldestWaitMs} >= 50 }
        'OldestWaitMs grows while one waits';
    my $status_now = $httpd->status;
    is $status_now->{AdmissionBlocked} + $status_now->{AdmissionParked}, 1,
        'it is blocked or parked';
    $httpd->serves('go', 'both end well', $hold, $waiter);
    $httpd->zone_becomes('/cgi-bin/', 'counts of what happened', Active => 0,
                         Queued => 0, QueueTimeoutMs => 1500, QueuedMax => 1,
                         Admitted => 2, AdmittedAfterWait => 1,
                         OldestWaitMs => 0);
    my $zone = $httpd->zone('/cgi-bin/');
    cmp_ok $zone->{WaitMaxMs}, '>=', 50, 'the longest wait';
    cmp_ok $zone->{WaitMeanMs}, '<=', $zone->{WaitMaxMs}, 'the mean is not above it';
    cmp_ok $zone->{ServiceMeanMs}, '>=', 100, 'the mean service time';

    for my $query ('', '?notable') {
        my $page = $httpd->get("/server-status$query")->{body};
        like $page, qr{<dd>test\.example:/cgi-bin/: limit 1, 0 running, 0 waiting, 0 rejected</dd>},
            "the page has a line for the zone: $query";
        like $page, qr{<dd>&lt;b&gt;&amp;amp: }, '... names are escaped';
    }
});

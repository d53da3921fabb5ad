# HTTP/2: every stream is a request of its own, and waits like one, on the sizes that
# distributions ship: a client finds the whole queue on its one connection, and connections
# whose streams wait leave workers to others and to those who were parked, and give theirs
# back.

use AdmissionTest;

plan skip_all => 'h2load is not installed (package nghttp2-client)'
    if system('h2load --version >/dev/null 2>&1') != 0;
needs_modules('http2');
plan skip_all => 'curl has no HTTP/2' if `curl -V` !~ /HTTP2/;

my $zone = '/cgi-bin/';

# All places of the queue for streams, on one connection or on some. A client dies.
sub streams_fill_the_queue {
    my ($combo) = @_;
    my $limit = 4;
    my $httpd = start_httpd(workers => 150, tls => 1, http2 => 1,
                            conf => stock_conf() . location($zone, "MaxConcurrent $limit", 'AdmissionQueue 100 timeout=300s'));
    is scalar(grep { /admission:notice.*ADM0126: H2MaxWorkers is not set; using 145 instead of mod_http2's default of 37/ }
              $httpd->error_log), 1, 'mod_http2 gets threads for waiting streams';

    my $watch = $httpd->watch;
    my $admitted = 0;
    # Never more at once than run and wait.
    for ([40, 4, 10, 'tls_url'],
         $combo->{cgi} eq 'cgid' ? ([120, 1, 100, 'url'], [104, 4, 26, 'url'], [104, 8, 13, 'url']) : (),
         $combo->{name} eq 'event+cgid' ? [104, 104, 1, 'url'] : ()) {
        my ($requests, $connections, $streams, $url) = @$_;
        $admitted += $requests;
        my $report = `timeout 300 h2load -n $requests -c $connections -m $streams '@{[ $httpd->$url('/cgi-bin/heavy?ms=20') ]}' 2>&1`;
        like $report, qr/Application protocol: h2\b/, 'h2load speaks HTTP/2' if $url eq 'tls_url';
        like $report, qr/status codes: $requests 2xx, 0 3xx, 0 4xx, 0 5xx/,
            "$connections connections of $streams streams: all are answered";
        $httpd->zone_becomes($zone, '... the zone is at rest', Active => 0, Queued => 0);
        server_becomes($httpd, '... and occupies no worker', AdmissionRunning => 0, AdmissionBlocked => 0);
    }
    $httpd->zone_becomes($zone, 'each was counted once', Admitted => $admitted);

    my @hold = $httpd->fill($zone, 'go', $limit);
    my $curl = start_program(qw(curl -sk --http2 --max-time 300), $httpd->tls_url('/cgi-bin/heavy?id=left'));
    $httpd->zone_becomes($zone, 'a stream waits', Queued => 1);
    kill KILL => $curl;
    waitpid $curl, 0;
    $httpd->zone_becomes($zone, 'its client dies: it leaves the queue', Queued => 0, Gone => 1);
    $httpd->serves('go', 'the running requests get their response', @hold);
    is scalar(grep { $_ eq 'start left' } $httpd->record), 0, 'its program never started';
    is $watch->most, $limit, "at most $limit programs run concurrently";
}

# Streams run in threads of mod_http2, which waiting ones must not take all.
sub threads_are_left {
    my $httpd = start_httpd(workers => 40, tls => 1, http2 => 1, conf => join '',
        "H2MinWorkers 8\n",
        "H2MaxWorkers 8\n",
        location($zone, 'MaxConcurrent 1', 'AdmissionQueue 20'));
    $httpd->expect_in_log(qr/admission:warn.*ADM0115: .*\b6 HTTP\/2 streams/);
    $httpd->expect_rejections("test.example:$zone", 'reserve');

    my ($hold) = $httpd->fill($zone, 'go', 1);
    my $h2load = start_program(qw(h2load -n 20 -c 5 -m 4), $httpd->tls_url('/cgi-bin/heavy'));
    # Not all of them at once: mod_http2 holds some back itself.
    my $seen;
    wait_for {
        $seen = $httpd->zone($zone);
        $seen->{Queued} >= 6 && $seen->{RejectedReserve} > 0;
    } 'of 20 streams some wait, others are rejected';
    cmp_ok $seen->{Queued}, '<=', 2 * 6, 'each of two children leaves a quarter of its threads';
    $httpd->serves('go', 'the running request gets its response', $hold);
    $httpd->zone_becomes($zone, 'waiting requests run, and the zone becomes idle', Active => 0, Queued => 0,
                         RejectedTimeout => 0);
    waitpid $h2load, 0;
}

# On 25 workers, of which 6 are reserved. Workers are released, however their streams end.
sub connections_leave_workers {
    my ($limit, $free) = (2, 19);
    my $httpd = new_parking_httpd(threads => 25, http2 => 1, conf =>
        location($zone, "MaxConcurrent $limit", 'AdmissionQueue 100 timeout=60s'));
    $httpd->expect_rejections("test.example:$zone", 'HTTP/2 connection.*MaxRequestWorkers')->start;
    my $load = sub {
        my ($streams, $connections) = @_;
        return start_program(qw(h2load -T 60 -N 60 -n), $streams, '-c', $connections,
                             '-m', $streams / $connections, $httpd->url("${zone}heavy?id=stream"));
    };
    my $is_left = sub {
        my ($what, $active) = @_;
        $httpd->zone_becomes($zone, $what, Active => $active, Queued => 0);
        server_becomes($httpd, '... no worker is left', AdmissionRunning => $active,
                       AdmissionBlocked => 0, AdmissionReserveFree => $free - $active);
    };

    # A connection stays free beside those that the parked request and 18 busy workers take.
    my ($wait, @clients) = ($free - $limit - 1, $httpd->fill($zone, 'go', $limit, 1));
    my $h2load = $load->(30, 30);
    $httpd->zone_becomes($zone, 'streams wait while workers are left for others',
                         Active => $limit, Queued => 1 + $wait, RejectedParking => 30 - $wait);
    server_becomes($httpd, '... a worker for each connection', AdmissionReserveFree => 1,
                   AdmissionRunning => $limit + $wait, AdmissionBlocked => $wait,
                   AdmissionParked => 1);
    is_deeply statuses(map { $httpd->get('/static.txt') } 1 .. 20), { 200 => 20 },
        'static files are served meanwhile';
    is $httpd->zone($zone)->{Queued}, 1 + $wait, '... while all of them wait';
    $httpd->serves('go', 'a parked request finds a worker in its turn', @clients);
    waitpid $h2load, 0;
    $is_left->('so do all others', 0);
    $httpd->zone_becomes($zone, '... each once', RejectedTimeout => 0, Admitted => 1 + $limit + $wait);

    my $line = sub {
        my ($gate, $streams, $connections) = ($_[0], 40, 10);
        my @hold = $httpd->fill($zone, $gate, $limit);
        my $h2load = $load->($streams, $connections);
        $httpd->zone_becomes($zone, '... streams wait', Queued => $streams);
        server_becomes($httpd, '... with a worker for each connection',
                       AdmissionRunning => $limit + $connections, AdmissionBlocked => $streams);
        return ($h2load, @hold);
    };
    ($h2load, my @hold) = $line->('gone');
    kill KILL => $h2load;
    waitpid $h2load, 0;
    $is_left->('the clients have died', $limit);
    $httpd->open_gate('gone');
    answers(@hold);
    $is_left->('the rest has run', 0);

    ($h2load, @hold) = $line->('graceful');
    $httpd->graceful;
    $httpd->open_gate('graceful');
    waitpid $h2load, 0;
    answers(@hold);
    $is_left->('the old child has served them', 0);

    ($h2load) = $line->('killed');
    kill KILL => $_ for $httpd->children;
    kill TERM => $h2load;
    waitpid $h2load, 0;
    $httpd->open_gate('killed');
    $is_left->('the child was killed', 0);
}

for_each_combo($_, qw(worker+cgid event+cgid event+cgi)) for \&streams_fill_the_queue, \&threads_are_left;
for_each_parking_combo(\&connections_leave_workers);

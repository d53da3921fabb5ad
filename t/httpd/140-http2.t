# HTTP/2: every stream is a request of its own, and waits like one.

use AdmissionTest;

plan skip_all => 'h2load is not installed (package nghttp2-client)'
    if system('h2load --version >/dev/null 2>&1') != 0;
needs_modules('http2');
plan skip_all => 'curl has no HTTP/2' if `curl -V` !~ /HTTP2/;

my @combos = qw(worker+cgid event+cgid event+cgi);
my ($limit, $connections, $streams) = (4, 4, 10);
my $requests = $connections * $streams;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 100, tls => 1, http2 => 1, conf => join '',
        "H2MinWorkers 100\n",
        "H2MaxWorkers 100\n",
        location('/cgi-bin/', "MaxConcurrent $limit", "AdmissionQueue $requests"));

    my $url = $httpd->tls_url('/cgi-bin/heavy?ms=50');
    my $watch = $httpd->watch;
    my $report = `h2load -n $requests -c $connections -m $streams '$url' 2>&1`;
    like $report, qr/Application protocol: h2\b/, 'h2load speaks HTTP/2';
    like $report, qr/status codes: $requests 2xx, 0 3xx, 0 4xx, 0 5xx/,
        "all $requests streams are answered";
    is $watch->most, $limit, "$limit programs ran at once, never more";
    $httpd->zone_becomes('/cgi-bin/', 'all permits are back', Active => 0,
                         Queued => 0, Admitted => $requests);

    my @hold = map { $httpd->ask("/cgi-bin/heavy?id=hold$_&until=go") }
                   1 .. $limit;
    $httpd->zone_becomes('/cgi-bin/', 'the zone is full', Active => $limit);
    my $curl = start_program(qw(curl -sk --http2 --max-time 30),
                             $httpd->tls_url('/cgi-bin/heavy?id=left'));
    $httpd->zone_becomes('/cgi-bin/', 'a stream waits', Queued => 1);
    kill KILL => $curl;
    waitpid $curl, 0;
    $httpd->zone_becomes('/cgi-bin/', 'its client dies: it leaves the queue',
                         Queued => 0, Gone => 1);
    $httpd->open_gate('go');
    is_deeply statuses(answers(@hold)), { 200 => $limit }, 'the others end well';
    is scalar(grep { $_ eq 'start left' } $httpd->record), 0, 'its program never started';
    $httpd->stop;
}, @combos);

# Streams run in threads of mod_http2, which waiting ones must not take all.
for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, tls => 1, http2 => 1, conf => join '',
        "H2MinWorkers 8\n",
        "H2MaxWorkers 8\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 20'));
    $httpd->expect_in_log(qr/admission:warn.*ADM0115: .*\b6 HTTP\/2 streams/);
    $httpd->expect_rejections('test.example:/cgi-bin/', 'reserve');

    my $hold = $httpd->ask('/cgi-bin/heavy?until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    my $h2load = start_program(qw(h2load -n 20 -c 5 -m 4), $httpd->tls_url('/cgi-bin/heavy'));
    # Not all of them at once: mod_http2 holds some back itself.
    my $zone;
    wait_for {
        $zone = $httpd->zone('/cgi-bin/');
        $zone->{Queued} >= 6 && $zone->{RejectedReserve} > 0;
    } 'of 20 streams some wait, others are rejected';
    cmp_ok $zone->{Queued}, '<=', 2 * 6, 'each of two children leaves a quarter of its threads';
    $httpd->open_gate('go');
    is $hold->answer->{status}, 200, 'the first ends well';
    $httpd->zone_becomes('/cgi-bin/',
                         'waiting requests run, and the zone becomes idle',
                         Active => 0, Queued => 0, RejectedTimeout => 0);
    waitpid $h2load, 0;
    $httpd->stop;
}, @combos);

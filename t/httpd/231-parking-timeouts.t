# Timeouts of the line and of the server: a wait may be longer than Timeout, and
# one that is too long for the line ends with the rejection, never silently.

use AdmissionTest;
use List::Util qw(sum0);
use Time::HiRes qw(time);

my $name = 'test.example:/cgi-bin/';

for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(tls => 1, conf => <<'CONF' . join '',
Timeout 4
LogLevel info mpm_event:trace1
# The programs that hold permits are silent for longer.
CGIDScriptTimeout 60
CONF
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50 timeout=5s'),
        location('/cgi-bin/patient', 'MaxConcurrent 1', 'AdmissionQueue 50 timeout=30s'));
    $httpd->expect_rejections($name, 'long')->start;

    # Two lines that are longer than Timeout: one will be granted, one will not.
    my ($hold) = ask_line($httpd, 'go', 0, '/cgi-bin/');
    my $patient = $httpd->ask('/cgi-bin/patient?id=patient&until=granted');
    $httpd->zone_becomes('/cgi-bin/patient', 'another zone is full', Active => 1);
    my @granted = map { $httpd->ask('/cgi-bin/patient?id=granted', keep => 1) } 1 .. 10;
    $httpd->zone_becomes('/cgi-bin/patient', 'ten wait', Queued => 10);
    my $began = time;
    my @late = map { $httpd->ask('/cgi-bin/heavy?id=late', keep => 1) } 1 .. 20;
    open my $late_tls, '-|', qw(curl -sk --max-time 300 -w %{http_code}),
                       $httpd->tls_url('/cgi-bin/heavy?id=late') or die "curl: $!\n";
    $httpd->zone_becomes('/cgi-bin/', 'twenty and one over TLS wait', Queued => 21);

    my @answers = answers(@late);
    is_deeply statuses(@answers), { 503 => 20 }, 'after 5 s, with Timeout 4: all are rejected';
    my @waited = sort { $a <=> $b } map { $_->{at} - $began } @answers;
    cmp_ok $waited[0], '>=', 5, '... none before its time';
    cmp_ok $waited[0], '<', 6, '... the first not much later' if !is_machine_busy();
    # Error pages are served one after the other.
    cmp_ok $waited[-1], '<', $ENV{ADMISSION_TIMED} ? 6 : 10, '... nor the last' if !is_machine_busy();
    is_deeply [ grep { ($_->{headers}{'retry-after'} // '') !~ /^\d+$/ } @answers ], [],
        '... each with Retry-After';
    like join('', readline $late_tls), qr/503$/, '... also over TLS';
    $httpd->zone_becomes('/cgi-bin/', 'they are counted', Active => 1, Queued => 0,
                         RejectedTimeout => 21, Gone => 0);

    server_becomes($httpd, 'the patient are still parked', AdmissionParked => 10,
                   AdmissionBlocked => 0);
    $httpd->open_gate($_) for qw(go granted);
    is_deeply statuses(answers($hold, $patient)), { 200 => 2 }, 'earlier requests end well';
    @answers = answers(@granted);
    is_deeply statuses(@answers), { 200 => 10 }, 'they are answered';
    # The one that found no worker within half of Timeout is told that its connection ends.
    my @kept = grep { ($answers[$_]{headers}{connection} // '') ne 'close' } 0 .. 9;
    cmp_ok scalar(@kept), '>', 0, '... on connections that are kept';
    # One by one: event closes kept connections while all workers are busy, and says so.
    my @next = map { $_->ask('/static.txt', keep => 1)->answer } @granted[@kept];
    my @cut = grep { $_->{status} == 0 } @next;
    my $cut_by_event = sum0 map { /will (?:close|shutdown) (\d+) keep-alive/ } $httpd->error_log;
    is_deeply [ grep { $_->{status} && $_->{body} ne "static\n" } @next ], [],
        '... and serve the next request';
    cmp_ok scalar(@next), '>', scalar(@cut), '... some of them at least';
    cmp_ok scalar(@cut), '<=', $cut_by_event, '... all except those that event closed itself';
    is_deeply [ grep { / late/ } $httpd->record ], [], 'no program ran for rejected requests';
    $httpd->access_log_becomes('the access log shows which requests gave up, and when',
                               qr/^503 .*id=late .*status=timeout wait=(?:[5-9]|\d\d)\d{3} /, 21);
}, 'event+cgid', 'event+cgid+completion');

# The MPM takes the Timeout of a virtual host only if that has a
# KeepAliveTimeout of its own.
for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(conf => join '',
        "Timeout 30\n",
        virtual_host('test.example'),
        virtual_host('impatient.example', 'Timeout 1', 'KeepAliveTimeout 5'),
        virtual_host('other.example', 'Timeout 1'),
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50 timeout=2s'));
    $httpd->expect_rejections($name, 'long')->start;
    my ($hold) = ask_line($httpd, 'go', 0, '/cgi-bin/');
    my @clients = map {
        my $client = $httpd->connect->send("GET /cgi-bin/heavy?id=$_ HTTP/1.1\r\n"
                                           . "Host: $_.example\r\n\r\n");
        $httpd->zone_becomes('/cgi-bin/', "one waits at $_.example", Active => 1);
        $client;
    } qw(test impatient other);
    is_deeply statuses(answers(@clients)), { 503 => 3 },
        'each waits as long as its timeout, and is rejected';
    $httpd->zone_becomes('/cgi-bin/', 'no client was taken for disconnected', Gone => 0,
                         RejectedTimeout => 3);
    $httpd->serves('go', 'the first ends well', $hold);
});

# All workers are busy for longer than Timeout: nobody can be told in time, but
# everybody is told.
for_each_parking_combo(sub {
    my $threads = 4;
    my $httpd = new_parking_httpd(threads => $threads, conf => join '',
        "Timeout 1\n",
        "CGIDScriptTimeout 60\n",
        "AdmissionReserve 0\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50 timeout=800ms'),
        location('/cgi-bin/free', 'MaxConcurrent off'));
    $httpd->expect_rejections($name, 'long')->start;
    my ($hold) = ask_line($httpd, 'go', 0, '/cgi-bin/');
    my @clients = map { $httpd->ask("/cgi-bin/heavy?id=late") } 1 .. 20;
    wait_for { my $zone = $httpd->zone('/cgi-bin/'); $zone->{Queued} + $zone->{RejectedTimeout} == 20 } 'twenty wait';
    my @busy = map { $httpd->ask('/cgi-bin/free?id=busy&ms=2500') } 2 .. $threads;
    is_deeply statuses(answers(@clients)), { 503 => 20 }, 'each of them is rejected';
    is_deeply statuses(answers(@busy)), { 200 => $threads - 1 }, 'all workers were busy';
    $httpd->zone_becomes('/cgi-bin/', 'no request remains', Queued => 0, Gone => 0);
    server_becomes($httpd, '... parked', AdmissionParked => 0, AdmissionBlocked => 0);
    $httpd->serves('go', 'the first ends well', $hold);
    is_deeply [ grep { /start late/ } $httpd->record ], [], 'no program ran for the others';
});

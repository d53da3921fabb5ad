# ?ready of the status page: a load balancer takes a server away that rejects new requests
# or keeps them waiting for longer than their target, and gives it back afterwards.

use AdmissionTest;

my $full = 'test.example:/cgi-bin/full/';
my $late = 'test.example:/cgi-bin/late/';

# What is answered: status and line.
sub ready {
    my ($httpd, $more) = @_;
    my $answer = $httpd->get('/control?ready' . ($more // ''));
    is $answer->{headers}{'cache-control'}, 'no-store', 'nothing may store the answer';
    return "$answer->{status} $answer->{body}";
}

sub mode {
    my ($httpd, $zone, $mode) = @_;
    is $httpd->order('/control', "zone=$zone&mode=$mode")->{status}, 200, "$zone: $mode";
}

for_each_combo(sub {
    my $httpd = start_httpd(workers => 40, conf =>
        location('/control', 'SetHandler admission-control')
        . location('/cgi-bin/full/', 'MaxConcurrent 1', 'AdmissionQueue 1')
        . location('/cgi-bin/late/', 'MaxConcurrent 1', 'AdmissionQueue 20 target=300ms')
        . location('/cgi-bin/dry/', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionDryRun On'));
    is ready($httpd), "200 ready\n", 'an idle server is ready';

    my @clients = $httpd->fill('/cgi-bin/full/', 'full', 1);
    is ready($httpd), "200 ready\n", 'one more could wait';
    push @clients, $httpd->ask('/cgi-bin/full/heavy?until=full');
    $httpd->zone_becomes($full, 'one waits', Active => 1, Queued => 1);
    is ready($httpd), "503 full: $full\n", 'a further one would be rejected';
    is ready($httpd, "&zone=$full"), "503 full: $full\n", '... in this zone';
    is ready($httpd, "&zone=$late"), "200 ready\n", '... not in another one';
    mode($httpd, $full, 'pause');
    $httpd->open_gate('full');
    wait_for { $httpd->zone($full)->{Active} == 0 } 'a paused zone runs nothing';
    is ready($httpd), "200 ready\n", '... and lets requests wait';
    mode($httpd, $full, 'open');
    is_deeply statuses(answers(@clients)), { 200 => 2 }, 'both are served';
    $httpd->zone_becomes($full, 'nothing runs', Active => 0);
    is ready($httpd), "200 ready\n", 'ready again';

    @clients = $httpd->fill('/cgi-bin/late/', 'late', 1, 1);
    wait_for { $httpd->zone($late)->{OldestWaitMs} > 300 } '... for longer than the target';
    is ready($httpd), "503 late: $late\n", 'not ready';
    is ready($httpd, "&zone=$full"), "200 ready\n", '... but for another zone';
    $httpd->serves('late', 'both are served', @clients);
    wait_for { ready($httpd) eq "200 ready\n" } 'ready again';

    @clients = $httpd->fill('/cgi-bin/dry/', 'dry', 1);
    is ready($httpd), "200 ready\n", 'a dry run rejects nothing';
    $httpd->serves('dry', '... and ends', @clients);

    mode($httpd, $late, 'drain');
    is ready($httpd), "503 drain: $late\n", 'an administrator drains a zone';
    mode($httpd, $late, 'open');
    is ready($httpd), "200 ready\n", '... and opens it';
    is $httpd->get('/control?ready&zone=none')->{status}, 404, 'a zone that is not there';
    $httpd->expect_in_log(qr/ADM0207/);
}, 'prefork+cgi', 'event+cgid');

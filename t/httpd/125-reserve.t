# Static pages beside a full queue: waiting requests never take the last workers, and who
# finds no worker to wait in is told so. The reserve as a number is the same as that share
# of the workers, also for what blocks where others park. One that leaves zones no worker
# is refused.

use AdmissionTest;

my ($zone, $workers, $limit, $clients) = ('/cgi-bin/', 40, 4, 120);

for_each_combo(sub {
    my $httpd = new_httpd(workers => $workers);
    my $limited = "AdmissionParking Off\n" . location('/', "MaxConcurrent $limit");

    for my $refused ($workers, $workers + 1, 5000) {
        $httpd->configure("AdmissionReserve $refused\n$limited");
        my ($status, $output) = $httpd->configtest;
        isnt $status, 0, "configtest refuses a reserve of $refused of $workers";
        like $output, qr/ADM0106: AdmissionReserve $refused \(\S+:1\) .*\b40;.* 0 to 39 or /,
            '... and names the line and what is allowed';
    }
    # The default queue is longer than the workers that are left for it, and so can the limit be.
    $httpd->expect_in_log(qr/admission:warn.*ADM0105: .*\b100\b/)->expect_rejections('test.example:/', 'reserve');
    $httpd->allow_in_log(qr/admission:warn.*ADM0104: /);
    for my $reserve ($workers / 4, 39) { # the default of 25 %, and all but one
        my ($in, $out) = ($workers - $reserve, $clients - $workers + $reserve);
        my $running = $in < $limit ? $in : $limit;

        $httpd->configure(($reserve == 39 ? "AdmissionReserve 39\n" : '') . $limited);
        $httpd->start;
        is $httpd->status->{AdmissionReserve}, $reserve, "$reserve workers are reserved";
        my @heavy = map { $httpd->ask("${zone}heavy?id=$_&until=go$reserve") } 1 .. $clients;
        wait_for_answers($out, @heavy);
        $httpd->zone_becomes('/', "$in are in, the others rejected", Active => $running,
                             Queued => $in - $running, RejectedReserve => $out);
        is_deeply statuses(map { $httpd->get('/static.txt') } 1 .. 100), { 200 => 100 },
            'a hundred static requests pass, one after the other';
        is_deeply statuses(answers(map { $httpd->ask('/static.txt') } 1 .. $reserve)), { 200 => $reserve },
            'and as many concurrently as workers are reserved';

        $httpd->open_gate("go$reserve");
        my @answers = answers(@heavy);
        is_deeply statuses(@answers), { 200 => $in, 503 => $out },
            'admitted requests get their response, the others 503';
        is_deeply [ grep { ($_->{headers}{'retry-after'} // '') !~ /^\d+$/ }
                    grep { $_->{status} == 503 } @answers ], [],
            'each of them with a whole number in Retry-After';
        $httpd->comes_to_rest->stop;
    }
});

# What is made instead of an error cannot park.
for_each_combo(sub {
    for my $half ('50%', 10) {
        my $httpd = new_httpd(workers => 20);
        mkdir "$httpd->{dir}/docs/app";
        $httpd->configure(join '',
            "AdmissionReserve $half\n",
            section("Directory $httpd->{dir}/docs/app", 'ErrorDocument 404 /cgi-bin/heavy?until=go'),
            location($zone, 'MaxConcurrent 1', 'AdmissionQueue 8'));
        $httpd->start;
        my @clients = map { $httpd->ask("/app/missing?id=$_") } 1 .. 5;
        $httpd->zone_becomes($zone, "half of the workers, said as $half, may wait",
                             Active => 1, Queued => 4, RejectedReserve => 0);
        is $httpd->status->{AdmissionBlocked}, 4, '... and do';
        $httpd->open_gate('go');
        is_deeply statuses(answers(@clients)), { 404 => 5 }, 'all requests get their response';
        $httpd->stop;
    }
}, 'event+cgid');

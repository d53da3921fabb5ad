# The reserve as a number is the same as that share of the workers, also for what
# blocks where others park. One that leaves zones no worker is refused.

use AdmissionTest;

my $zone = '/cgi-bin/';

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = new_httpd(combo => $combo, workers => 40);
    my $limited = "<Location $zone>\nMaxConcurrent 4\nAdmissionQueue 0\n</Location>\n";

    for my $reserve (40, 41, 5000) {
        $httpd->configure("AdmissionReserve $reserve\n$limited");
        my ($status, $output) = $httpd->configtest;
        isnt $status, 0, "configtest refuses a reserve of $reserve of 40";
        like $output, qr/ADM0106: AdmissionReserve $reserve \(\S+:1\) .*\b40;.* 0 to 39 or /,
            '... and says where it stands and what is allowed';
    }
    $httpd->configure("AdmissionReserve 39\n$limited");
    $httpd->allow_in_log(qr/admission:warn.*ADM0104: /)->start;
    $httpd->expect_rejections("test.example:$zone", 'reserve');
    is $httpd->status->{AdmissionReserveFree}, 1, 'all but one in reserve: one is free';
    my $first = $httpd->ask("${zone}heavy?until=go");
    $httpd->zone_becomes($zone, '... and is used', Active => 1);
    is_deeply statuses(answers(map { $httpd->ask("${zone}heavy") } 1 .. 3)), { 503 => 3 },
        '... by one request';
    $httpd->zone_becomes($zone, '... for that reason', RejectedReserve => 3);
    is $httpd->get('/static.txt')->{status}, 200, '... but files are served';
    $httpd->open_gate('go');
    is $first->answer->{status}, 200, 'the request is answered';
    $httpd->stop;
});

# What is made instead of an error cannot park.
for my $reserve ('50%', 10) {
    for_each_combo(sub {
        my ($combo) = @_;
        my $httpd = new_httpd(combo => $combo, workers => 20);
        mkdir "$httpd->{dir}/docs/app";
        $httpd->configure(<<"CONF" .
AdmissionReserve $reserve
<Directory $httpd->{dir}/docs/app>
    ErrorDocument 404 /cgi-bin/heavy?until=go
</Directory>
CONF
            location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 8'));
        $httpd->start;
        my @clients = map { $httpd->ask("/app/missing?id=$_") } 1 .. 5;
        $httpd->zone_becomes($zone, "half of the workers, said as $reserve, may wait",
                             Active => 1, Queued => 4, RejectedReserve => 0);
        is $httpd->status->{AdmissionBlocked}, 4, '... and do';
        $httpd->open_gate('go');
        is_deeply statuses(answers(@clients)), { 404 => 5 }, 'all are answered';
        $httpd->stop;
    }, 'event+cgid');
}

# The reserve as a number is the same as that share of the workers, also for what
# blocks where others park; and one above all workers leaves zones none.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

my $zone = '/cgi-bin/';

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, conf => <<'CONF');
AdmissionReserve 41
<Location /cgi-bin/>
    MaxConcurrent 30
    AdmissionQueue 0
</Location>
CONF
    $httpd->expect_in_log(qr/admission:warn.*ADM0106: .*\b40\b/)
          ->expect_rejections('test.example:/cgi-bin/', 'reserve');
    is $httpd->status->{AdmissionReserveFree}, 0, 'more than all in reserve: none is free';
    is_deeply statuses(answers(map { $httpd->ask('/cgi-bin/heavy') } 1 .. 6)), { 503 => 6 },
        '... and nobody runs';
    $httpd->zone_becomes($zone, '... for that reason', Active => 0, RejectedReserve => 6);
    is $httpd->get('/static.txt')->{status}, 200, '... but files are served';
    $httpd->stop;
});

# What is made instead of an error cannot park.
for my $reserve ('50%', 10) {
    for_each_combo(sub {
        my ($combo) = @_;
        my $httpd = new_httpd(combo => $combo, workers => 20);
        mkdir "$httpd->{dir}/docs/app";
        $httpd->configure(<<"CONF");
AdmissionReserve $reserve
<Directory $httpd->{dir}/docs/app>
    ErrorDocument 404 /cgi-bin/heavy?until=go
</Directory>
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 8
</Location>
CONF
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

done_testing;

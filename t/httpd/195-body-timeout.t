# RequestReadTimeout holds for a body that is read before its request asks for a permit,
# also on event, where no worker waits for it.

use AdmissionTest;
use AdmissionTest::Parking;
use Time::HiRes qw(sleep);

sub begins {
    my ($httpd) = @_;
    return $httpd->ask('/cgi-bin/heavy', method => 'POST', headers => ['Content-Length: 1000000'])->send('abc');
}

# The same over TLS: curl waits for the rest of its body until all is over.
sub begins_over_tls {
    my ($httpd) = @_;
    my $url = $httpd->tls_url('/cgi-bin/heavy');
    open my $curl, '-|', '(printf abc; exec sleep 6)'
        . " | curl -sk --http1.1 -H Expect: -X POST -T - -o /dev/null -w '%{http_code}' $url" or die "curl: $!\n";
    return $curl;
}

# Clients give up after 30 seconds.
for_each_combo(sub {
    my ($combo) = @_;
    my $is_event = $combo->{mpm} eq 'event';
    my $httpd = start_httpd(workers => 20, tls => 1, modules => ['reqtimeout'],
                            conf => join '',
        "Timeout 100\n",
        "RequestReadTimeout header=20-40,minrate=500 body=2-4,minrate=500\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'));
    $httpd->expect_in_log(qr/AH01382: Request body read timeout/)
          ->allow_in_log(qr/ADM0214|AH01567|\[ssl:/);
    my ($silent, $slow) = map { begins($httpd) } 1, 2;
    my $over_tls = begins_over_tls($httpd);
    server_becomes($httpd, 'three bodies have begun, without a worker', AdmissionTransfers => 3)
        if $is_event;
    # Faster than the rate, but not for as long as the body takes.
    for (1 .. 300) {
        last if $slow->has_begun;
        $slow->send('x' x 200);
        sleep 0.1;
    }
    is $slow->answer->{status}, 408, 'a client that sends too slowly is told so';
    is $silent->answer->{status}, 408, 'a client that sends nothing as well';
    is readline $over_tls, 408, '... over TLS';
    server_becomes($httpd, 'nothing is left', AdmissionTransfers => 0, AdmissionSpooled => 0);
    is_deeply [ $httpd->record ], [], 'no program ran';
    $httpd->stop;

    # Timeout holds for those whom the limit lets be silent for longer.
    $httpd = start_httpd(workers => 20, modules => ['reqtimeout'], conf => join '',
        "Timeout 2\n",
        "RequestReadTimeout body=100\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'));
    $httpd->allow_in_log(qr/ADM0214|AH01567/);
    is begins($httpd)->answer->{status}, 408, 'Timeout holds as well';
}, 'worker+cgid', 'event+cgid', 'event+cgid+completion');

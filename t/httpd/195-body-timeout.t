# RequestReadTimeout holds for a body that is read before its request asks for a permit,
# also on event, where no worker waits for it.

use AdmissionTest;
use AdmissionTest::Parking;
use IPC::Open2;
use Time::HiRes qw(sleep);

my $request = join "\r\n", 'POST /cgi-bin/heavy?id=silent HTTP/1.1', 'Host: test.example',
                           'Connection: close', 'Content-Length: 1000000', '', 'abc';

# Sends the same over TLS, and nothing more.
sub silent_over_tls {
    my ($httpd) = @_;
    my $pid = open2(my $out, my $in, 'openssl', 's_client', '-quiet', '-connect',
                    "127.0.0.1:$httpd->{tls_port}");
    print $in $request;
    $in->flush;
    return { pid => $pid, in => $in, out => $out };
}

sub first_line {
    my ($client) = @_;
    local $SIG{ALRM} = sub { kill TERM => $client->{pid} };
    alarm 30;
    my $line = readline $client->{out};
    alarm 0;
    kill TERM => $client->{pid};
    waitpid $client->{pid}, 0;
    return $line // '(nothing)';
}

# Clients give up after 30 seconds.
for_each_combo(sub {
    my ($combo) = @_;
    my $is_event = $combo->{mpm} eq 'event';
    open my $stderr, '>&', \*STDERR;
    open STDERR, '>', '/dev/null'; # s_client tells of the certificate
    my $httpd = start_httpd(combo => $combo, workers => 20, tls => 1, modules => ['reqtimeout'],
                            conf => join '',
        "Timeout 100\n",
        "RequestReadTimeout header=20-40,minrate=500 body=2-4,minrate=500\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'));
    $httpd->expect_in_log(qr/AH01382: Request body read timeout/)
          ->allow_in_log(qr/ADM0214|AH01567|\[ssl:/);
    my $silent = $httpd->connect->send($request);
    my $over_tls = silent_over_tls($httpd);
    my $slow = $httpd->connect->send($request);
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
    like first_line($over_tls), qr{^HTTP/1\.1 408 }, '... over TLS';
    open STDERR, '>&', $stderr;
    server_becomes($httpd, 'nothing is left', AdmissionTransfers => 0, AdmissionSpooled => 0);
    is_deeply [ $httpd->record ], [], 'no program ran';
    $httpd->stop;

    # Timeout holds for those whom the limit lets be silent for longer.
    $httpd = start_httpd(combo => $combo, workers => 20, modules => ['reqtimeout'], conf => join '',
        "Timeout 2\n",
        "RequestReadTimeout body=100\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'));
    $httpd->allow_in_log(qr/ADM0214|AH01567/);
    is $httpd->connect->send($request)->answer->{status}, 408, 'Timeout holds as well';
    $httpd->stop;
}, 'worker+cgid', 'event+cgid', 'event+cgid+completion');

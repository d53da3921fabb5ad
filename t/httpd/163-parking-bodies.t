# Requests with bodies are parked before anybody reads them, where AdmissionSpool is
# off; the bodies arrive whole, however they are sent and whenever.

use AdmissionTest;
use AdmissionTest::Parking;

my $zone  = '/cgi-bin/';
my $large = 4_000_000;    # more than sockets hold

sub post {
    my ($httpd, $id, @headers) = @_;
    return $httpd->ask("/cgi-bin/heavy?id=$id", method => 'POST', headers => \@headers);
}

sub length_of { map { $_->{body} =~ /^body (\d+)$/m ? $1 : "status $_->{status}" } @_ }

# curl with a file as the body: what the program counted of it.
sub post_file {
    my ($file, $url, @options) = @_;
    open my $pipe, '-|', qw(curl -sk --max-time 30 --expect100-timeout 20 --data-binary),
                         "\@$file", @options, $url or die "curl: $!\n";
    return $pipe;
}

for_each_parking_combo(sub {
    # RequestReadTimeout: Debian and others set it, and a wait is not reading.
    my $httpd = start_parking_httpd(tls => 1, modules => ['reqtimeout'], conf => join '',
        "RequestReadTimeout header=5 body=1,MinRate=500\n",
        "AdmissionSpool request=off\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50'),
        location('/cgi-bin/short', 'AdmissionQueue 50 timeout=200ms', 'AdmissionZone short',
            'MaxConcurrent 1'));
    $httpd->expect_rejections('short', 'long');
    $httpd->put('large.txt', 'x' x $large);
    my $file = "$httpd->{dir}/docs/large.txt";

    my ($hold) = ask_line($httpd, 'bodies', 0, $zone);
    my @whole = map { $httpd->ask('/cgi-bin/heavy', method => 'POST', body => 'x' x $_) }
                    0, 1, 10_000, 300_000;
    my $chunked = post($httpd, 'chunked', 'Transfer-Encoding: chunked')->send("4\r\nabcd\r\n3\r\nabc\r\n0\r\n\r\n");
    $httpd->zone_becomes($zone, 'requests with whole bodies wait', Queued => @whole + 1);
    my @late = (
        [ sized     => [ 'Content-Length: 10' ], '123' ],
        [ chunks    => [ 'Transfer-Encoding: chunked' ], "4\r\nab" ],
        [ announced => [ 'Content-Length: 6', 'Expect: 100-continue' ], '' ],
    );
    my %late;
    for (@late) {
        my ($name, $headers, $begin) = @$_;
        $late{$name} = post($httpd, $name, @$headers)->send($begin);
        $httpd->zone_becomes($zone, "one with less than its body waits ($name)",
                             Queued => @whole + 1 + keys %late);
    }
    my $hasty = $httpd->ask('/cgi-bin/heavy?id=hasty', method => 'POST', headers => ['Expect: 100-continue'],
                            body => 'hasty');
    my $url = '/cgi-bin/heavy?id=curl';
    my @curl = map { my $to = $httpd->$_($url);
                     map { post_file($file, $to, '-H', $_) } 'Expect:', 'Expect: 100-continue' } 'url', 'tls_url';
    my $waiters = @whole + @curl + 5;
    $httpd->zone_becomes($zone, 'requests with bodies wait', Queued => $waiters);
    server_becomes($httpd, '... parked', AdmissionParked => $waiters, AdmissionBlocked => 0);

    $late{sized}->send('4567');
    $late{chunks}->send("cd\r\n");
    wait_for { $httpd->zone($zone)->{OldestWaitMs} > 1500 }
        'they wait longer than mod_reqtimeout permits a client to send';
    server_becomes($httpd, 'more of a body does not wake them',
                   AdmissionParked => $waiters, AdmissionBlocked => 0);
    ok !$late{announced}->has_begun, 'no client is asked for a body before there is a permit';
    $httpd->serves('bodies', 'the running request gets its response', $hold);

    is_deeply [ length_of(answers(@whole, $chunked)) ], [ 0, 1, 10_000, 300_000, 7 ],
        'bodies sent together with the headers arrive';
    my %rest = (sized => '890', chunks => "0\r\n\r\n", announced => 'abcdef');
    for my $name (qw(sized chunks announced)) {
        wait_for { grep { $_ eq "start $name" } $httpd->record } "then one runs ($name)";
        if ($name eq 'announced') {
            wait_for { $late{$name}->has_begun } '... and is asked for its body';
            like $late{$name}{buffer}, qr{^HTTP/1\.1 100 }, '... with 100 Continue';
        }
        $late{$name}->send($rest{$name});
    }
    is_deeply [ length_of(answers(@late{qw(sized chunks announced)}, $hasty)) ],
        [ 10, 4, 6, 5 ], 'late, announced and hastily sent bodies arrive';
    for my $how ('plain', 'plain, announced', 'TLS', 'TLS, announced') {
        is_deeply [ map { /^body (\d+)$/ ? $1 : () } readline shift @curl ], [$large],
            "$large bytes arrive ($how)";
    }

    # Who is rejected after the wait is never asked for the body.
    ($hold) = $httpd->ask('/cgi-bin/short?until=short');
    $httpd->zone_becomes('short', 'another zone is full', Active => 1);
    my $rejected = $httpd->ask('/cgi-bin/short', method => 'POST',
                               headers => [ 'Expect: 100-continue', 'Content-Length: 6' ]);
    wait_for { $rejected->has_begun } 'a client that announced its body is answered';
    like $rejected->{buffer}, qr{^HTTP/1\.1 503 }, '... with the rejection, not 100';
    my $unread = $httpd->ask('/cgi-bin/short', method => 'POST', body => 'x' x 300_000);
    is $unread->answer->{status}, 503, 'so is one that has sent it';
    $httpd->serves('short', 'the running request gets its response', $hold);

    is $httpd->zone($zone)->{Gone}, 0, 'no client is counted as disconnected';
});

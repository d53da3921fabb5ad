# Bodies are read before their requests ask for a permit: a client that sends slowly holds none,
# and on event no worker. RequestReadTimeout applies to it as without a limit.

use AdmissionTest;
use AdmissionTest::Parking;
use Time::HiRes qw(sleep);

my $zone = '/cgi-bin/';

sub post {
    my ($httpd, $path, @headers) = @_;
    return $httpd->ask("/cgi-bin/$path", method => 'POST', headers => \@headers);
}

sub length_of { return map { $_->{body} =~ /^body (\d+)$/m ? $1 : "status $_->{status}" } @_ }

# [ name, headers, what is sent at once, the rest, length ]
my @slow = (
    [ sized   => [ 'Content-Length: 10' ], '123', '4567890', 10 ],
    [ chunked => [ 'Transfer-Encoding: chunked' ], "4\r\nab", "cd\r\n3\r\nabc\r\n0\r\n\r\n", 7 ],
    [ large   => [ 'Content-Length: 200000' ], 'x' x 150_000, 'y' x 50_000, 200_000 ],
    [ long    => [ 'Content-Length: 3000000' ], 'x', 'y' x 2_999_999, 3_000_000 ],
);

sub begin_slowly {
    my ($httpd) = @_;
    return map { post($httpd, "heavy?id=$_->[0]", @{ $_->[1] })->send($_->[2]) } @slow;
}

sub arrives_whole {
    my ($httpd, @clients) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $clients[$_]->send($slow[$_][3]) for 0 .. $#slow;
    is_deeply [ length_of(answers(@clients)) ], [ map { $_->[4] } @slow ],
        'slow bodies arrive whole';
}

for_each_combo(sub {
    my ($combo) = @_;
    my $is_event = $combo->{mpm} eq 'event';
    my $httpd = start_httpd(workers => 20, modules => ['reqtimeout'], conf => join '',
        "RequestReadTimeout body=30\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'),
        location('/cgi-bin/small', 'LimitRequestBody 1000'),
        location('/cgi-bin/none', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionZone none'));
    $httpd->expect_in_log(qr/413|Requested content-length|LimitRequestBody|limit/);
    $httpd->expect_rejections('none', 'full');
    my @clients = begin_slowly($httpd);
    server_becomes($httpd, 'slow clients send', $is_event
        ? (AdmissionTransfers => scalar @slow, AdmissionRunning => 0, AdmissionParked => 0)
        : (AdmissionReserveFree => 15 - @slow));
    $httpd->zone_becomes($zone, '... and hold no permit, and no place in the queue', Active => 0, Queued => 0);
    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'other requests run';
    arrives_whole($httpd, @clients);

    my $announced = post($httpd, 'heavy?id=announced', 'Content-Length: 6', 'Expect: 100-continue');
    wait_for { $announced->has_begun } 'a client that announces its body is asked for it';
    like $announced->{buffer}, qr{^HTTP/1\.1 100 }, '... with 100 Continue';
    is_deeply [ length_of($announced->send('abcdef')->answer) ], [6], '... and it arrives';
    # It need not be asked for a body that has come with its header.
    my $eager = $httpd->connect;
    for my $id (qw(eager next)) {
        $eager->send("POST /cgi-bin/heavy?id=$id HTTP/1.1\r\nHost: test.example\r\n"
                     . "Expect: 100-continue\r\nContent-Length: 6\r\n\r\nabcdef"
                     . "GET /static.txt?$id HTTP/1.1\r\nHost: test.example\r\n\r\n");
    }
    is_deeply [ map { $_->{status} } map { $eager->answer } 1 .. 4 ], [ (200) x 4 ],
        'a body announced and sent immediately: the requests behind it get responses';
    is $httpd->get('/cgi-bin/small', method => 'POST', body => 'x' x 2000)->{status}, 413, 'LimitRequestBody holds';
    my $too_long = post($httpd, 'small', 'Content-Length: 2000', 'Expect: 100-continue');
    wait_for { $too_long->has_begun } 'a client that announces too long a body gets a response';
    like $too_long->{buffer}, qr{^HTTP/1\.1 413 }, '... and is not asked for it';

    my $hold = $httpd->ask('/cgi-bin/none?until=none');
    $httpd->zone_becomes('none', 'a zone is full', Active => 1);
    my $rejected = post($httpd, 'none', 'Expect: 100-continue', 'Content-Length: 6');
    wait_for { $rejected->has_begun } 'a request that would be rejected gets a response';
    like $rejected->{buffer}, qr{^HTTP/1\.1 503 }, '... and is not asked for a body';
    $httpd->serves('none', 'the running request gets its response', $hold);

    my $gone = post($httpd, 'heavy?id=gone', 'Content-Length: 10')->send('123');
    wait_for { $httpd->status->{AdmissionTransfers} == 1 } 'one more sends' if $is_event;
    $gone->leave;
    server_becomes($httpd, 'and leaves: nothing is left', AdmissionTransfers => 0,
                   AdmissionSpooled => 0, AdmissionRunning => 0, AdmissionReserveFree => 15);
    is scalar(grep { $_ eq 'start gone' } $httpd->record), 0, '... its program never started';
}, 'prefork+cgi', 'worker+cgid', 'event+cgid', 'event+cgid+completion');

sub starts { my ($httpd) = @_; return post($httpd, 'heavy', 'Content-Length: 1000000')->send('abc') }

# curl waits for the rest of the body until the story has ended.
sub starts_over_tls {
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
    my ($silent, $slow) = map { starts($httpd) } 1, 2;
    my $over_tls = starts_over_tls($httpd);
    server_becomes($httpd, 'three clients send their bodies, without a worker', AdmissionTransfers => 3)
        if $is_event;
    # Faster than the rate, but not for as long as the body takes.
    for (1 .. 300) {
        last if $slow->has_begun;
        $slow->send('x' x 200);
        sleep 0.1;
    }
    is $slow->answer->{status}, 408, 'a client that sends too slowly gets 408';
    is $silent->answer->{status}, 408, '... and so does a client that stops sending';
    is readline $over_tls, 408, '... over TLS';
    is_deeply [ $httpd->record ], [], 'no program ran';

    # RequestReadTimeout permits a longer pause than Timeout.
    $httpd = start_httpd(workers => 20, modules => ['reqtimeout'], conf => join '',
        "Timeout 2\n",
        "RequestReadTimeout body=100\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'));
    $httpd->allow_in_log(qr/ADM0214|AH01567/);
    is starts($httpd)->answer->{status}, 408, 'Timeout applies as well';
}, 'worker+cgid', 'event+cgid', 'event+cgid+completion');

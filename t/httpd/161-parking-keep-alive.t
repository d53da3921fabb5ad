# A connection outlives the wait of its requests: keep-alive, HTTP/1.0, TLS.

use AdmissionTest;
use AdmissionTest::Parking;

my $zone   = '/cgi-bin/';
my $rounds = 3;

for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(tls => 1, conf => join '',
        "MaxKeepAliveRequests 0\nTimeout 300\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50 timeout=300s'));

    # The same connections again and again; each round they all wait. They ask
    # one after the other: for a burst on connections that it keeps alive the
    # MPM must have a worker each, or it closes them.
    my $hold = $httpd->connect;
    my @line = map { $httpd->connect } 1 .. 20;
    for my $round (1 .. $rounds) {
        $hold->ask("/cgi-bin/heavy?id=hold&until=go$round", keep => 1);
        $httpd->zone_becomes($zone, 'one runs', Active => 1, Queued => 0);
        for (0 .. $#line) {
            $line[$_]->ask("/cgi-bin/heavy?id=$round-$_", keep => 1);
            $httpd->zone_becomes($zone, 'another one waits', Queued => $_ + 1);
        }
        server_becomes($httpd, '... parked', AdmissionParked => scalar @line,
                       AdmissionBlocked => 0);
        $httpd->open_gate("go$round");
        my (undef, @answers) = answers($hold, @line);
        is_deeply [ map { $_->{body} =~ /^heavy (\S+)/ } @answers ],
            [ map { "$round-$_" } 0 .. $#line ], "round $round: each gets its own answer";
    }
    is_deeply [ map { $_->ask('/static.txt', keep => 1)->answer->{body} } @line ],
        [ ("static\n") x @line ], 'then a file over each of the connections';
    $_->leave for $hold, @line;

    my ($running) = ask_line($httpd, 'old', 0, $zone);
    my %old = map { $_ => $httpd->connect } qw(closed kept);
    $old{closed}->send("GET /cgi-bin/heavy?id=closed HTTP/1.0\r\n\r\n");
    $old{kept}->send("GET /cgi-bin/heavy?id=kept HTTP/1.0\r\n" . "Connection: keep-alive\r\n\r\n");
    server_becomes($httpd, 'HTTP/1.0: two are parked', AdmissionParked => 2, AdmissionBlocked => 0);
    $httpd->serves('old', 'the running request gets its response', $running);
    like $old{closed}->answer->{body}, qr/^heavy closed$/m, 'HTTP/1.0 is answered';
    # A CGI's length is not known: then HTTP/1.0 cannot keep the connection.
    like $old{kept}->answer->{body}, qr/^heavy kept$/m, 'also if it asks for keep-alive';

    # curl tells how many connections it had to make for each transfer.
    my $tls_line = 10;
    my ($tls_hold) = ask_line($httpd, 'tls', 0, $zone);
    my @curl = map {
        my $heavy = $httpd->tls_url("/cgi-bin/heavy?id=tls$_");
        open my $pipe, '-|', qw(curl -sk --max-time 30 -w), '%{http_code}/%{num_connects}\n',
            "$heavy-1", "$heavy-2", $httpd->tls_url('/static.txt') or die "curl: $!\n";
        $pipe;
    } 1 .. $tls_line;
    server_becomes($httpd, "over TLS $tls_line are parked", AdmissionBlocked => 0,
                   AdmissionParked => $tls_line);
    $httpd->serves('tls', 'the running request gets its response', $tls_hold);
    is_deeply [ map { grep { m{^(?:heavy .*|static|\d+/\d+)$} } readline $_ } @curl ],
        [ map { ("heavy tls$_-1\n", "200/1\n", "heavy tls$_-2\n", "200/0\n",
                 "static\n", "200/0\n") } 1 .. $tls_line ],
        'each waits twice and gets a file over its one connection';

    is $httpd->zone($zone)->{Gone}, 0, 'no client is counted as disconnected';
}, 'event+cgid', 'event+cgid+completion');

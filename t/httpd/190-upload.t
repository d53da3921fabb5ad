# Bodies are read before their requests ask for a permit: a client that sends slowly holds none,
# and on event no worker. RequestReadTimeout applies to it as without a limit. With
# AdmissionSpool request=off they are read when the request runs, which waits parked. They arrive
# whole, however they are sent.

use AdmissionTest;
use IPC::Open2;
use Time::HiRes qw(sleep);

my $zone  = '/cgi-bin/';
my $large = 4_000_000;    # more than sockets hold

sub post {
    my ($httpd, $path, @headers) = @_;
    return $httpd->ask("/cgi-bin/$path", method => 'POST', headers => \@headers);
}

sub length_of { return map { $_->{body} =~ /^body (\d+)$/m ? $1 : "status $_->{status}" } @_ }

# [ name, headers, what is sent at once, later, in the end, length ]
my @slow = (
    [ sized   => [ 'Content-Length: 10' ], '123', '4567', '890', 10 ],
    [ chunked => [ 'Transfer-Encoding: chunked' ], "4\r\nab", "cd\r\n3\r\n", "abc\r\n0\r\n\r\n", 7 ],
    [ large   => [ 'Content-Length: 200000' ], 'x' x 150_000, 'y' x 10_000, 'z' x 40_000, 200_000 ],
    [ long    => [ 'Content-Length: 3000000' ], 'x', 'y', 'z' x 2_999_998, 3_000_000 ],
);
my @WHOLE = (0, 1, 10_000, 300_000, 7);

sub begin_slowly {
    my ($httpd) = @_;
    return map { post($httpd, "heavy?id=$_->[0]", @{ $_->[1] })->send($_->[2]) } @slow;
}

sub arrives_whole {
    my (@clients) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $clients[$_]->send($slow[$_][4]) for 0 .. $#slow;
    is_deeply [ length_of(answers(@clients)) ], [ map { $_->[5] } @slow ],
        'slow bodies arrive whole';
}

# One of each length, the last one in chunks.
sub whole_bodies {
    my ($httpd) = @_;
    return (map { $httpd->ask('/cgi-bin/heavy', method => 'POST', body => 'x' x $_) } @WHOLE[0 .. 3]),
        post($httpd, 'heavy', 'Transfer-Encoding: chunked')
            ->send("4\r\nabcd\r\n3\r\nabc\r\n0\r\n\r\n");
}

sub announce { return post($_[0], $_[1], 'Content-Length: 6', 'Expect: 100-continue') }

sub switches {
    my ($httpd) = @_;
    return eval join '+', 0, map { Admission::File::slurp($_) =~ /^voluntary_ctxt_switches:\s*(\d+)/m }
        map { glob "/proc/$_/task/*/status" } $httpd->children;
}

sub is_asked_for_its_body {
    my ($announced) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    wait_for { $announced->has_begun } 'a client that announces its body is asked for it';
    like $announced->{buffer}, qr{^HTTP/1\.1 100 }, '... with 100 Continue';
    is_deeply [ length_of($announced->send('abcdef')->answer) ], [6], '... and it arrives';
}

sub is_not_asked {
    my ($announced, $status) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    wait_for { $announced->has_begun } "$status: a client that announces its body gets a response";
    like $announced->{buffer}, qr{^HTTP/1\.1 $status }, '... and is not asked for it';
}

for_each_combo(sub ($combo) {
    my $is_event = $combo->{mpm} eq 'event';
    my $httpd = start_httpd(workers => 20, modules => ['reqtimeout'], conf => join '',
        "RequestReadTimeout body=30\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'),
        location('/cgi-bin/small', 'LimitRequestBody 1000'),
        location('/cgi-bin/none', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionZone none'));
    $httpd->expect_in_log(qr/Requested content-length of 2000 is larger than the configured limit of 1000/);
    $httpd->expect_rejections('none', 'full');
    my @clients = begin_slowly($httpd);
    server_becomes($httpd, 'slow clients send', $is_event
        ? (AdmissionTransfers => scalar @slow, AdmissionRunning => 0, AdmissionParked => 0)
        : (AdmissionReserveFree => 15 - @slow));
    $httpd->zone_becomes($zone, '... and hold no permit, and no place in the queue', Active => 0, Queued => 0);
    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'other requests run';
    my $before = switches($httpd);
    sleep 0.5;
    cmp_ok switches($httpd) - $before, '<', 300, 'who sends nothing is not looked at all the time';
    $clients[$_]->send($slow[$_][3]) for 0 .. $#slow;
    arrives_whole(@clients);
    is_deeply [ length_of(answers(whole_bodies($httpd))) ], \@WHOLE,
        'bodies sent together with the headers arrive';

    is_asked_for_its_body(announce($httpd, 'heavy'));
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
    is_not_asked(post($httpd, 'small', 'Content-Length: 2000', 'Expect: 100-continue'), 413);

    my $hold = $httpd->ask('/cgi-bin/none?until=none');
    $httpd->zone_becomes('none', 'a zone is full', Active => 1);
    is_not_asked(announce($httpd, 'none'), 503);
    $httpd->serves('none', 'the running request gets its response', $hold);

    my $gone = post($httpd, 'heavy?id=gone', 'Content-Length: 10')->send('123');
    wait_for { $httpd->status->{AdmissionTransfers} == 1 } 'one more sends' if $is_event;
    $gone->leave;
    server_becomes($httpd, 'and leaves: nothing is left', AdmissionTransfers => 0,
                   AdmissionSpooled => 0, AdmissionRunning => 0, AdmissionReserveFree => 15);
    is scalar(grep { $_ eq 'start gone' } $httpd->record), 0, '... its program never started';
}, 'prefork+cgi', 'worker+cgid', 'event+cgid', 'event+cgid+completion');

sub starts {
    my ($httpd, @host) = @_;
    return $httpd->ask('/cgi-bin/heavy', method => 'POST', @host,
                       headers => ['Content-Length: 1000000'])->send('abc');
}

# @return what curl reports, and what it sends: it looks at the response when that is closed.
sub starts_over_tls {
    my ($httpd) = @_;
    open2(my $code, my $body, qw(curl -sk --http1.1 -H Expect: -X POST -T - -o /dev/null -w %{http_code}),
          $httpd->tls_url('/cgi-bin/heavy'));
    syswrite $body, 'abc';
    return ($code, $body);
}

# Clients give up after 30 seconds.
for_each_combo(sub ($combo) {
    my $is_event = $combo->{mpm} eq 'event';
    my $httpd = start_httpd(workers => 20, tls => 1, modules => ['reqtimeout'],
                            conf => join '',
        "Timeout 100\n",
        "RequestReadTimeout header=20-40,minrate=500 body=5-7,minrate=500\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'),
        virtual_host('test.example'),
        # A longer pause than Timeout.
        virtual_host('impatient.example', 'Timeout 2', 'RequestReadTimeout body=100'));
    $httpd->expect_in_log(qr/AH01382: Request body read timeout/)
          ->allow_in_log(qr/ADM0214|AH01567|\[ssl:/);
    my ($over_tls, $body) = starts_over_tls($httpd);    # curl takes its time to start
    wait_for { $httpd->status->{AdmissionTransfers} == 1 } 'one client sends' if $is_event;
    my ($silent, $slow) = map { starts($httpd) } 1, 2;
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
    $httpd->access_log_becomes('... over TLS', qr/^408 /, 3);
    close $body;
    is readline $over_tls, 408, '... which the client is told';
    is starts($httpd, host => 'impatient.example')->answer->{status}, 408,
        'Timeout applies as well';
    is_deeply [ $httpd->record ], [], 'no program ran';
}, 'worker+cgid', 'event+cgid', 'event+cgid+completion');

# curl with a file as the body: what the program counted of it.
sub post_file {
    my ($file, $url, @options) = @_;
    open my $pipe, '-|', qw(curl -sk --max-time 300 --expect100-timeout 20 --data-binary),
                         "\@$file", @options, $url or die "curl: $!\n";
    return $pipe;
}

for_each_parking_combo(sub {
    # RequestReadTimeout: Debian and others set it, and a wait is not reading.
    my $httpd = start_parking_httpd(tls => 1, modules => ['reqtimeout'], conf => join '',
        "RequestReadTimeout header=5 body=2,MinRate=500\n",
        "AdmissionSpool request=off\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50'),
        location('/cgi-bin/short', 'AdmissionQueue 50 timeout=200ms', 'AdmissionZone short',
            'MaxConcurrent 1'));
    $httpd->expect_rejections('short', 'long');
    $httpd->put('large.txt', 'x' x $large);
    my $file = "$httpd->{dir}/docs/large.txt";

    my ($hold) = ask_line($httpd, 'bodies', 0, $zone);
    my @whole = whole_bodies($httpd);
    my @clients = begin_slowly($httpd);
    my $hasty = $httpd->ask('/cgi-bin/heavy', method => 'POST', headers => ['Expect: 100-continue'],
                            body => 'hasty');
    $httpd->zone_becomes($zone, 'requests with complete bodies and parts of bodies wait',
                         Queued => @whole + @clients + 1);
    my $announced = announce($httpd, 'heavy');
    my @curl = map {
        my $to = $httpd->$_('/cgi-bin/heavy');
        map { post_file($file, $to, '-H', $_) } 'Expect:', 'Expect: 100-continue'
    } 'url', 'tls_url';
    my $waiters = @whole + @clients + 2 + @curl;
    $httpd->zone_becomes($zone, '... and large ones', Queued => $waiters);
    server_becomes($httpd, '... parked', AdmissionParked => $waiters, AdmissionBlocked => 0);

    $clients[$_]->send($slow[$_][3]) for 0 .. $#slow;
    wait_for { $httpd->zone($zone)->{OldestWaitMs} > 3000 }
        'they wait longer than mod_reqtimeout permits a client to send';
    server_becomes($httpd, 'more of a body does not wake them',
                   AdmissionParked => $waiters, AdmissionBlocked => 0);
    ok !$announced->has_begun, 'no client is asked for a body before there is a permit';
    $httpd->serves('bodies', 'the running request gets its response', $hold);

    arrives_whole(@clients);
    is_deeply [ length_of(answers(@whole, $hasty)) ], [ @WHOLE, 5 ],
        'bodies sent together with the headers arrive';
    is_asked_for_its_body($announced);
    is_deeply [ map { /^body (\d+)$/ ? $1 : () } map { readline $_ } @curl ], [ ($large) x @curl ],
        'large ones arrive, plain and over TLS, announced or not';

    # After a wait.
    my ($running) = $httpd->ask('/cgi-bin/short?until=short');
    $httpd->zone_becomes('short', 'another zone is full', Active => 1);
    is_not_asked(announce($httpd, 'short'), 503);
    my $unread = $httpd->ask('/cgi-bin/short', method => 'POST', body => 'x' x 300_000);
    is $unread->answer->{status}, 503, 'one that has sent it gets the response as well';
    $httpd->serves('short', 'the running request gets its response', $running);
    is $httpd->zone($zone)->{Gone}, 0, 'no client is counted as disconnected';
});

for_each_combo(sub {
    needs_modules(my @modules = qw(lua ext_filter));
    my $httpd = start_httpd(modules => \@modules, conf => "ExtFilterDefine cat mode=input cmd=/bin/cat\n"
        . location('/read.lua', 'MaxConcurrent 1', 'AdmissionQueue 1', 'SetHandler lua-script', 'SetInputFilter cat'));
    $httpd->put('read.lua', 'function handle(r) r:puts(#(r:requestbody() or "")) return apache2.OK end');
    is $httpd->get('/read.lua', method => 'POST', body => 'x' x 20_000)->{body}, 20_000, 'a program filters the body';
    $httpd->end;
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

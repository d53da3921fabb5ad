# Waiting holds no worker on the event MPM: ten times more wait than there are threads, and the
# server answers others as if none did. A connection outlives the wait of its requests.

use AdmissionTest;

my ($threads, $limit, $waiters) = (6, 2, 60);
my $zone = '/cgi-bin/';

# Connections over which curl asks for a file, waits twice, and asks again. It reports how many
# connections it had to make for each transfer. Few: event closes them while all workers are busy.
sub connections_are_kept {
    my ($httpd, $how, $url, @options) = @_;
    my $number = 3;
    my $path = '/cgi-bin/one/heavy';
    my $reused = $how eq 'HTTP/1.0' ? '200/1' : '200/0';

    my ($hold) = $httpd->fill('/cgi-bin/one/', my $gate = $how =~ s/\W//gr, 1);
    my @curl = map {
        my @urls = map { $httpd->$url($_) }
                   '/static.txt', "$path?id=$_-1", "$path?id=$_-2", '/static.txt';
        open my $pipe, '-|', qw(curl -sk --max-time 300 -w), '%{http_code}/%{num_connects}\n',
            @options, @urls or die "curl: $!\n";
        $httpd->zone_becomes('/cgi-bin/one/', 'another one waits', Queued => $_);
        $pipe;
    } 1 .. $number;
    server_becomes($httpd, "$how: $number are parked", AdmissionParked => $number,
                   AdmissionBlocked => 0);
    $httpd->serves($gate, 'the running request gets its response', $hold);
    is_deeply [ map { [ map { m{^(heavy .*|static|\d+/\d+)$} } readline $_ ] } @curl ],
        [ map { [ 'static', '200/1', "heavy $_-1", $reused, "heavy $_-2", $reused,
                  'static', $reused ] } 1 .. $number ],
        'each gets its four responses in order, where it can over one connection';
    $httpd->zone_becomes('/cgi-bin/one/', 'no client is counted as disconnected', Gone => 0);
}

for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(tls => 1, threads => $threads, conf =>
        "KeepAliveTimeout 300\n" . location('/cgi-bin/', "MaxConcurrent $limit", "AdmissionQueue $waiters")
        . location('/cgi-bin/one/', 'MaxConcurrent 1', 'AdmissionQueue 50'));
    my $watch = $httpd->watch;

    my @all = $httpd->fill($zone, 'go', $limit, $waiters);
    server_becomes($httpd, 'all of them are parked, none blocks',
                   AdmissionParked => $waiters, AdmissionBlocked => 0);
    # The worker that showed the last status may not be idle yet.
    server_becomes($httpd, 'busy: the running requests, and the one that shows the status',
                   BusyWorkers => $limit + 1);
    my $status = $httpd->status;
    is $status->{AdmissionReserveFree}, $threads - $status->{AdmissionReserve} - $limit,
        'a parked request takes no worker of those that zones may occupy';

    # Not on kept connections: event closes them while all workers are busy.
    for my $round (1 .. 25) {
        my @static = map { $httpd->ask('/static.txt') } 1 .. $threads - $limit;
        my @wrong = grep { $_->{body} ne "static\n" } answers(@static);
        ok !@wrong, 'static files, on every thread that is left' if $round == 25 || @wrong;
    }
    server_becomes($httpd, 'waiting requests are still parked',
                   AdmissionParked => $waiters, AdmissionBlocked => 0);

    $httpd->serves('go', 'every request gets a response in the end', @all);
    is $watch->most, $limit, 'no more programs ran than the limit';
    $httpd->zone_becomes($zone, 'each of them waited once', Active => 0, Queued => 0,
                         Admitted => $limit + $waiters, AdmittedAfterWait => $waiters);
    $httpd->access_log_becomes('the access log has so many', qr/ status=queued wait=\d+ /, $waiters);

    connections_are_kept($httpd, @$_)
        for ['plain', 'url'], ['TLS', 'tls_url'], ['HTTP/1.0', 'url', '--http1.0'];
}, 'event+cgid', 'event+cgi', 'event+cgid+completion');

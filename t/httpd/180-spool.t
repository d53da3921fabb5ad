# A client that does not read its answer holds no permit: what it does not take is
# kept, and the program ends.

use AdmissionTest;
use Admission::Slow;
use Socket qw(INADDR_LOOPBACK PF_INET SOCK_STREAM SOL_SOCKET SO_RCVBUF pack_sockaddr_in);

my $zone = '/cgi-bin/';
my $bulk; # more than the sockets hold

# The program ends while its client does not read, and the next one runs.
sub permit_comes_back {
    my ($httpd, $how, $url, @options) = @_;
    my $name = $how =~ s/\W+/-/gr;
    my $reader = slow_reader("$url?id=$name&early=1&until=$name&bulk=$bulk", @options);
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $reader->stop_reading;
    $httpd->zone_becomes($zone, "$how: one runs", Active => 1);
    $httpd->open_gate($name);
    $httpd->zone_becomes($zone, "$how: its permit comes back while nobody reads", Active => 0);
    cmp_ok $httpd->status->{AdmissionSpooled}, '>', 0, '... and bytes of the response are stored';
    is $httpd->get("/cgi-bin/heavy")->{status}, 200, '... the next request runs';
    return $reader;
}

sub all_arrives {
    my ($how, $reader) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $reader->read_on;
    ok $reader->has_read_all($bulk), "$how: everything arrives in the end";
}

# The end of an answer that fits into httpd's memory, but not into the sockets: the
# handler returns, its worker waits for the client.
sub worker_is_counted {
    my ($httpd) = @_;
    socket my $socket, PF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
    setsockopt $socket, SOL_SOCKET, SO_RCVBUF, 4096 or die "SO_RCVBUF: $!\n";
    connect $socket, pack_sockaddr_in($httpd->{port}, INADDR_LOOPBACK) or die "connect: $!\n";
    syswrite $socket, "GET /cgi-bin/heavy?bulk=80000 HTTP/1.1\r\nHost: test.example\r\n\r\n";
    wait_for { my $s = $httpd->status; $s->{AdmissionRunning} == 1 && !zone_of($s)->{Active} }
        'a client that does not read the end of a short response holds a worker, which is counted';
    close $socket;
    wait_for { !$httpd->status->{AdmissionRunning} } '... until it leaves';
    return;
}

sub zone_of { my ($status) = @_; return $status->{zone}{"test.example:$zone"} }

for_each_combo(sub {
    my ($combo) = @_;
    $bulk = $combo->{mpm} eq 'event' ? $BULK : 2_000_000; # with SendBufferSize
    my $has_streams = $combo->{mpm} ne 'prefork' && can_read_http2();
    my $httpd = start_httpd(workers => 20, tls => 1, http2 => $has_streams,
                          conf => ($combo->{mpm} eq 'event' ? '' : "SendBufferSize 8192\n")
                                  . location($zone, 'MaxConcurrent 1', 'AdmissionQueue 5'));
    my $url = '/cgi-bin/heavy';
    my %reader;
    for (['plain', $httpd->url($url), '--http1.1'],
         ['TLS', $httpd->tls_url($url), '--http1.1'],
         $has_streams ? ['HTTP/2', $httpd->tls_url($url), '--http2'] : ()) {
        my ($how, @options) = @$_;
        $reader{$how} = permit_comes_back($httpd, $how, @options);
    }
    wait_for { $httpd->status->{AdmissionRunning} == 2 } 'their workers are counted'
        if $combo->{mpm} ne 'event';
    all_arrives($_, $reader{$_}) for sort keys %reader;
    wait_for { !$httpd->status->{AdmissionRunning} } 'no worker is counted any more';
    worker_is_counted($httpd) if $combo->{mpm} ne 'event';
});

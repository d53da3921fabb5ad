# gRPC: the client waits for a part of the response before it sends the rest of the body, which
# AdmissionSpool request=off lets it do. Elsewhere the body is read first.

use AdmissionTest;
use IO::Select;
use IO::Socket::INET;

needs_modules(qw(http2 proxy proxy_http2));

# ---- as much of HTTP/2 as both sides need --------------------------------------------
#
# curl sees what comes back only when it has more to send, and httpd's CGI programs have
# their body before they are read from.

my $PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
my ($DATA, $HEADERS, $SETTINGS, $PING) = (0, 1, 4, 6);
my ($END, $ACK, $END_HEADERS) = (1, 1, 4);

sub frame {
    my ($type, $flags, $stream, $payload) = @_;
    return substr(pack('N', length $payload), 1) . pack('CCN', $type, $flags, $stream) . $payload;
}

# (type, flags, stream, payload); what has to be answered is.
sub next_frame {
    my ($socket) = @_;
    my $head = read_bytes($socket, 9) // return;
    my ($type, $flags, $stream) = unpack 'x3CCN', $head;
    my $payload = read_bytes($socket, unpack 'N', "\0$head") // return;

    syswrite $socket, frame($type, $ACK, 0, $type == $PING ? $payload : '')
        if ($type == $SETTINGS || $type == $PING) && !($flags & $ACK);
    return ($type, $flags, $stream, $payload);
}

# The backend sends back each piece of a body as it comes.
sub echo {
    my ($client) = @_;

    read_bytes($client, length $PREFACE) or return;
    syswrite $client, frame($SETTINGS, 0, 0, '');
    while (my ($type, $flags, $stream, $payload) = next_frame($client)) {
        syswrite $client, frame($HEADERS, $END_HEADERS | $flags & $END, $stream, "\x88") # 200
            if $type == $HEADERS;
        syswrite $client, frame($DATA, $flags & $END, $stream, $payload) if $type == $DATA;
    }
}

# A client that has sent its header and a first piece.
sub begins {
    my ($httpd, $path) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $httpd->{port})
        or die "$@\n";
    my $header = "\x83\x86" . join '', map { pack 'a* C/a*', @$_ } # POST, http, and by their numbers
        ["\x04", $path], ["\x01", 'test.example'], ["\x0f\x10", 'application/grpc'];

    syswrite $socket, $PREFACE . frame($SETTINGS, 0, 0, '')
                      . frame($HEADERS, $END_HEADERS, 1, $header) . frame($DATA, 0, 1, 'abcd');
    return { socket => $socket, had => '' };
}

# What it has had of the body by now, and ' end' behind that.
sub had {
    my ($client) = @_;
    while (IO::Select->new($client->{socket})->can_read(0)) {
        my ($type, $flags, $stream, $payload) = next_frame($client->{socket}) or last;
        next if $stream != 1;
        $client->{had} .= $payload if $type == $DATA;
        $client->{had} .= ' end'   if $flags & $END && ($type == $DATA || $type == $HEADERS);
    }
    return $client->{had};
}

sub says { my ($client, $flags, $piece) = @_; local $SIG{PIPE} = 'IGNORE'; syswrite $client->{socket}, frame($DATA, $flags, 1, $piece) }

for_each_combo(sub {
    my (undef, $port) = start_backend(\&echo);
    my $httpd = start_httpd(http2 => 1, modules => [qw(proxy proxy_http2)], conf => join '',
        "ProxyPass /grpc/ h2c://127.0.0.1:$port/\n",
        "ProxyPass /other/ h2c://127.0.0.1:$port/\n",
        location('/grpc/', 'MaxConcurrent 1', 'AdmissionQueue 2', 'AdmissionSpool request=off'),
        location('/other/', 'MaxConcurrent 1', 'AdmissionQueue 2'));
    my $client = begins($httpd, '/grpc/x');
    wait_for { had($client) eq 'abcd' } 'a first piece has returned';
    my $next = begins($httpd, '/grpc/y');
    says($client, 0, 'efgh');
    wait_for { had($client) eq 'abcdefgh' } '... and a second one';
    says($client, 0, 'ijkl');
    $httpd->zone_becomes('/grpc/', 'they take turns in the only place', Active => 1, Queued => 1);
    says($client, $END, '');
    wait_for { had($client) eq 'abcdefghijkl end' } 'the dialogue ends';
    wait_for { had($next) eq 'abcd' } '... and another one begins';
    says($next, $END, '');
    wait_for { had($next) eq 'abcd end' } '... and ends';

    $client = begins($httpd, '/other/x');
    wait_for { $httpd->status->{AdmissionSpooled} > 0 } 'elsewhere a body is read first';
    is $httpd->get('/other/y')->{status}, 200, '... and others run meanwhile';
    is had($client), '', '... while nothing is returned';
    says($client, $END, '');
    wait_for { had($client) eq 'abcd end' } '... before its end';
}, 'worker+cgid', 'event+cgid');

package Admission::Slow;

# A client that stops reading in the middle of an answer, over any protocol: curl,
# which is stopped and continued. The answer is that of programs/heavy.c with
# "early=1" and "bulk=$BULK": more than the sockets between them hold.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';
use File::Temp ();
use Socket qw(INADDR_LOOPBACK PF_INET SOCK_STREAM SOL_SOCKET SO_RCVBUF pack_sockaddr_in);

use Admission;
use Admission::Config;
use Admission::File qw(slurp);
use Admission::Httpd;
use Admission::Parking qw(halt);

our @EXPORT = qw($BULK protocols silent_client slow_reader);

our $BULK = 12_000_000;

# How curl can ask an httpd of this combination, HTTP/2 last where it can: its name, the method
# for a URL, and curl's option.
sub protocols($combo) {
    my $has_streams = $combo->{mpm} ne 'prefork' && `curl -V` =~ /HTTP2/
        && Admission::Config::is_installed('http2');
    return (['plain', 'url', '--http1.1'], ['TLS', 'tls_url', '--http1.1'],
            $has_streams ? ['HTTP/2', 'tls_url', '--http2'] : ());
}

# Asks, and returns when something has arrived.
sub slow_reader($url, @options) {
    my $file = File::Temp->new(TEMPLATE => 'admission-XXXXXX', TMPDIR => 1);
    my $pid = start_program(qw(curl -skN --max-time 300 -o), "$file", @options, $url);
    my $self = bless { pid => $pid, file => $file }, __PACKAGE__;

    Admission::Httpd->soon(sub { -s "$file" }) or die "no answer from $url\n";
    return $self;
}

# The socket of a client that asks, so often in a row, and has read nothing, with room for so much.
sub silent_client($httpd, $url, $room, $requests = 1) {
    socket my $socket, PF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
    setsockopt $socket, SOL_SOCKET, SO_RCVBUF, $room or die "SO_RCVBUF: $!\n";
    connect $socket, pack_sockaddr_in($httpd->{port}, INADDR_LOOPBACK) or die "connect: $!\n";
    syswrite $socket, "GET $url HTTP/1.1\r\nHost: test.example\r\n\r\n" x $requests;
    return $socket;
}

sub stop_reading($self) {
    halt('Admission::Httpd', $self->{pid});
    return $self;
}

# The end of it.
sub read_so_far($self) {
    open my $file, '<', "$self->{file}" or die "$self->{file}: $!\n";
    seek $file, -200, 2;
    local $/;
    return readline($file) // '';
}

sub read_on { kill CONT => $_[0]{pid} }

# Leaves without reading the rest.
sub leave($self) {
    kill KILL => $self->{pid};
    return waitpid $self->{pid}, 0;
}

# Waits for the end of the answer. True if nothing of so many bytes is missing.
sub has_read_all {
    my ($self, $bytes) = (@_, $BULK);
    our %whole;
    waitpid $self->{pid}, 0;
    return 0 if $?;
    $whole{$bytes} //= join '', map { sprintf "%09d\n", $_ } 1 .. $bytes / 10;
    my $answer = slurp("$self->{file}");
    return substr($answer, 1 + index $answer, "\n000000001\n") eq $whole{$bytes};
}

1;

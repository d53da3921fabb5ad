package Admission::Client;

# One HTTP/1.1 connection that asks now and reads later, so that one test can
# have many clients waiting. It sends exactly what it is told and may leave
# rudely.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';
use IO::Select;
use IO::Socket::INET;
use Socket qw(SOL_SOCKET SO_LINGER);
use Time::HiRes qw(time);

our @EXPORT_OK = qw(answers wait_for_answers);

# Seconds until a missing answer counts as "hangs".
my $PATIENCE = $ENV{GDB} ? 10_000 : $ENV{PREFIX} ? 720 : 120;

sub new($class, $port) {
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 10)
        // die "connect to port $port: $@\n";
    $socket->blocking(1);
    return bless { socket => $socket, buffer => '', methods => [] }, $class;
}

# ask('/path', method => 'POST', host => 'name', headers => [...], body => '...', keep => 1)
sub ask($self, $path, %o) {
    die "no such option: $_\n" for grep { !/^(?:method|host|headers|body|keep)\z/ } keys %o;
    my $method = $o{method} // 'GET';
    my @headers = ('Host: ' . ($o{host} // 'test.example'), @{ $o{headers} // [] });

    push @headers, 'Connection: close' if !$o{keep};
    push @headers, 'Content-Length: ' . length $o{body} if defined $o{body};
    push @{ $self->{methods} }, $method;
    return $self->send(join("\r\n", "$method $path HTTP/1.1", @headers, '', '')
                       . ($o{body} // ''));
}

sub send($self, $bytes) {
    local $SIG{PIPE} = 'IGNORE';
    while (length $bytes && !$self->{ended}) {
        my $sent = syswrite $self->{socket}, $bytes;
        last if !defined $sent;    # the other side has gone: answer() tells
        substr $bytes, 0, $sent, '';
    }
    return $self;
}

# Waits for the next answer on this connection.
sub answer($self) {
    return (answers($self))[0];
}

# True as soon as anything has been received; reads what is there.
sub has_begun($self) {
    $self->read_some if !$self->{ended} && IO::Select->new($self->{socket})->can_read(0);
    return length $self->{buffer};
}

sub half_close { shutdown $_[0]{socket}, 1 }

sub leave { close $_[0]{socket} }

# Leaves with a RST: what a killed browser or a broken network looks like.
sub abort($self) {
    setsockopt $self->{socket}, SOL_SOCKET, SO_LINGER, pack 'll', 1, 0;
    close $self->{socket};
}

# The next answer of each client, in the order of the clients. An answer is
# { status, headers => { lower-case name => value }, body, at }; its status is
# 0 when the server closed without a complete one, -1 when nothing came.
sub answers(@clients) {
    wait_for_answers(scalar @clients, @clients);
    return map { delete $_->{answer}
                     // { status => -1, headers => {}, body => '' } } @clients;
}

# Reads from all of them until so many have their answer, or for so long none came.
sub wait_for_answers($enough, @clients) {
    my ($deadline, $left) = (time + $PATIENCE, scalar @clients);

    while (1) {
        $_->{answer} //= $_->take_answer for @clients;
        my @waiting = grep { !$_->{answer} } @clients;
        ($deadline, $left) = (time + $PATIENCE, scalar @waiting) if @waiting < $left;
        return if @clients - @waiting >= $enough || time > $deadline;

        my %client = map { ($_->{socket} => $_) } @waiting;
        my $select = IO::Select->new(map { $_->{socket} } @waiting);
        $client{$_}->read_some for $select->can_read(1);
    }
}

sub read_some($self) {
    my $got = sysread $self->{socket}, $self->{buffer}, 65536, length $self->{buffer};
    return if $got;
    $self->{ended_by} = defined $got ? 'its end' : "$!";
    $self->hang_up;
}

# A server that has closed holds its worker until the client closes as well.
sub hang_up($self) {
    $self->{ended} = 1;
    close $self->{socket};
}

# Cuts one complete answer off the buffer; undef while there is none.
sub take_answer($self) {
    $self->{buffer} =~ s/^HTTP\/1\.1 100 .*?\r\n\r\n//s;
    my ($head) = $self->{buffer} =~ /^(HTTP\/.*?\r\n\r\n)/s;
    return $self->{ended} ? failed() : undef if !$head;

    my ($status) = $head =~ /^HTTP\/\S+ (\d+)/;
    my %headers = map { /^([^:]+):\s*(.*)$/ ? (lc $1, $2) : () }
                      split /\r\n/, $head;
    my ($body, $length) = $self->body($status, \%headers, substr $self->{buffer}, length $head);
    return $self->{ended} ? failed() : undef if !defined $body;

    substr $self->{buffer}, 0, length($head) + $length, '';
    shift @{ $self->{methods} };
    $self->hang_up if lc($headers{connection} // '') eq 'close';
    return { status => $status, headers => \%headers, body => $body, at => time };
}

sub failed { return { status => 0, headers => {}, body => '', at => time } }

# (body, number of bytes it takes in the buffer), or nothing if incomplete.
sub body($self, $status, $headers, $rest) {
    if (($self->{methods}[0] // '') eq 'HEAD' || $status =~ /^(?:204|304)$/) {
        return ('', 0);
    }
    if (($headers->{'transfer-encoding'} // '') eq 'chunked') {
        my $body = '';
        # Not copied for each of the chunks: there can be thousands.
        return if index($rest, "0\r\n\r\n") < 0;
        while ($rest =~ /\G([0-9a-fA-F]+)[^\r]*\r\n/gc) {
            my ($size, $from) = (hex $1, pos $rest);
            my $next = $from + $size + 2;
            return if $next > length $rest;
            $body .= substr $rest, $from, $size;
            return ($body, $next) if $size == 0;
            pos($rest) = $next;
        }
        return;
    }
    if (defined(my $length = $headers->{'content-length'})) {
        return if length $rest < $length;
        return (substr($rest, 0, $length), $length);
    }
    return if !$self->{ended};
    return ($rest, length $rest);
}

1;

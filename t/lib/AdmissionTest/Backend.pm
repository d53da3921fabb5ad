package AdmissionTest::Backend;

# A backend for mod_proxy that lives no longer than its test:
#
#     my ($pid, $port) = start_backend(sub { my ($client) = @_; ... });
#     my ($pid) = start_backend($code, $path);     on a socket with a name
#     start_backend($code, $address)               elsewhere than at 127.0.0.1
#     start_backend(answers_at_gate($httpd))       when a gate opens, as the heavy program
#
# The code serves one connection, in a process of its own, for a minute at most.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();

our @EXPORT = qw(answers_at_gate read_bytes read_head start_backend);

# The head of a request, and what came with it. Nothing where the client has gone.
sub read_head($client) {
    my $head = '';

    while ($head !~ /\r\n\r\n/) {
        sysread $client, $head, 4096, length $head or return;
    }
    return $head;
}

sub read_bytes($socket, $length) {
    my $bytes = '';

    while (length $bytes < $length) {
        sysread $socket, $bytes, $length - length $bytes, length $bytes or return;
    }
    return $bytes;
}

# Code for a backend that answers when the gate is open that "until=" of its URL names.
sub answers_at_gate {
    my ($httpd) = @_;
    return sub {
        my ($client) = @_;
        my $head = read_head($client) // return;
        my ($gate) = $head =~ /until=([\w.-]+)/;
        select undef, undef, undef, 0.05 until !$gate || -e "$httpd->{dir}/heavy/$gate";
        syswrite $client, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    };
}

sub serve_one($client, $serve) {
    my $server = fork // return;

    if ($server == 0) {
        alarm 60;
        $serve->($client);
        # What was not read when the socket is closed would end the connection with
        # a reset, which may overtake the answer.
        shutdown $client, 1;
        1 while sysread $client, my $rest, 65536;
        POSIX::_exit(0);
    }
    return;
}

sub start_backend($serve, $where = undef) {
    my $path = $where && $where =~ m{/} ? $where : undef;
    my $listener = $path
        ? IO::Socket::UNIX->new(Local => $path, Listen => 10)
        : IO::Socket::INET->new(LocalAddr => $where // '127.0.0.1', Listen => 10, Proto => 'tcp')
        or die "backend: $@\n";

    chmod 0777, $path if $path;
    my $test = $$;
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        local $SIG{CHLD} = 'IGNORE';
        local $SIG{TERM} = 'DEFAULT';
        # Not for longer than the test, whatever becomes of it.
        while (getppid == $test) {
            IO::Select->new($listener)->can_read(0.5) or next;
            my $client = $listener->accept or last;
            serve_one($client, $serve);
            close $client;
        }
        POSIX::_exit(0);
    }
    return $path ? $pid : ($pid, $listener->sockport);
}

1;

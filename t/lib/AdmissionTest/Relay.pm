package AdmissionTest::Relay;

# A filter between a virtual host and another one of the same httpd, as Anubis, Varnish
# or nginx are:
#
#     my $relay = start_relay(drops => qr/^Admission-/i);
#     $relay->{port}             for ProxyPass
#     $relay->leads_to($httpd)   once it has a port
#     $relay->stop
#
# It sends each request, without a body, on to "inner.test" of that httpd, with its headers, except
# those that it drops. With path => ..., it listens on that socket; with each => N, it
# sends each request N times together, and answers with the first. What it was sent is
# in its `seen`.

use strict;
use warnings;

use Exporter 'import';
use File::Temp ();
use IO::Socket::INET;

use Admission::File ();
use AdmissionTest::Backend;

our @EXPORT = qw(start_relay);

sub start_relay {
    my (%o) = @_;
    my $dir = File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
    my $self = bless { dir => $dir, each => 1, %o }, __PACKAGE__;

    @{$self}{qw(pid port)} = start_backend(sub { $self->pass_on($_[0]) }, $o{path});
    return $self;
}

sub leads_to {
    my ($self, $httpd) = @_;
    Admission::File::spill("$self->{dir}/to", $httpd->{port});
}

sub seen { return Admission::File::slurp("$_[0]{dir}/seen") }

sub forget { unlink "$_[0]{dir}/seen" }

sub stop {
    my ($self) = @_;
    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
}

sub pass_on {
    my ($self, $client) = @_;
    my $head = (read_head($client) // return) =~ s{\r\n\r\n.*}{\r\n}sr;
    my ($request, @lines) = split /\r\n/, $head;
    my @kept = grep { !/^(?:Host|Connection|Content-Length|Transfer-Encoding):/i
                      && (!$self->{drops} || !/$self->{drops}/) } @lines;
    my $sent = join "\r\n", $request, 'Host: inner.test', 'Connection: close', @kept, '', '';

    open my $seen, '>>', "$self->{dir}/seen" or die "seen: $!\n";
    syswrite $seen, $head;
    my @servers = map {
        IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                              PeerPort => Admission::File::slurp("$self->{dir}/to"))
            // die "relay: $@\n";
    } 1 .. $self->{each};
    syswrite $_, $sent for @servers;
    while (sysread $servers[0], my $answer, 65536) {
        syswrite $client, $answer;
    }
    return;
}

1;

package Admission::Redis;

# A private Redis: own directory, own socket and port, no file of data unless asked
# for. It ends with the object.

use strict;
use warnings;
use experimental 'signatures';

use IO::Socket::INET;
use Time::HiRes qw(sleep time);

use Admission::File qw(directory spill);
use Admission::Httpd;
use Admission::Program qw(keep);

my $PATIENCE = 60;

# The program, under any of its names: one binary serves and checks files, as its name
# says, and Debian's redis-tools has it without starting a service.
sub program {
    my @found = grep { -x } map { my $name = $_; map { "$_/$name" } split /:/, $ENV{PATH} }
                qw(redis-server valkey-server redis-check-rdb);
    return $found[0];
}

# start(conf => ['requirepass x'], options => ['--sentinel']): one that answers.
sub start($class, %o) {
    my $tmp = directory('admission-redis-XXXXXX');
    my $probe = Admission::Httpd::free_port(0);
    my $self = bless { tmp => $tmp, dir => "$tmp", socket => "$tmp/socket",
                       port => $probe->sockport, conf => $o{conf} // [],
                       options => $o{options} // [], owner => $$ },
                     $class;

    chmod 0755, $self->{dir};
    # The name of the program says what it does.
    symlink program(), "$tmp/redis-server" or die "$tmp/redis-server: $!\n";
    close $probe;
    return $self->launch;
}

sub launch($self) {
    my $conf = join '', map { "$_\n" }
               'bind 127.0.0.1', "port $self->{port}", "unixsocket $self->{socket}",
               'unixsocketperm 777', "dir $self->{dir}", 'save ""', 'appendonly no',
               'daemonize no', "pidfile $self->{dir}/pid", @{ $self->{conf} };

    spill("$self->{dir}/redis.conf", $conf);
    unlink $self->{socket};
    @{$self}{qw(pid keeper)} = keep("$self->{dir}/log", "$self->{dir}/redis-server", "$self->{dir}/redis.conf",
                                    @{ $self->{options} });
    my $end = time + $PATIENCE;
    # Its socket comes when it has its port: another Redis may answer there.
    sleep 0.01 while !(-S $self->{socket} && $self->answers) && time < $end;
    die "redis does not answer\n" if !-S $self->{socket};
    return $self;
}

sub connect { return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $_[0]{port}) }

sub answers($self) {
    my $socket = $self->connect or return 0;
    print $socket "PING\r\n";
    return (<$socket> // '') =~ /^(?:\+PONG|-NOAUTH)/;
}

# Sends a command. @return its reply: a text, a list of these, or undef.
sub command($self, @words) {
    my $socket = $self->connect or return;
    print $socket sprintf('*%d', scalar @words) . "\r\n"
        . join '', map { sprintf "\$%d\r\n%s\r\n", length, $_ } @words;
    return read_answer($socket);
}

sub read_answer($socket) {
    my ($kind, $rest) = (<$socket> // return) =~ /^(.)(.*?)\r\n\z/s or return;

    return $rest if $kind !~ /[*\$]/;
    return if $rest < 0;
    return [ map { scalar read_answer($socket) } 1 .. $rest ] if $kind eq '*';
    read $socket, my $text, $rest + 2;
    return substr $text, 0, $rest;
}

sub stop($self, $signal = 'KILL') {
    my $pid = delete $self->{pid} or return;
    kill CONT => $pid;
    kill $signal, $pid;
    waitpid $self->{keeper}, 0;
}

sub DESTROY($self) {
    local ($?, $!);
    $self->stop if $$ == $self->{owner};
}

1;

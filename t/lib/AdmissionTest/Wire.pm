package AdmissionTest::Wire;

# What lies between a server and its engine: a TCP proxy in a process of its own, which
# delays, stalls, cuts, deafens and spoils what goes over it.
#
#     my $wire = AdmissionTest::Wire->start($redis->{port});
#     AdmissionEngine redis://127.0.0.1:$wire->{port}
#     $wire->becomes('delay 100');
#
#     pass          all goes through
#     delay N       ... N milliseconds later, each way
#     trickle       ... answers byte by byte, one a millisecond
#     stall         nothing goes through any more, nothing is closed
#     deaf          the engine hears, its answers are lost: half open
#     mute          the engine hears nothing, what it says by itself comes through
#     hush          the engine answers, what it pushes is lost: half open for a listener
#     cut           connections are reset, new ones are as well
#     lose N        ... once, and what the engine has not got by then arrives N
#                   milliseconds later on the connection that was given up; then pass
#     garbage       answers are replaced by something else
#     flood         answers are replaced by very many bytes
#     engine PORT   new connections go there; those of before are reset; then pass

use strict;
use warnings;
use experimental 'signatures';

use IO::Handle;
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Socket qw(SOL_SOCKET SO_LINGER);
use Time::HiRes 'time';

my $CHUNK = 65536;

sub start($class, $engine) {
    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 20, Proto => 'tcp')
        or die "wire: $@\n";
    my $test = $$;
    my ($mine, $its);
    socketpair $mine, $its, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!\n";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        close $mine;
        local $SIG{PIPE} = 'IGNORE';
        local $SIG{TERM} = 'DEFAULT';
        my $self = { listener => $listener, orders => $its, engine => $engine, how => 'pass',
                     number => 0, pairs => [], later => [] };
        eval { carry($self) while getppid == $test };
        POSIX::_exit(0);
    }
    close $its;
    $mine->autoflush(1);
    return bless { pid => $pid, orders => $mine, port => $listener->sockport, owner => $$ }, $class;
}

# Returns when it is so.
sub becomes($self, $how) {
    syswrite $self->{orders}, "$how\n";
    my $done;
    sysread $self->{orders}, $done, 1;
    return;
}

sub DESTROY($self) {
    local ($?, $!);
    return if $$ != $self->{owner};
    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
}

# ---- in its own process --------------------------------------------------------

# A pair: { client, engine, is_lost }. What is late: [ when, pair, to whom, bytes ].
sub carry($self) {
    my %of;

    for my $pair (@{ $self->{pairs} }) {
        $of{ $pair->{$_} } = [ $pair, $_ ] for grep { $pair->{$_} } qw(client engine);
    }
    my $is_open = $self->{how} ne 'stall';
    my @wanted = ($self->{orders}, $self->{listener},
                  $is_open ? map { grep { $_ } @{$_}{qw(client engine)} } @{ $self->{pairs} } : ());
    my $patience = 0.2;
    $patience = $self->{later}[0][0] - time if @{ $self->{later} };
    for my $socket (IO::Select->new(@wanted)->can_read($patience < 0 ? 0 : $patience > 0.2 ? 0.2 : $patience)) {
        if    ($socket == $self->{orders})   { obey($self) }
        elsif ($socket == $self->{listener}) { meet($self) }
        elsif ($of{$socket})                 { hear($self, @{ $of{$socket} }) }
    }
    deliver($self);
    @{ $self->{pairs} } = grep { $_->{client} || $_->{engine} } @{ $self->{pairs} };
}

sub obey($self) {
    my $order;
    my $got = sysread $self->{orders}, $order, 200;
    die "the test has ended\n" if !$got;
    (@{$self}{qw(how number)}) = $order =~ /^(\w+)(?: (\d+))?/;
    my ($how, $number) = @{$self}{qw(how number)};

    $self->{engine} = $number if $how eq 'engine';
    lose($_, $how eq 'lose') for $how =~ /^(?:cut|lose|engine)$/ ? @{ $self->{pairs} } : ();
    $self->{lost_until} = time + $number / 1000 if $how eq 'lose';
    $self->{how} = 'pass' if $how =~ /^(?:lose|engine)$/;
    syswrite $self->{orders}, '.';
}

sub reset_socket($socket) {
    setsockopt $socket, SOL_SOCKET, SO_LINGER, pack 'll', 1, 0;
    close $socket;
}

# What the client has sent is still there, and may come later.
sub lose($pair, $keeps) {
    my $unread = '';
    if ($keeps && $pair->{client} && IO::Select->new($pair->{client})->can_read(0)) {
        sysread $pair->{client}, $unread, $CHUNK;
    }
    $pair->{unread} = ($pair->{unread} // '') . $unread;
    for my $side ($keeps ? 'client' : qw(client engine)) {
        reset_socket(delete $pair->{$side}) if $pair->{$side};
    }
}

sub meet($self) {
    my $client = $self->{listener}->accept or return;
    return reset_socket($client) if $self->{how} eq 'cut';
    my $engine = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{engine})
        or return reset_socket($client);
    $client->blocking(0);
    push @{ $self->{pairs} }, { client => $client, engine => $engine };
}

sub hear($self, $pair, $side) {
    my $socket = $pair->{$side} or return;
    my $other = $side eq 'client' ? 'engine' : 'client';
    my $bytes;
    my $got = sysread $socket, $bytes, $CHUNK;

    if (!$got) {
        return if !defined $got && $!{EAGAIN};
        reset_socket(delete $pair->{$_}) for grep { $pair->{$_} } qw(client engine);
        return;
    }
    my $how = $self->{how};
    my $answers = $side eq 'engine';
    $pair->{listens} ||= $bytes =~ /\r\nSUBSCRIBE\r\n/ if !$answers;
    return if $answers ? $how eq 'deaf' || $how eq 'hush' && $pair->{listens} : $how eq 'mute';
    $bytes = "!?garbage\r\n"                        if $answers && $how eq 'garbage';
    $bytes = "\$500000000\r\n" . 'x' x 1_000_000    if $answers && $how eq 'flood';
    if ($how eq 'delay') {
        put($self, time + $self->{number} / 1000, $pair, $other, $bytes);
    }
    elsif ($how eq 'trickle' && $answers) {
        my $at = $pair->{trickles_until} // 0;
        $at = time if $at < time;
        put($self, $at += 0.001, $pair, $other, $_) for split //, $bytes;
        $pair->{trickles_until} = $at;
    }
    else {
        put($self, 0, $pair, $other, $bytes);
    }
}

# In order for each connection: nothing overtakes what is late.
sub put($self, $at, $pair, $to, $bytes) {
    $at = $pair->{"late_$to"} if ($pair->{"late_$to"} // 0) > $at && @{ $self->{later} };
    $pair->{"late_$to"} = $at;
    push @{ $self->{later} }, [ $at, $pair, $to, $bytes ];
}

sub deliver($self) {
    my $now = time;

    if ($self->{lost_until} && $now >= $self->{lost_until}) {
        for my $pair (grep { !$_->{client} && $_->{engine} } @{ $self->{pairs} }) {
            syswrite $pair->{engine}, $pair->{unread} if length($pair->{unread} // '');
            reset_socket(delete $pair->{engine});
        }
        delete $self->{lost_until};
    }
    @{ $self->{later} } = sort { $a->[0] <=> $b->[0] } @{ $self->{later} } if @{ $self->{later} } > 1;
    while (@{ $self->{later} } && $self->{later}[0][0] <= $now) {
        my (undef, $pair, $to, $bytes) = @{ shift @{ $self->{later} } };
        my $socket = $pair->{$to} or next;
        syswrite $socket, $bytes;
    }
}

1;

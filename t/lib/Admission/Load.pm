package Admission::Load;

# Clients in the background: t/programs/load.
#
#     my $load = Admission::Load->start($port, 100, 10, 5, '/static.txt');
#     ...
#     for ($load->rest) { my ($when, $usec, $ok, $status) = @$_; ... }

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';
use List::Util qw(min);
use POSIX ();

use Admission::Program qw(program undisturbed);

our @EXPORT_OK = qw(percentile);

# Admission::Load->start(options, port, rate, clients, seconds, path): clients in the
# background, as the program's head says.
sub start($class, @arguments) {
    my @command = (program('load'), @arguments);
    open my $file, '+>', undef or die "a temporary file: $!\n";
    my $self = bless { file => $file, rest => '', owner => $$ }, $class;

    undisturbed {
        my $pid = fork // die "fork: $!\n";
        become($file, @command) if $pid == 0;
        $self->{pid} = $pid;
    };
    return $self;
}

# Signals stay blocked: what the program is told before it listens waits until it does.
sub become($file, @command) {
    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP PIPE);
    # Written where it is not read, it is a file of its own.
    open STDOUT, '>', '/proc/self/fd/' . fileno $file or POSIX::_exit(127);
    exec @command or POSIX::_exit(127);
}

# The requests that have ended since it was asked last, some ms ago at the latest: each
# [when, time, ok, status, connections].
sub lines($self) {
    1 while sysread $self->{file}, $self->{rest}, 1 << 20, length $self->{rest};
    return $self->{rest} =~ s/\A(.*\n)//s ? map { [ split ] } split /\n/, $1 : ();
}

sub is_there($self) {
    delete $self->{pid} if $self->{pid} && waitpid($self->{pid}, POSIX::WNOHANG()) != 0;
    return defined $self->{pid};
}

# Waits for its end.
sub rest($self) {
    waitpid delete $self->{pid}, 0 if $self->{pid};
    return $self->lines;
}

# Who has no answer yet waits for it.
sub ask_no_more($self) { kill TERM => $self->{pid} if $self->{pid}; return $self }

# Who has no answer yet leaves.
sub leave($self) { kill INT => $self->{pid} if $self->{pid}; return $self->rest }

sub DESTROY($self) {
    return if $self->{owner} != $$;
    local ($?, $!);
    kill KILL => $self->{pid} if $self->is_there;
    $self->rest;
}

# The value that so many percent of the others do not exceed; of the median of
# an even number, the mean of the two in the middle.
sub percentile($percent, @values) {
    my @sorted = sort { $a <=> $b } @values or return;
    my $place = $percent / 100 * @sorted;

    return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2 if $percent == 50;
    return $sorted[ min($#sorted, int $place) ];
}

1;

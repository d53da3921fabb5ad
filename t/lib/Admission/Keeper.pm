package Admission::Keeper;

# Keeps programs and their directory for as long as whoever started it lives and wants
# them: as soon as something comes from its lifeline, or nobody holds the other end of
# that, it stops the programs and removes the directory.

use strict;
use warnings;

use File::Path ();
use IO::Select;
use POSIX ();
use Time::HiRes qw(sleep time);

my $PATIENCE = 3;    # seconds for a program to stop
my $LOOK     = 0.2;

# Admission::Keeper->start(dir => '/tmp/x', programs => [ { launch => sub { ...; $pid } } ],
#               died => sub { ... })
#
# launch starts a program in a process group of its own, from a process that lives on.
# One with again => 1 is started again when it ends; when another one ends by itself,
# died is called, and all is over.
sub start {
    my ($class, %o) = @_;

    pipe my $reader, my $lifeline or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if ($pid == 0) {
        close $lifeline;
        POSIX::setsid();
        $SIG{$_} = 'IGNORE' for qw(INT TERM HUP);
        keep($reader, %o);
        POSIX::_exit(0);
    }
    close $reader;
    return bless { pid => $pid, lifeline => $lifeline }, $class;
}

sub has_ended { return waitpid($_[0]{pid}, POSIX::WNOHANG()) != 0 }

sub stop {
    my ($self) = @_;

    syswrite $self->{lifeline}, '.';
    waitpid $self->{pid}, 0;
}

# To be run by whoever launches: what a program begins with.
sub begin_program {
    # prefork stops by a signal to its process group: not the keeper's.
    POSIX::setpgid(0, 0);
    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP PIPE);
}

sub keep {
    my ($reader, %o) = @_;
    my @programs = @{ $o{programs} };
    my $lifeline = IO::Select->new($reader);

    $_->{pid} = $_->{launch}->() for @programs;
    my @ended;
    until (@ended || $lifeline->can_read($LOOK)) {
        for my $program (grep { waitpid($_->{pid}, POSIX::WNOHANG()) != 0 } @programs) {
            $program->{again} ? $program->{pid} = $program->{launch}->() : push @ended, $program;
        }
    }
    $o{died}->() if @ended;
    stop_all(grep { my $program = $_; !grep { $_ == $program } @ended } @programs);
    kill KILL => -$_->{pid} for @ended;
    File::Path::remove_tree($o{dir});
}

sub stop_all {
    my @left = @_;
    my @groups = map { -$_->{pid} } @left;

    kill TERM => map { $_->{pid} } @left;
    for (my $deadline = time + $PATIENCE; @left && time < $deadline; sleep 0.05) {
        @left = grep { waitpid($_->{pid}, POSIX::WNOHANG()) == 0 } @left;
    }
    kill KILL => @groups if @groups;
}

1;

package AdmissionTest::Accidents;

# Accidents at random, what chaos is made of. Each has a weight, and code that returns what
# it hit, or undef if there was nothing.
#
#     my $self = bless { accidents => { kill_child => [ 8, sub { my ($self) = @_; ... } ], ... },
#         pause => mean seconds between two,
#         longest_stop => seconds that a process is stopped }, $class;

use strict;
use warnings;
use experimental 'signatures';

use POSIX ();
use Time::HiRes qw(sleep time);

# Rounds of storm() and comes_to_rest() for so many seconds, a storm no longer than that. The
# first that does not come to rest is the last.
sub rounds($self, $seconds, $longest) {
    my $end = time + $seconds;

    while ((my $left = $end - time) > 0) {
        $self->{round}++;
        $self->storm($left < $longest ? $left : $longest);
        last if !$self->comes_to_rest;
    }
}

# For so many seconds; what goes on beside the accidents before each.
sub draw_accidents($self, $seconds, $beside) {
    my $end = time + $seconds;
    my @urn = map { ($_) x $self->{accidents}{$_}[0] } sort keys %{ $self->{accidents} };

    while (time < $end) {
        sleep rand 2 * $self->{pause};
        delete @{ $self->{wakers} }{ grep { waitpid $_, POSIX::WNOHANG() } keys %{ $self->{wakers} } };
        $beside->() if $beside;
        my $accident = $urn[rand @urn];
        my $what = $self->{accidents}{$accident}[1]->($self) // next;
        $self->{done}{$accident}++;
        push @{ $self->{log} }, sprintf '%.3f %s %s', time, $accident, $what;
    }
}

sub strike($self, $signal, @pids) {
    @pids = grep { defined } @pids or return;
    kill $signal => @pids;
    $self->{last_kill} = time if $signal eq 'KILL';
    return "@pids";
}

# Stops it for a while. A process of its own lets it go on, because the one who stopped
# it may come to wait for it.
sub hold($self, $pid) {
    my $hit = $self->strike(STOP => $pid) // return;
    my $seconds = rand $self->{longest_stop};
    my $waker = fork // die "fork: $!\n";

    if ($waker == 0) {
        sleep $seconds;
        kill CONT => $pid;
        POSIX::_exit(0);
    }
    $self->{wakers}{$waker} = 1;
    return $hit;
}

# Returns when all go on.
sub wake_all($self) {
    waitpid $_, 0 for keys %{ delete $self->{wakers} // {} };
}

# What was done, how often.
sub done($self) {
    return join ', ', map { "$_ $self->{done}{$_}" } sort keys %{ $self->{done} };
}

1;

package AdmissionTest::Observer;

# Somebody outside who counts the live programs of one httpd every few
# milliseconds and knows how many are allowed just now.
#
#     my $observer = AdmissionTest::Observer->watch($httpd->{dir}, 4, $httpd->{group});
#     $observer->allow(6);     # before a reload with a higher limit
#     $observer->lower(2);     # after a reload with a lower one
#     my $seen = $observer->report;
#
# The report: { samples, seconds, most => { limit => most live ones under it },
#               wrong => [text, ...] }
#
# A lowered limit ends nobody. So the number allowed falls with the number that
# live: it is the most that were seen lately, until that is the limit.

use strict;
use warnings;

use IO::Handle;
use IO::Select;
use JSON::PP ();
use POSIX ();
use Time::HiRes qw(sleep time);

use Admission::Live qw(describe live_programs);

my $PAUSE      = 0.002;
my $LATELY     = 3;    # seconds in which a permit becomes a program
my $MOST_WRONG = 10;   # of them described in full

sub watch {
    my ($class, $dir, $limit, $group) = @_;
    my $test = $$;
    pipe my $orders,  my $to_observer or die "pipe: $!\n";
    pipe my $reports, my $to_test     or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        close $to_observer;
        observe($dir, $limit, $group, $orders, $to_test, $test);
        POSIX::_exit(0);
    }
    $to_observer->autoflush(1);
    return bless { pid => $pid, orders => $to_observer, reports => $reports },
                 $class;
}

sub allow { my ($self, $limit) = @_; print { $self->{orders} } "allow $limit\n" }
sub lower { my ($self, $limit) = @_; print { $self->{orders} } "lower $limit\n" }

sub report {
    my ($self) = @_;

    close $self->{orders};
    local $/;
    my $report = JSON::PP::decode_json(readline($self->{reports}));
    waitpid $self->{pid}, 0;
    return $report;
}

# ---- in the observer's own process ------------------------------------------

sub observe {
    my ($dir, $limit, $group, $orders, $to_test, $test) = @_;
    my %self = (limit => $limit, allowed => $limit, lately => [],
                lowered_at => 0);
    my ($samples, %most, %seen, @wrong) = 0;
    my $input = IO::Select->new($orders);
    my $began = time;

    ORDERS: while (getppid() == $test) {
        while ($input->can_read(0)) {
            my $got = sysread $orders, my $lines, 4096;
            last ORDERS if !$got;
            obey(\%self, $_) for split /\n/, $lines;
        }
        my @live = live_programs($dir, \%seen, $group);
        $samples++;
        fall(\%self, scalar @live) if $self{allowed} > $self{limit};
        my $most = \$most{ $self{allowed} };
        $$most = @live if @live > ($$most // 0);
        push @wrong, sprintf('%.3f: %d live, %d allowed:', time, scalar @live,
                             $self{allowed}) . describe(@live)
            if @live > $self{allowed};
        sleep $PAUSE;
    }
    my $more = @wrong > $MOST_WRONG ? splice(@wrong, $MOST_WRONG) : 0;
    push @wrong, "and $more more samples" if $more;
    local $SIG{PIPE} = 'IGNORE';
    print $to_test JSON::PP::encode_json({ samples => $samples, seconds => time - $began, most => \%most,
                                           wrong => \@wrong });
    close $to_test;
}

sub obey {
    my ($self, $order) = @_;
    my ($what, $limit) = split ' ', $order;

    $self->{limit} = $limit;
    if ($what eq 'allow' && $limit > $self->{allowed}) {
        $self->{allowed} = $limit;
    }
    @{ $self->{lately} } = ();
    $self->{lowered_at} = time;
}

# The most that lived at once in the last seconds.
sub fall {
    my ($self, $live) = @_;
    my $now = time;
    my $lately = $self->{lately};

    push @$lately, [ $now, $live ];
    shift @$lately while $lately->[0][0] < $now - $LATELY;
    return if $now < $self->{lowered_at} + $LATELY;

    my $most = $self->{limit};
    for (@$lately) { $most = $_->[1] if $_->[1] > $most }
    $self->{allowed} = $most if $most < $self->{allowed};
}

1;

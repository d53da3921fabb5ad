package AdmissionTest::FleetChaos;

# Everything that can go wrong in a fleet, at random, while three servers are loaded and
# somebody outside counts: docs/dev/chaos.md says what.
#
#     fleet_chaos(combo => {...}, seconds => 60, seed => 4711);

use Exporter 'import';
use List::Util 'shuffle';
use Time::HiRes qw(sleep time);

use AdmissionTest;
use AdmissionTest::Fleet;

use parent 'AdmissionTest::Accidents';

our @EXPORT = qw(fleet_chaos);

my $ROUND   = 20;     # seconds of accidents between two rests
my $PAUSE   = 0.4;    # mean seconds between two accidents
my ($LEASE, $HOLD) = (3, 2);
my $LONGEST = 500;    # milliseconds that a program runs, well below the hold
my $CHILDREN = 2;     # of a server with threads, as it is configured
my $STOPPED = 1.5;    # seconds that something is stopped at most: with its program, below the hold

# What may happen, and how often compared to the others.
my %ACCIDENTS = (
    wire          => 10,
    wires         => 3,
    heal          => 6,
    kill_agent    => 6,
    stop_agent    => 3,
    stop_engine   => 3,
    kill_engine   => 3,
    flush_engine  => 2,
    graceful      => 3,
    kill_child    => 4,
    kill_server   => 1,
    move_load     => 4,
);
my @WIRES = ('pass', 'delay 20', 'delay 200', 'delay 900', 'trickle', 'stall', 'deaf', 'mute', 'cut',
             'garbage', 'flood', 'lose 0', 'lose 200', 'lose 700', 'lose 2500');

sub fleet_chaos {
    my (%o) = @_;
    my $fleet = AdmissionTest::Fleet->start($o{combo}, lease => $LEASE, hold => $HOLD, queue => 50);
    my $self = bless { fleet => $fleet, round => 0, accidents => \%ACCIDENTS, pause => $PAUSE,
                       longest_stop => $STOPPED }, __PACKAGE__;

    srand $o{seed};
    # A program whose server is killed may be, too, and writes no end.
    $fleet->{kills_programs} = 1;
    $fleet->is_leased;
    $self->rounds($o{seconds}, $ROUND);
    note "$self->{round} rounds; ", $self->done;
    note 'programs: ' . grep { /^start / } $fleet->{httpds}[0]->record;
    my $is_whole = Test::More->builder->is_passing;
    my @surplus = map { $_->children - $CHILDREN } @{ $fleet->{httpds} };
    $fleet->stop;
    $o{combo}{mpm} eq 'event' and ends($_, shift @surplus) for @{ $fleet->{httpds} };
    diag join "\n", 'What was done:', @{ $self->{log} } if $is_whole && !Test::More->builder->is_passing;
}

# An assertion that no child had to be killed, but for those that httpd tells nothing: it
# replaces one that is killed while it drains, and tells as many as there may be (docs/dev/chaos.md).
sub ends {
    my ($httpd, $surplus) = @_;
    my $killed = grep { /AH00046: / } $httpd->error_log;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    cmp_ok $killed, '<=', $surplus > 0 ? $surplus : 0, '... and its children end, but those that httpd has too many'
        or $httpd->show_log;
}

sub storm {
    my ($self, $seconds) = @_;

    load($self);
    $self->draw_accidents($seconds);
}

sub load {
    my ($self) = @_;
    for my $n (0 .. $#{ $self->{fleet}{httpds} }) {
        $self->{fleet}->load(1 + int rand 6, only => [$n], ms => 20 + int rand $LONGEST - 20);
    }
}

sub comes_to_rest {
    my ($self) = @_;
    my $fleet = $self->{fleet};

    $self->wake_all;
    $_->becomes('pass') for @{ $fleet->{wires} };
    return subtest "round $self->{round} comes to rest" => sub {
        for my $httpd (@{ $fleet->{httpds} }) {
            $httpd->soon(sub { eval { $httpd->status } }, 30);
        }
        $fleet->rest(within => 60);
    };
}

# ---- accidents: each returns what it hit, or undef if there was nothing ------------

sub any { my (@of) = @_; return @of ? $of[rand @of] : undef }

sub any_server { my ($self) = @_; return any(@{ $self->{fleet}{httpds} }) }

sub wire {
    my ($self) = @_;
    my ($n, $how) = (int rand @{ $self->{fleet}{wires} }, any(@WIRES));
    $self->{fleet}{wires}[$n]->becomes($how);
    return "$n $how";
}

sub wires {
    my ($self) = @_;
    my $how = any(@WIRES);
    $_->becomes($how) for @{ $self->{fleet}{wires} };
    return $how;
}

sub heal { my ($self) = @_; $_->becomes('pass') for @{ $self->{fleet}{wires} }; return '' }

sub kill_agent  { my ($self) = @_; return $self->strike(KILL => any(any_server($self)->agents)) }
sub stop_agent  { my ($self) = @_; return $self->hold(any(any_server($self)->agents)) }
sub stop_engine { my ($self) = @_; return $self->hold($self->{fleet}{redis}{pid}) }
sub kill_child  { my ($self) = @_; return $self->strike(KILL => any(any_server($self)->children)) }
sub graceful    { my ($self) = @_; return $self->strike(USR1 => any_server($self)->{pid}) }

sub kill_engine {
    my ($self) = @_;
    my $seconds = rand 4;
    $self->{fleet}{redis}->stop;
    sleep $seconds;
    $self->{fleet}{redis}->launch;
    return sprintf '%.1f s', $seconds;
}

sub flush_engine { my ($self) = @_; $self->{fleet}{redis}->command('FLUSHALL'); return '' }

# A server and all that it runs, which is started again.
sub kill_server {
    my ($self) = @_;
    my $httpd = any_server($self);
    return if $httpd == $self->{fleet}{httpds}[0]; # whose directory has the record
    my $pid = $httpd->{pid};
    kill KILL => $pid;
    $httpd->soon(sub { $httpd->has_exited });
    $httpd->soon(sub { kill KILL => $httpd->processes; !$httpd->processes });
    unlink "$httpd->{dir}/run/httpd.pid";
    $httpd->launch;
    $httpd->soon(sub { $httpd->comes_up }, 30);
    return $pid;
}

sub move_load { my ($self) = @_; $self->{fleet}->unload; load($self); return '' }

1;

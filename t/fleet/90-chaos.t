# Everything that can go wrong in a fleet, at random, while three servers are loaded and
# somebody outside counts: docs/dev/chaos.md says what.
#
#     SECONDS=1800 make check-fleet    half an hour of it; two minutes unless said
#     SEED=4711 ...                    the accidents of an earlier run

use AdmissionTest;
use AdmissionTest::Fleet;
use Time::HiRes qw(sleep time);

use parent 'AdmissionTest::Accidents';

engine_or_skip('redis');

my $seconds = $ENV{SECONDS} // 120;
my $seed    = $ENV{SEED} // int rand 1e6;
my @wanted  = qw(event+cgid prefork+cgi);
my $combos  = combos(@wanted) || 1;

my $ROUND   = 20;     # seconds of accidents between two rests
my $PAUSE   = 0.4;    # mean seconds between two accidents
my ($LEASE, $HOLD) = (3, 2);
my $LONGEST = 500;    # milliseconds that a program runs, well below the hold
my $CHILDREN = 2;     # of a server with threads, as it is configured
my $STOPPED = 1.5;    # seconds that something is stopped at most: with its program, below the hold

my @WIRES = ('pass', 'delay 20', 'delay 200', 'delay 900', 'trickle', 'stall', 'deaf', 'mute', 'hush',
             'cut', 'garbage', 'flood', 'lose 0', 'lose 200', 'lose 700', 'lose 2500');

# What may happen, how often compared to the others, and code that returns what it hit, or
# undef if there was nothing.
my %ACCIDENTS = (
    wire         => [ 10, \&wire ],
    wires        => [ 3, sub { wires_become($_[0], any(@WIRES)) } ],
    heal         => [ 6, sub { wires_become($_[0], 'pass') } ],
    kill_agent   => [ 6, sub { $_[0]->strike(KILL => any(any_server($_[0])->agents)) } ],
    stop_agent   => [ 3, sub { $_[0]->hold(any(any_server($_[0])->agents)) } ],
    stop_engine  => [ 3, sub { $_[0]->hold($_[0]{fleet}{redis}{pid}) } ],
    kill_engine  => [ 3, \&kill_engine ],
    flush_engine => [ 2, sub { $_[0]{fleet}{redis}->command('FLUSHALL') } ],
    graceful     => [ 3, sub { $_[0]->strike(USR1 => any_server($_[0])->{pid}) } ],
    kill_child   => [ 4, sub { $_[0]->strike(KILL => any(any_server($_[0])->children)) } ],
    kill_server  => [ 1, \&kill_server ],
    move_load    => [ 4, sub { $_[0]{fleet}->unload; load($_[0]); '' } ],
);

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
    $fleet->wires_become('pass');
    return subtest "round $self->{round} comes to rest" => sub {
        for my $httpd (@{ $fleet->{httpds} }) {
            $httpd->soon(sub { eval { $httpd->status } }, 30);
        }
        $fleet->rest(within => 60);
    };
}

# ---- accidents ---------------------------------------------------------------------

sub any { my (@of) = @_; return @of ? $of[rand @of] : undef }

sub any_server { my ($self) = @_; return any(@{ $self->{fleet}{httpds} }) }

sub wire {
    my ($self) = @_;
    my ($n, $how) = (int rand @{ $self->{fleet}{wires} }, any(@WIRES));
    $self->{fleet}{wires}[$n]->becomes($how);
    return "$n $how";
}

sub wires_become {
    my ($self, $how) = @_;
    $self->{fleet}->wires_become($how);
    return $how;
}

sub kill_engine {
    my ($self) = @_;
    my $seconds = rand 4;
    $self->{fleet}{redis}->stop;
    sleep $seconds;
    $self->{fleet}{redis}->launch;
    return sprintf '%.1f s', $seconds;
}

# A server and all that it runs, which is started again.
sub kill_server {
    my ($self) = @_;
    my $httpd = any_server($self);
    return if $httpd == $self->{fleet}{httpds}[0]; # whose directory has the record
    my $pid = $httpd->{pid};

    $httpd->dies;
    $httpd->launch;
    $httpd->soon(sub { $httpd->comes_up }, 30);
    return $pid;
}

diag "SEED=$seed";
for_each_combo(sub {
    my ($combo) = @_;
    my $fleet = AdmissionTest::Fleet->start(lease => $LEASE, hold => $HOLD, queue => 50);
    my $self = bless { fleet => $fleet, round => 0, accidents => \%ACCIDENTS, pause => $PAUSE,
                       longest_stop => $STOPPED }, __PACKAGE__;

    srand $seed;
    # A program whose server is killed may be, too, and writes no end.
    $fleet->{kills_programs} = 1;
    $self->rounds($seconds / $combos, $ROUND);
    note "$self->{round} rounds; ", $self->done;
    note 'programs: ' . grep { /^start / } $fleet->{httpds}[0]->record;
    my $is_whole = Test::More->builder->is_passing;
    my @surplus = map { $_->children - $CHILDREN } @{ $fleet->{httpds} };
    $fleet->stop;
    $combo->{mpm} eq 'event' and ends($_, shift @surplus) for @{ $fleet->{httpds} };
    diag join "\n", 'What was done:', @{ $self->{log} } if $is_whole && !Test::More->builder->is_passing;
}, @wanted);

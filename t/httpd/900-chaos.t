# Everything that can go wrong, at random, on every MPM and CGI module: for six seconds
# each, or longer:
#
#     make check-chaos                    five minutes
#     SECONDS=1800 make check-chaos       half an hour, shared by the combinations
#     SEED=4711 make check-chaos          the accidents of an earlier run
#     ADMISSION_COMBOS=event+cgid ...     one combination only
#
# Rounds of accidents under load, each followed by a rest in which everything has to come right:
# docs/dev/chaos.md says what happens and what long runs found. The same seed draws the same
# accidents; what they hit depends on the machine.

use AdmissionTest;
use Admission::Crowd;
use Admission::Parking qw(backlog);
use List::Util qw(max shuffle);
use POSIX ();
use Time::HiRes qw(sleep time);

use parent 'AdmissionTest::Accidents';

my $seed    = $ENV{SEED} // int rand 1e6;
my $seconds = $ENV{ADMISSION_LONG} ? ($ENV{SECONDS} // 300) / combos() : 6;

my $ZONE          = '/cgi-bin/';
my $MOST          = 6;     # the highest limit
my $ROUND         = 6;     # seconds of accidents between two rests
my $PAUSE         = 0.12;  # mean seconds between two accidents
my $LONGEST_STOP  = 1;     # seconds that a process is stopped
my $QUEUE_TIMEOUT = 3;
my $SLACK         = 1;     # seconds that a busy machine may add to a wait
my $OUTSIDERS     = 4;     # curl and h2load at once
my $STOPS_WITHIN  = 14;    # httpd alone takes 10 if children were killed before

my @PROGRAMS = (
    'ms=20', 'ms=100', 'ms=200&early=1', 'ms=300&stream=1000', 'ms=150&close=1',
    'ms=400&ignore=1&stream=2000', 'ms=1500&ignore=1', 'ms=700&ignore=1&close=1',
);

# What may happen, how often compared to the others, and code that returns what it hit, or
# undef if there was nothing.
my %ACCIDENTS = (
    kill_child    => [ 8, sub { $_[0]->strike(KILL => some(1, $_[0]{httpd}->children)) } ],
    kill_children => [ 2, sub { $_[0]->strike(KILL => any_number($_[0]{httpd}->children)) } ],
    kill_daemon   => [ 3, sub { $_[0]->strike(KILL => $_[0]{httpd}->daemons) } ],
    kill_agent    => [ 2, sub { $_[0]->strike(KILL => $_[0]{httpd}->agents) } ],
    kill_program  => [ 6, sub { $_[0]->strike(KILL => some(1 + int rand 2, $_[0]{httpd}->live_programs_now)) } ],
    kill_both     => [ 3, \&kill_both ],    # a child and a program at once
    stop_child    => [ 5, sub { $_[0]->hold(some(1, $_[0]{httpd}->children)) } ],
    stop_agent    => [ 2, sub { $_[0]->hold(some(1, $_[0]{httpd}->agents)) } ],
    stop_program  => [ 5, sub { $_[0]->hold(some(1, $_[0]{httpd}->live_programs_now)) } ],
    leave_all     => [ 3, \&leave_all ],    # the whole crowd reloads the page
    kill_outsider => [ 8, sub { $_[0]->strike(KILL => some(1, keys %{ $_[0]{outsiders} })) } ],
    graceful      => [ 4, sub { reload($_[0], 'USR1') } ],
    restart       => [ 1, sub { reload($_[0], 'HUP') } ],
    change_limit  => [ 4, \&change_limit ],
);

sub begin {
    my ($combo) = @_;
    my $httpd = new_httpd(workers => 60, tls => 1, http2 => $combo->{mpm} ne 'prefork');
    my $self = { httpd => $httpd, limit => 4, round => 0, outsiders => {}, seen => {},
                 accidents => \%ACCIDENTS, pause => $PAUSE, longest_stop => $LONGEST_STOP };

    srand $seed;
    $httpd->allow_in_log(Admission::Crowd::casualties(), qr/ADM0133: /,
                         qr/^\S+ \S+ \S+ \S+ \S+ \[(?!admission:|mpm_)\w+:/,
                         qr{AH00047|AH00167|AH00288|AH00291|AH0048[458]|AH10159|AH10392},
                         # A hard restart closes sockets under the workers of event.
                         qr/\(9\)Bad file descriptor: AH10503: process_socket/,
                         qr/ADM02\d\d: .*(?:waited too long|reserved)/,
                         # With a high limit streams cannot fill the queue.
                         qr/ADM0115: /);
    set_limit($self, $self->{limit});
    $httpd->start;
    $self->{observer} = $httpd->watch($self->{limit});
    return bless $self, __PACKAGE__;
}

sub set_limit {
    my ($self, $limit) = @_;
    $self->{httpd}->configure(<<"CONF");
<Location $ZONE>
    MaxConcurrent $limit
    AdmissionQueue 30 timeout=${QUEUE_TIMEOUT}s
    AdmissionExempt "%{HTTP:X-Uncounted} == 'yes'"
</Location>
CONF
}

# ---- a round of accidents -----------------------------------------------------

sub storm {
    my ($self, $seconds) = @_;

    gather($self);
    $self->draw_accidents(max(1, $seconds), sub { settle($self) });
}

# What goes on beside the accidents: outside clients are replaced, a lowered
# limit is noticed.
sub settle {
    my ($self) = @_;

    my $outsiders = $self->{outsiders};

    delete @{$outsiders}{ grep { waitpid $_, POSIX::WNOHANG() } keys %$outsiders };
    send_outsider($self) while keys %{ $self->{outsiders} } < $OUTSIDERS;
    if ($self->{is_lowered} && limit_in_force($self) == $self->{limit}) {
        $self->{observer}->lower($self->{limit});
        $self->{is_lowered} = 0;
    }
}

sub gather {
    my ($self) = @_;
    my %programs = (programs => \@PROGRAMS);
    $self->{crowds} = [ crowd_at($self->{httpd}, %programs, clients => 10, patience => 4),
                        crowd_at($self->{httpd}, %programs, clients => 15, patience => 0.3) ];
}

sub disperse {
    my ($self) = @_;
    my $seen = $self->{seen};

    for my $crowd (@{ delete $self->{crowds} }) {
        my $saw = $crowd->go_home;
        # One that goes home before it has come has seen nothing.
        $seen->{longest} = max($seen->{longest} // 0, delete $saw->{longest} // 0);
        $seen->{$_} += $saw->{$_} for keys %$saw;
    }
}

sub send_outsider {
    my ($self) = @_;
    my $httpd = $self->{httpd};
    my $path = "${ZONE}heavy?" . $PROGRAMS[rand @PROGRAMS];
    my $url = $httpd->tls_url($path);
    my @curl = qw(curl -sk --max-time 10);
    my @h2load = (qw(h2load -n 40 -c 2 -T 5), '-N', '10');
    # Who reads, and who sends, as slowly as they may.
    my @slowly = map { [ @curl, '--http1.1', @$_, $httpd->tls_url("${path}&bulk=4000000") ] }
                 [ '--limit-rate', '1M' ],
                 [ qw(--limit-rate 4K -H Expect: --data-binary), 'x' x 20_000 ];
    my @commands = ([ @curl, '--http1.1', $url ], @slowly,
                    [ @curl, '--limit-rate', '1M', $httpd->url("${path}&bulk=9000000") ]);

    push @commands, [ @curl, qw(--http2 --limit-rate 1M), $httpd->tls_url("${path}&bulk=4000000") ], [ @curl, '--http2', $url ], [ @h2load, qw(-m 8), $url ],
                    [ @h2load, '--h1', $httpd->url($path) ],
                    [ qw(nghttp -n -m 6 -t 10), $url ] if $httpd->{http2};
    my $pid = start_program(@{ $commands[rand @commands] });
    $self->{outsiders}{$pid} = 1;
    $self->{sent}++;
}

# The limit as the running httpd shows it, 0 if it cannot be asked now.
sub limit_in_force {
    my ($self) = @_;
    my $zone = eval { $self->{httpd}->zone($ZONE) };
    return $zone ? $zone->{Limit} : 0;
}

# ---- accidents ------------------------------------------------------------------

sub some { my ($n, @of) = @_; return (shuffle @of)[0 .. ($n > @of ? @of : $n) - 1] }

sub any_number { return some(1 + int rand @_, @_) }

sub kill_both {
    my ($self) = @_;
    my $httpd = $self->{httpd};
    my ($program) = some(1, $httpd->live_programs_now) or return;
    my ($child) = $httpd->{cgi} eq 'cgi' ? $httpd->parent_of($program)
                                         : some(1, $httpd->children);
    # A program whose child has died is the keeper's.
    $self->strike(KILL => grep { $_ && $_ > 1 && $_ != $httpd->{pid}
                                 && $_ != $httpd->{keeper} } $child, $program);
}

# Whoever waits in a child is kept by one stop, not by several.
sub hold {
    my ($self, $pid) = @_;
    return if !$pid || time < ($self->{held}{$pid} // 0) + $QUEUE_TIMEOUT + $LONGEST_STOP;
    $self->{held}{$pid} = time;
    return $self->SUPER::hold($pid);
}

sub leave_all {
    my ($self) = @_;
    disperse($self);
    gather($self);
    return '';
}

sub reload {
    my ($self, $signal) = @_;
    $self->{old} = { map { $_ => 1 } $self->{httpd}->children };
    return $self->strike($signal => $self->{httpd}{pid});
}

sub change_limit {
    my ($self) = @_;
    return if $self->{is_lowered};    # one change after the other
    my $limit = 1 + int rand $MOST;

    $self->{is_lowered} = $limit < $self->{limit};
    $self->{observer}->allow($limit) if !$self->{is_lowered};
    $self->{limit} = $limit;
    set_limit($self, $limit);
    reload($self, 'USR1');
    return $limit;
}

# ---- a rest: everything comes right ---------------------------------------------

# @return whether it did.
sub comes_to_rest {
    my ($self) = @_;
    my $httpd = $self->{httpd};

    $self->wake_all;
    disperse($self);
    kill KILL => keys %{ $self->{outsiders} };
    waitpid $_, 0 for keys %{ $self->{outsiders} };
    $self->{outsiders} = {};
    end_old_children($self);
    kill USR1 => $httpd->{pid} if $httpd->is_left_alone;
    my $ok = subtest "round $self->{round} comes to rest" => sub {
        wait_for { $httpd->status } 'httpd answers' or return;
        # Also those of requests that no child has accepted yet.
        wait_for { !backlog($httpd) && !$httpd->live_programs_now } 'the last programs end';
        my $ended_at = max(time, $self->{last_kill} // 0);
        $httpd->comes_to_rest;
        in_two_seconds($ended_at);
        is scalar($httpd->live_programs_now), 0, 'no program lives on uncounted';
        wait_for { runs_programs($httpd) } 'httpd itself runs programs';
        $httpd->soon(sub { !$httpd->live_programs_now });
        is $httpd->get("${ZONE}heavy?id=after")->{status}, 200, 'a new request runs';
        my $status = $httpd->status;
        is_deeply [ @{$status}{qw(AdmissionBlocked AdmissionParked AdmissionUnlimited)} ],
            [ 0, 0, 0 ], 'no request is left waiting, none ran uncounted';
    };
    # For a look at what is left of it: CHAOS_ON_FAILURE=program
    system $ENV{CHAOS_ON_FAILURE}, $httpd->{pid}, $httpd->{dir}
        if !$ok && $ENV{CHAOS_ON_FAILURE};
    return $ok;
}

sub runs_a_request {
    my ($httpd) = @_;
    my $asked_at = time;

    is $httpd->get("${ZONE}heavy?id=after")->{status}, 200, 'a new request runs';
    note sprintf '... after %.2f s', time - $asked_at;
    is_deeply [ @{ $httpd->status }{qw(AdmissionBlocked AdmissionParked AdmissionUnlimited)} ], [ 0, 0, 0 ],
        'no request is left waiting, none ran uncounted';
}

# httpd replaces a dead daemon of mod_cgid when it comes to it.
sub runs_programs {
    my ($httpd) = @_;
    my $answer = eval { $httpd->get("${ZONE}heavy", headers => ['X-Uncounted: yes']) };
    return $answer && $answer->{status} == 200;
}

# Those from before the last reload end with it. But httpd forgets a child that
# was stopped when it looked after it, and a signal that comes during a reload.
sub end_old_children {
    my ($self) = @_;
    my $httpd = $self->{httpd};
    my $old = sub { grep { $self->{old}{$_} } $httpd->children };

    $httpd->soon(sub { !$old->() }, $STOPS_WITHIN);
    my @forgotten = $old->() or return;
    $self->strike(KILL => @forgotten);
    $self->{done}{forgotten_by_httpd} += @forgotten;
}

# At a hard restart httpd itself lets a child crash once in a while, not once a
# restart (docs/dev/chaos.md): prefork destroys its pools in a signal handler that may
# have interrupted malloc(), event closes sockets that its workers just freed.
sub no_child_crashed {
    my ($self) = @_;
    my $crash = $self->{httpd}{mpm} eq 'prefork' ? qr/exit signal Abort/
                                                 : qr/exit signal Segmentation fault/;
    my @crashed = grep { /exit signal (?!Killed)/ } $self->{httpd}->error_log;
    my $at_restart = grep { $_ =~ $crash } @crashed;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    @crashed = grep { $_ !~ $crash } @crashed if $at_restart < ($self->{done}{restart} // 0);
    is_deeply \@crashed, [], 'no child crashed';
    $self->{done}{crashed_at_a_restart} = $at_restart if $at_restart;
}

sub finish {
    my ($self) = @_;
    my $httpd = $self->{httpd};
    my $seen = $self->{seen};
    my $report = $self->{observer}->seen;
    my $longest = 1000 * ($QUEUE_TIMEOUT + $LONGEST_STOP + $SLACK);
    my $programs = grep { /^start / } $httpd->record;

    ok !@{ $report->{wrong} }, 'there were never more programs than allowed'
        or diag join "\n", @{ $report->{wrong} }, 'What was done:',
                @{ $self->{log} };
    is_deeply [ grep { /\bwait=(\d+)/ && $1 > $longest } $httpd->access_log ],
        [], 'nobody waited longer than the time for that';
    no_child_crashed($self);
    note "$self->{round} rounds; ", $self->done;
    note join ', ', (map { "clients $_: $seen->{$_}" } sort keys %$seen),
         "outside clients: $self->{sent}", "programs: $programs";
    note sprintf 'observed %d times in %d seconds; most live programs under '
         . 'each limit: %s', $report->{looks}, $report->{seconds},
         join ', ', map { "$report->{under}{$_} under $_" }
                    sort { $a <=> $b } keys %{ $report->{under} };
    $httpd->stop;
}

diag "SEED=$seed";
for_each_combo(sub ($combo) {
    my $self = begin($combo);

    note "$combo->{name}: SEED=$seed, $seconds seconds";
    $self->rounds($seconds, $ROUND);
    finish($self);
});

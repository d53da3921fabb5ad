package AdmissionTest::Fleet;

# Three servers that share one limit by a private Redis, each over a wire of its own
# (AdmissionTest::Wire). Whatever they run is the program of the first one, so that one
# observer sees all.
#
#     my $fleet = AdmissionTest::Fleet->start(fallback => 'reject');
#     $fleet->load(8);
#     ... accidents ...
#     $fleet->rest;                # the load ends; all is whole again
#     $fleet->stop;                # and never more than the limit ran

use Time::HiRes qw(sleep time);

use AdmissionTest;
use Admission::Crowd;
use Admission::Live qw(watch_programs);
use Admission::Redis;
use AdmissionTest::Wire;

our $LIMIT = 4;
our $ZONE  = 'db';
my $TOLD = qr/ADM0141|ADM0152/;
my $RENEWED = 0.2;    # seconds that a lease ends later once it was renewed, at least

# What servers say of an engine that goes away, and httpd of programs that do.
my @EXPECTED = (qr/ADM0105/, qr/ADM0133/, qr/ADM014[1-9]/, qr/ADM015[02]/, qr/AH10246/, qr/ADM0202/,
                qr/\[cgid?:error\]/, qr/AH00052: child pid \d+ exit signal Killed/,
                qr/AH0004[56]: /, qr/AH00098: pid file/, qr/AH00288|AH00291|AH00167/);

# Whether the engine's module can speak TLS.
sub has_tls { return `ldd '${\ Admission::Config::engine_module() }'` =~ /hiredis_ssl/ }

# fallback, lease, hold (seconds), servers, timeout (of the engine), redis (a Redis),
# engine (what AdmissionEngine says, and no wires), watched (an observer looks all the time,
# 1 unless said), waits (until all have a lease, 1 unless said).
sub start($class, %o) {
    my $self = bless { fallback => 'reject', lease => 3, hold => 1, servers => 3, timeout => '500ms',
                       limit => $LIMIT, watched => 1, waits => 1, queue => 200, %o, crowds => [] }, $class;

    if (!$self->{engine}) {
        $self->{redis} //= Admission::Redis->start;
        $self->{engine_port} = $self->{redis}{port};
        $self->{wires} = [ map { AdmissionTest::Wire->start($self->{engine_port}) } 1 .. $self->{servers} ];
    }
    $self->{httpds} = [];
    for my $n (0 .. $self->{servers} - 1) {
        my $httpd = new_httpd(workers => 40)->allow_in_log(@EXPECTED);
        push @{ $self->{httpds} }, $httpd;
        $httpd->configure($self->conf($n));
        $httpd->start;
    }
    $self->{observer} = watch_programs($self->dir, undef, $self->{limit}) if $self->{watched};
    $self->is_leased if $self->{waits};
    return $self;
}

# The first server's, with the programs of all.
sub dir { return $_[0]{httpds}[0]{dir} }

sub conf($self, $n) {
    my $dir = $self->dir;
    my $engine = $self->{engine} // "redis://127.0.0.1:$self->{wires}[$n]{port}";
    return fleet_zone("$engine timeout=$self->{timeout}",
                      "lease=$self->{lease}s hold=$self->{hold}s fallback=$self->{fallback}", $self->{limit},
                      "ScriptAlias $dir/cgi/heavy", "SetEnv HEAVY_DIR $dir/heavy",
                      "AdmissionQueue $self->{queue} timeout=60s")
        . section("Directory $dir/cgi", 'Require all granted');
}

sub zones($self) { return map { eval { $_->zone($ZONE) } // {} } @{ $self->{httpds} } }

sub sum($self, $field) {
    my $sum = 0;
    $sum += $_->{$field} // 0 for $self->zones;
    return $sum;
}

# An assertion that all have a lease and know of each other. renewed: the engine has given it
# from now on. A server that has just lost its agent or its engine has one as well, for as
# long as it lasts.
sub is_leased($self, $what = undef, %o) {
    my $servers = @{ $self->{httpds} };
    my @ends = $o{renewed} ? map { end_of_lease($_) + $RENEWED } $self->zones : (0) x $servers;

    return wait_for {
        my @zones = $self->zones;
        $servers == grep { my $zone = $zones[$_];
                           ($zone->{FleetState} // '') eq 'leased' && $zone->{FleetServers} == $servers
                               && end_of_lease($zone) > $ends[$_] } 0 .. $#zones;
    } $what // 'all servers have a lease', $o{within} // 30;
}

sub end_of_lease($zone) { return time + ($zone->{FleetLeaseMs} // 0) / 1000 }

# An assertion: the engine does not learn any more about the zone that it knows, as in a fleet
# that has run.
sub end_learning($redis) {
    is $redis->command(EVAL => "local z = cjson.decode(redis.call('HGET', KEYS[1], '#')) z[7] = 0 "
        . "redis.call('HSET', KEYS[1], '#', cjson.encode(z)) return 'ok'", 1, "adm:{$ZONE}"), 'ok', 'the engine has learnt';
}

# Clients at each server, who ask again and again for a program of so many milliseconds.
sub load($self, $clients, %o) {
    my @asked = $o{only} ? @{ $o{only} } : 0 .. $#{ $self->{httpds} };

    push @{ $self->{crowds} }, map {
        crowd_at($self->{httpds}[$_], clients => $clients, patience => 30, programs => [ 'ms=' . ($o{ms} // 60) ])
    } @asked;
    return $self;
}

# Its clients go home. @return how many programs ran since the fleet began.
sub unload($self) {
    $_->go_home for splice @{ $self->{crowds} };
    return $self->ended;
}

# So many programs have ended by now.
sub ended($self) { return scalar grep { /^end / } $self->{httpds}[0]->record }

# An assertion that the load goes on: programs end.
sub goes_on($self, $what, $within = 15) {
    my $before = $self->ended;
    return wait_for { $self->ended > $before + $LIMIT } $what, $within;
}

# Assertions: a load of 5 clients per server, or with these options of load(), continues when the
# code has run, and afterwards the fleet is at rest.
sub survives($self, $what, $code, %o) {
    my $within = $o{within} // 30;

    $self->load($o{clients} // 5, %o);
    $self->goes_on("$what: requests run");
    $code->();
    $self->goes_on("$what: requests run afterwards", $within);
    $self->rest(within => $within);
}

# An assertion that no server has a lease.
sub is_lapsed($self, $what) {
    return wait_for { @{ $self->{httpds} } == grep { ($_->{FleetState} // '') eq 'fallback' } $self->zones }
        "$what: no server has a lease", 20;
}

sub wires_become($self, $how) { $_->becomes($how) for @{ $self->{wires} } }

# An assertion that a server whose AdmissionEngine says this, from a reload on, tells in
# one line why that is no engine, and has it as before after another reload.
sub is_told($self, $n, $what, $engine, $pattern) {
    my $httpd = $self->{httpds}[$n];
    my $before = $self->lines($n, $TOLD);

    $self->change_engine($n, $engine);
    wait_for { $self->lines($n, $TOLD) > $before } "$what: there is a line", 20;
    my ($line) = reverse grep { $_ =~ $TOLD } $httpd->error_log;
    like $line, $pattern, '... that says it';
    my $errors = $httpd->status->{AdmissionEngineErrors};
    wait_for { $httpd->status->{AdmissionEngineErrors} > $errors + 1 } '... while it tries again', 20;
    is $self->lines($n, $TOLD), $before + 1, '... in one line';
    $self->change_engine($n, $self->{engine});
}

# From a reload on, which has another agent.
sub change_engine($self, $n, $engine) {
    my $httpd = $self->{httpds}[$n];
    my ($agent) = $httpd->agents;
    local $self->{engine} = $engine;

    $httpd->graceful($self->conf($n));
    $httpd->next_agent($agent, 'a reload');
}

# Lines of a server's log with this in it.
sub lines($self, $n, $pattern) {
    return scalar grep { $_ =~ $pattern } $self->{httpds}[$n]->error_log;
}

# Assertions: the load ends, everybody has a lease, nobody is counted, one server alone
# may use all, and each can run.
sub rest($self, %o) {
    $self->unload;
    $self->is_leased('all have a lease again', %o, renewed => 1);
    wait_for { $self->sum('Active') + $self->sum('Queued') == 0 } '... nobody runs or waits', 20;
    wait_for { !$self->{httpds}[0]->live_programs_now } '... no program is left', 20;
    for my $httpd (@{ $self->{httpds} }) {
        my $gate = 'rest' . ++$self->{rests};
        my @asked = map { $httpd->ask("/cgi-bin/heavy?until=$gate") } 1 .. $self->{limit};
        $httpd->zone_becomes($ZONE, '... one server alone may use all', Active => $self->{limit});
        $self->{httpds}[0]->open_gate($gate);
        my $seen = statuses(answers(@asked));
        is_deeply $seen, { 200 => $self->{limit} }, '... and does' or diag explain $seen;
    }
}

# No more than that ever ran, by the programs' own record and by who looked on.
sub never_exceeded($self) {
    my ($now, $seen) = (0, 0);

    for ($self->{httpds}[0]->record) {
        $now += /^start / ? 1 : -1;
        $seen = $now if $now > $seen;
    }
    cmp_ok $seen, '<=', $self->{limit}, "never more than $self->{limit} programs at once, by their record" if !$self->{kills_programs};
    if (my $observer = delete $self->{observer}) {
        my $report = $observer->seen;
        ok !@{ $report->{wrong} }, "never more than $self->{limit}, in $report->{looks} looks"
            or diag join "\n", @{ $report->{wrong} };
    }
}

sub stop($self) {
    $self->unload;
    $self->never_exceeded if $self->{watched};
    $_->stop for @{ $self->{httpds} };
}

1;

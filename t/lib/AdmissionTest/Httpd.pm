package AdmissionTest::Httpd;

# A private httpd of a test: what must be true of it is an assertion.

use strict;
use warnings;
use experimental 'signatures';

use JSON::PP ();
use Test::More;

use Admission qw(answers statuses);

use parent 'Admission::Httpd';

sub must($self, $is, $what, @details) {
    return ok($is, $what) || diag join "\n", @details;
}

# Requests wait as long as a test needs on a busy machine, unless it says how long.
sub configure($self, $conf) {
    return $self->SUPER::configure($conf =~ s/^(\s*AdmissionQueue [1-9]\d*)$/$1 timeout=300s/mgr);
}

# Has it see nothing of what others do on the machine, where tests run side by side: how busy
# the processors are, how much memory is free, and who stalls for it stay as they are now. Where
# /proc cannot be covered, which needs root and a mount namespace, it sees the machine.
sub alone($self) {
    my @mounts;

    for my $path (grep { -e "/proc/$_" } qw(stat meminfo pressure/memory)) {
        my $copy = $path =~ tr{/}{-}r;
        $self->put("../$copy", $self->slurp("/proc/$path"));
        push @mounts, "mount --bind $self->{dir}/$copy /proc/$path";
    }
    my $mounts = join ' && ', @mounts;
    return $self if $> != 0 || system("unshare -m sh -c '$mounts' 2>/dev/null");
    return $self->behind("exec unshare -m sh -c '$mounts && exec \"\$@\"' sh");
}

# What a page answers as JSON.
sub json($self, $url) { return JSON::PP::decode_json($self->get($url)->{body}) }

# The answer of admission-control to an order: order('/control', 'zone=x&limit=3'), with other
# headers than that of admissionctl where there are some.
sub order($self, $url, $form, @headers) {
    unshift @headers, 'X-Admission-Control: 1' if !@headers;
    return $self->get($url, method => 'POST', body => $form,
                      headers => [ 'Content-Type: application/x-www-form-urlencoded', @headers ]);
}

# Assertion: there comes to be one agent, and not the one of before. @return its pid.
sub next_agent($self, $before, $what) {
    my @agents;

    $self->must($self->soon(sub { @agents = $self->agents; @agents == 1 && $agents[0] != $before }), $what);
    return $agents[0];
}

# Assertions: kill -9 of the parent, and then of all other processes but these.
sub dies($self, @spared) {
    my %is_spared = map { $_ => 1 } @spared;
    my $others = sub { grep { !$is_spared{$_} } $self->processes };

    kill KILL => $self->{pid};
    $self->must($self->soon(sub { $self->has_exited }), 'the parent is killed');
    # What was just being forked as well.
    $self->must($self->soon(sub { kill KILL => $others->(); !$others->() }), '... and all others');
}

sub watch($self, $limit = undef) {
    push @{ $self->{watches} }, my $watch = $self->SUPER::watch($limit);
    return $watch;
}

# Fills a zone, and asserts it: so many requests run until the gate is opened, others wait behind
# them: fill('/cgi-bin/', 'gate', 2, 3). @return the clients.
sub fill($self, $zone, $gate, $running, $waiting = 0) {
    my @clients = map { $self->ask("${zone}heavy?until=$gate") } 1 .. $running;

    $self->zone_becomes($zone, "$running run in $zone", Active => $running, Queued => 0);
    return @clients if !$waiting;
    push @clients, map { $self->ask("${zone}heavy?until=$gate") } 1 .. $waiting;
    $self->zone_becomes($zone, "$waiting wait in $zone", Active => $running, Queued => $waiting);
    return @clients;
}

# Asserts that requests of these ids wait in the zone, in this order. @return the clients.
sub waits($self, $zone, @ids) {
    my @clients;

    for (@ids) {
        push @clients, $self->ask("${zone}x?id=$_");
        $self->zone_becomes($zone, "$_ waits", Queued => scalar @clients);
    }
    return @clients;
}

# The line of the access log: is_noted('id', status => 'full', queued => 2)
sub is_noted($self, $id, %is) {
    my $line = $self->logged($id);
    return is_deeply({ map { $_ => $line->{$_} } keys %is }, \%is, "the access log of $id");
}

# Opens the gate: all these clients get their response.
sub serves($self, $gate, $what, @clients) {
    $self->open_gate($gate);
    return is_deeply statuses(answers(@clients)), { 200 => scalar @clients }, $what;
}

# Assertion: all permits are free, and no request waits, runs or has bytes in a spool.
sub comes_to_rest($self) {
    my @busy;

    my $rests = $self->soon(sub {
        my $status = eval { $self->status } or return;
        my %zone = %{ $status->{zone} };
        @busy = (
            (grep { $status->{$_} } map { "Admission$_" } qw(Running Blocked Parked Transfers Spooled)),
            (grep { $zone{$_}{Active} || $zone{$_}{Queued} } sort keys %zone));
        !@busy;
    });
    $self->must($rests, 'all permits are free, and no request is left', "not at rest: @busy");
    return $self;
}

sub check_log($self) {
    # For whoever has to explain one too many.
    note "most at once: $_" for grep { defined } map { $_->{seen}{largest} } @{ $self->{watches} };
    $self->SUPER::check_log;
    $self->show_log if !Test::More->builder->is_passing;
}

1;

package Admission::Log;

# What a private httpd wrote into its logs: the part of Admission::Httpd that
# reads them.
#
# Every line of level warn or above in its error log must have been declared with
# expect_in_log(), and every declared line must have come.

use strict;
use warnings;
use experimental 'signatures';

use Admission::Config;
use Admission::File ();

# What httpd may say in any test: mod_ssl was built with another libssl, all
# workers were busy in the second it looked, a hard stop closed the socket of a
# connection that a worker was just about to let linger or wait, and the parent's own
# list of generations does not have that of a child that ends after reloads (its
# MPM writes that list, no module can).
my $NOISE = qr/AH01882:\ |server\ reached\ MaxRequestWorkers\ setting
              |\(9\)Bad\ file\ descriptor:\ AH(?:03092:\ process_lingering_close|10503:\ process_socket)
              |AH00546:\ no\ record\ of\ generation/x;

# No /x here: it takes the blank between date and level for layout.
my $SERIOUS = qr/^\[[^\]]*\] \[\w*:(?:warn|error|crit|alert|emerg)\]/;
my $SHOWN   = 300;    # lines of each log, where a test failed
my $CRASH   = qr/exit signal (?:Segmentation|Abort|Bus)/;

sub access_log { return split /\n/, $_[0]->slurp('access.log') }

# Of the request with id=NAME, which must be in the access log: { code, zone, status,
# wait, queued }. Admission::Config has the format.
sub logged($self, $id) {
    my %is;

    $self->must($self->soon(sub {
        my ($line) = grep { /[?&]id=$id\b/ } $self->access_log or return;
        %is = (code => $line =~ /^(\d+) /, $line =~ /(zone|status|wait|queued)=(\S+)/g);
    }), "request $id is in the access log");
    return \%is;
}

# Assertion: the access log comes to have so many lines of a pattern. A client may have its
# answer, and another request the permit, before the line is written.
sub access_log_becomes($self, $what, $pattern, $number) {
    my @lines;

    my $reached = $self->soon(sub {
        @lines = grep { $_ =~ $pattern } $self->access_log;
        @lines >= $number;
    });
    return $self->must($reached && @lines == $number, $what,
                       @lines . " lines of $pattern, should be $number");
}

sub error_log($self) {
    return split /\n/, $self->slurp('stderr.log') . $self->slurp('error.log');
}

# The lines of the error log with this tag.
sub lines_of($self, $tag) { return grep { /$tag: / } $self->error_log }

# Declares lines that must come, and may come at any level.
sub expect_in_log($self, @patterns) {
    push @{ $self->{expected} }, @patterns;
    return $self;
}

# Lines that may come at any level, and need not.
sub allow_in_log($self, @patterns) {
    push @{ $self->{allowed} }, @patterns;
    return $self;
}

# The one line a minute, a zone and a reason about rejected requests.
sub expect_rejections($self, $zone, $reason) {
    return $self->expect_in_log(qr/admission:warn.*\Q$zone\E: .*reject.*$reason/);
}

# The worker MPM before 2.4.62 cannot wake its listener at a stop, nor event before
# 2.4.52 while clients have not hung up: the parent waits for its children until it
# has to end them, and says so.
sub is_slow_to_stop($self) {
    my %mended_in = (worker => 62, event => 52);
    return Admission::Config::version() < ($mended_in{ $self->{mpm} } // 0);
}

# More than `make check` alone makes: httpd's children may need longer to stop than httpd waits, and
# prefork forgets a child that it replaces. The average lags, so what runs now counts, too.
sub is_machine_busy {
    my ($load, $runs) = Admission::File::slurp('/proc/loadavg') =~ m{^(\S+) \S+ \S+ (\d+)/};
    return ($load > $runs ? $load : $runs) > 12 * `nproc`;
}

# The lines of level warn or above that no test has declared. At a reload mod_cgid's
# old daemon may end before it has answered, and the new one gives its socket to
# httpd's user a moment after it made it.
sub unexpected_lines($self) {
    my @lines = $self->error_log;
    my @declared = ($NOISE, @{ $self->{allowed} }, @{ $self->{expected} });
    my $is_busy = is_machine_busy();
    push @declared, qr/AH0004[56]: child process \d+ still did not exit/ if $is_busy || $self->is_slow_to_stop;
    push @declared, qr/AH00167: long lost child/ if $is_busy;
    push @declared, qr/AH02951: mod_ssl does not seem to be enabled/
        if Admission::Config::version() < 48; # http2 without TLS is meant
    push @declared, qr/\[cgid:error\].*(?:AH0125[78]: .* cgi daemon|(?:failed reading PID from|could not send request to) cgi daemon)/
        if $self->{has_reloaded};
    push @declared, qr/AH(?:00287|10159): server is within MinSpareThreads/
        if $self->{replaces_killed} && Admission::Config::is_slow_to_replace();
    # httpd's word of a child that crashed is but a notice.
    my @bad = grep { /$SERIOUS|$CRASH/ } @lines;

    # At a hard stop or restart event closes the sockets of its workers while these
    # may be freeing them, and now and then crashes in that or finds one closed, also
    # without this module; or a worker is about to have its connection polled, and says
    # that it is none.
    if ($self->{mpm} eq 'event') {
        my %at_stop = map { $_ => 1 }
                      map { @lines[ $_->[0] .. $_->[1] // $#lines ] } @{ $self->{hard_stops} };
        my $of_stop = qr/AH0005[12]: .* exit signal Segmentation fault|\(9\)[^:]*: AH0(?:0468|3093): /;
        @bad = grep { !($at_stop{$_} && /$of_stop/) } @bad;
    }
    for my $pattern (@declared) {
        @bad = grep { $_ !~ $pattern } @bad;
    }
    return @bad;
}

sub check_log($self) {
    my @lines = $self->error_log;
    my @bad = $self->unexpected_lines;

    for my $pattern (@{ $self->{expected} }) {
        $self->must(scalar(grep { $_ =~ $pattern } @lines), "the error log says $pattern");
    }
    $self->must(!@bad, 'the error log has no line the test did not expect', @bad);
}

# The end of both logs: what is rare fails where nobody can look again. Not of those who
# waited for a state, and asked a hundred times a second.
sub show_log($self) {
    for my $name (qw(error_log access_log)) {
        my @lines = grep { !m{^200 /server-status} } $self->$name;
        splice @lines, 0, -$SHOWN;
        print STDERR map { "# $_\n" } "$name:", map { "  $_" } @lines;
    }
}

1;

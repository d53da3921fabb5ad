package AdmissionBench::Visitors;

# Visitors of the static pages: one comes every few milliseconds, whether those
# before have got their page or not, asks for it on a connection of their own,
# and is timed. A light load, which does not bend what it stands beside.
#
#     my $visitors = AdmissionBench::Visitors->come(port => $httpd->{port});
#     ...
#     my $seen = $visitors->leave;    # { asked, failed, p50, p99, max } in ms
#
# They do not stop coming when the server is stuck, so a pause of a second shows
# as the hundred slow pages that it is, not as one.

use strict;
use warnings;

use IO::Select;
use POSIX ();
use Time::HiRes qw(sleep time);

use AdmissionBench ();
use AdmissionTest::Client;

my $EVERY    = 0.01;    # seconds between two of them
my $PATIENCE = 30;      # seconds for the last ones to get their page
my $MOST     = 1000;    # connections at once

sub come {
    my ($class, %o) = @_;
    my $bench = $$;
    pipe my $reader, my $writer or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        my $told = 0;
        local $SIG{TERM} = sub { $told = 1 };
        my $seen = visit($o{port}, $o{path} // '/static.txt',
                         sub { $told || getppid() != $bench });
        syswrite $writer, join "\n", $seen->{asked}, $seen->{failed}, @{ $seen->{ms} };
        POSIX::_exit(0);
    }
    close $writer;
    return bless { pid => $pid, reader => $reader }, $class;
}

# Nobody comes any more; those who are there get their page.
sub leave {
    my ($self) = @_;
    kill TERM => $self->{pid};
    my $reader = $self->{reader};
    chomp(my ($asked, $failed, @ms) = <$reader>);
    waitpid $self->{pid}, 0;
    return { asked => $asked, failed => $failed, p50 => AdmissionBench::percentile(50, @ms),
             p99 => AdmissionBench::percentile(99, @ms),
             max => AdmissionBench::percentile(100, @ms) };
}

# ---- in the visitors' own process --------------------------------------------------

sub visit {
    my ($port, $path, $is_over) = @_;
    my %seen = (asked => 0, failed => 0, ms => []);
    my %there;
    my $next = time;
    my $until;

    while (1) {
        my $now = time;
        $until //= $now + $PATIENCE if $is_over->();
        last if $until && (!%there || $now > $until);
        while (!$until && $now >= $next) {
            $next += $EVERY;
            $seen{asked}++;
            arrive($port, $path, \%there, $next - $EVERY) or $seen{failed}++;
        }
        listen_to(\%seen, \%there, $until ? $EVERY : $next - time);
    }
    $seen{failed} += keys %there;
    return \%seen;
}

sub arrive {
    my ($port, $path, $there, $at) = @_;
    return if keys %$there >= $MOST;
    my $client = eval { AdmissionTest::Client->new($port)->ask($path) } or return;
    $there->{ $client->{socket} } = { client => $client, at => $at };
}

sub listen_to {
    my ($seen, $there, $seconds) = @_;

    $seconds = 0 if $seconds < 0;
    return sleep $seconds if !%$there;
    my $select = IO::Select->new(map { $_->{client}{socket} } values %$there);
    for my $socket ($select->can_read($seconds)) {
        my $visitor = $there->{$socket};
        $visitor->{client}->read_some;
        my $answer = $visitor->{client}->take_answer or next;
        delete $there->{$socket};
        if ($answer->{status} == 200) {
            push @{ $seen->{ms} }, 1000 * ($answer->{at} - $visitor->{at});
        }
        else {
            $seen->{failed}++;
        }
    }
}

1;

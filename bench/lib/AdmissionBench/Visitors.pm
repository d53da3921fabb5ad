package AdmissionBench::Visitors;

# Visitors of the static pages: one comes every few milliseconds, asks for a page
# on a connection of its own, and is timed. A light load, which does not bend what
# it stands beside.
#
#     my $visitors = AdmissionBench::Visitors->come(port => $httpd->{port});
#     ...
#     my $seen = $visitors->leave;    # { asked, failed, p50, p99, max } in ms
#
# The next ones come although nobody has got a page yet, so that a pause is seen
# by several; but so few at once that they are no line of their own where all
# requests stand in one.

use strict;
use warnings;

use IO::Select;
use POSIX ();
use Time::HiRes qw(sleep time);

use AdmissionBench ();
use AdmissionTest::Client;

my $EVERY    = 0.01;    # seconds between two of them
my $PATIENCE = 30;      # seconds for the last ones to get their page
my $MOST     = 10;      # of them at once

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
    # Where nobody got a page, it took for ever.
    my %share = map { ($_ => AdmissionBench::percentile($_, @ms) // 'inf') } 50, 99, 100;
    return { asked => $asked, failed => $failed, p50 => $share{50}, p99 => $share{99},
             max => $share{100} };
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
        if (!$until && $now >= $next) {
            $next += $EVERY while $next <= $now;
            arrive($port, $path, \%there, \%seen) if keys %there < $MOST;
        }
        listen_to(\%seen, \%there, $until ? $EVERY : $next - time);
    }
    $seen{failed} += keys %there;
    return \%seen;
}

sub arrive {
    my ($port, $path, $there, $seen) = @_;
    my $at = time;
    my $client = eval { AdmissionTest::Client->new($port)->ask($path) };

    $seen->{asked}++;
    return $seen->{failed}++ if !$client;
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

package AdmissionTest::Crowd;

# A crowd of impatient clients in a process of its own. Each connects, asks,
# reads for about as long as its patience lasts, leaves (half of them rudely,
# with a RST), and comes again, until the crowd is told to go home.
#
#     my $crowd = AdmissionTest::Crowd->gather(port => $httpd->{port},
#         paths => ['/cgi-bin/heavy?ms=50'], clients => 40, patience => 0.3);
#     ...
#     my $seen = $crowd->go_home;    # { asked, left, lost, 200 => n, ...,
#                                    #   longest => seconds to a whole answer }
#
# left: gave up; lost: the server cut the connection without an answer.

use strict;
use warnings;

use IO::Select;
use POSIX ();
use Time::HiRes qw(sleep time);

use Admission::Client;

my $REST = 0.02;    # seconds a client rests before it comes again

# gather(port => N, paths => [...], clients => N, patience => seconds,
#        seed => N): the crowd begins at once.
sub gather {
    my ($class, %o) = @_;
    my $test = $$;
    pipe my $reader, my $writer or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        my $told = 0;
        local $SIG{TERM} = sub { $told = 1 };
        srand($o{seed} // $$);
        my $seen = eval { storm(\%o, sub { $told || getppid() != $test }) }
            // { died => $@ };
        syswrite $writer, join '', map { "$_ $seen->{$_}\n" } sort keys %$seen;
        POSIX::_exit(0);
    }
    close $writer;
    return bless { pid => $pid, reader => $reader }, $class;
}

# Everybody leaves. @return what the crowd saw.
sub go_home {
    my ($self) = @_;
    if (!$self->{seen}) {
        kill TERM => $self->{pid};
        my $reader = $self->{reader};
        my %seen = map { split ' ', $_, 2 } map { chomp; $_ } <$reader>;
        waitpid $self->{pid}, 0;
        die "the crowd died: $seen{died}\n" if $seen{died};
        $self->{seen} = \%seen;
    }
    return $self->{seen};
}

# ---- in the crowd's own process ---------------------------------------------

sub storm {
    my ($o, $is_over) = @_;
    my %seen = (asked => 0, left => 0, lost => 0, longest => 0);
    my @people = map { { comes_at => time + rand $REST } } 1 .. $o->{clients};

    local $SIG{PIPE} = 'IGNORE';
    until ($is_over->()) {
        my $now = time;
        for my $person (@people) {
            if (!$person->{client}) {
                come($person, $o, \%seen) if $now >= $person->{comes_at};
            }
            elsif ($now >= $person->{leaves_at}) {
                give_up($person);
                $seen{left}++;
            }
        }
        listen_to(\%seen, grep { $_->{client} } @people);
    }
    give_up($_) for grep { $_->{client} } @people;
    return \%seen;
}

sub come {
    my ($person, $o, $seen) = @_;
    my @paths = @{ $o->{paths} };

    # Refused while httpd restarts: come again.
    my $client = eval { Admission::Client->new($o->{port}) };
    if (!$client) {
        $person->{comes_at} = time + $REST;
        return;
    }
    $seen->{asked}++;
    $person->{client}    = $client->ask($paths[rand @paths], keep => 1);
    $person->{asked_at}  = time;
    $person->{leaves_at} = time + $o->{patience} * (0.5 + rand);
}

sub give_up {
    my ($person) = @_;
    $person->{client}->abort if rand() < 0.5;
    leave($person);
}

sub leave {
    my ($person) = @_;
    (delete $person->{client})->leave;
    $person->{comes_at} = time + rand $REST;
}

sub listen_to {
    my ($seen, @people) = @_;
    my %person = map { ($_->{client}{socket} => $_) } @people;

    if (!@people) {
        sleep $REST;
        return;
    }
    my $select = IO::Select->new(map { $_->{client}{socket} } @people);
    for my $socket ($select->can_read($REST)) {
        my $person = $person{$socket};
        my $client = $person->{client};

        $client->read_some;
        my $answer = $client->take_answer or next;
        if ($answer->{status}) {
            my $took = time - $person->{asked_at};
            $seen->{longest} = $took if $took > $seen->{longest};
            $seen->{ $answer->{status} }++;
        }
        else {
            $seen->{lost}++;
        }
        leave($person);
    }
}

1;

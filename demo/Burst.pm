package Burst;

# A burst of heavy requests with static ones beside it, and what it was like.

use strict;
use warnings;

use Exporter 'import';
use IO::Select;
use List::Util qw(max min);
use Time::HiRes qw(time);

use AdmissionTest::Client;
use AdmissionTest::Live qw(live_programs watch_programs);

our @EXPORT_OK = qw($STOPPED burst);

# With what a signal ends a burst.
our $STOPPED = "stopped\n";

my $STATIC_EVERY = 0.02;    # seconds
my $PATIENCE     = 90;      # seconds until a burst is given up

# burst(port => 8080, dir => '/tmp/x', heavy => '/cgi-bin/x', static => '/',
#       clients => 40, requests => 200, progress => sub { my ($done, $live) = @_ })
#
# Each client asks anew as soon as it is answered; one more asks for the static
# page at a steady pace. The progress is called after each heavy answer, with how many
# there were and how many programs live. Returns { rate, most_live, failures, and of
# heavy and static requests [p50, p99, max] }, times in milliseconds.
sub burst {
    my (%o) = @_;
    my $programs = watch_programs($o{dir});
    my $self = bless { %o, select => IO::Select->new, waiting => {},
                       asked => 0, heavy_ms => [], static_ms => [],
                       failures => 0 }, __PACKAGE__;
    my $begin = time;
    my $next_static = $begin;

    $self->ask_heavy for 1 .. $o{clients};
    while ($self->{heavy_open} && time < $begin + $PATIENCE) {
        if (time >= $next_static) {
            $self->ask('static_ms', $o{static});
            $next_static += $STATIC_EVERY;
        }
        $self->read_answers(max(0, $next_static - time));
    }
    my $seconds = time - $begin;

    # Who has no answer by now failed.
    $self->{failures} += $self->{heavy_open};
    return {
        rate      => @{ $self->{heavy_ms} } / $seconds,
        most_live => $programs->seen->{most},
        heavy     => percentiles($self->{heavy_ms}),
        static    => percentiles($self->{static_ms}),
        failures  => $self->{failures},
    };
}

sub ask_heavy {
    my ($self) = @_;

    return if $self->{asked}++ >= $self->{requests};
    $self->{heavy_open}++ if $self->ask('heavy_ms', $self->{heavy});
}

sub ask {
    my ($self, $kind, $path) = @_;
    my $client = eval { AdmissionTest::Client->new($self->{port})->ask($path) };

    die $@ if $@ eq $STOPPED;
    if (!$client) {
        $self->{failures}++;
        return 0;
    }
    $self->{waiting}{ $client->{socket} } =
        { client => $client, kind => $kind, since => time };
    $self->{select}->add($client->{socket});
    return 1;
}

sub read_answers {
    my ($self, $seconds) = @_;

    for my $socket ($self->{select}->can_read($seconds)) {
        my $request = $self->{waiting}{$socket};

        $request->{client}->read_some;
        my $answer = $request->{client}->take_answer or next;
        $self->{select}->remove($socket);
        delete $self->{waiting}{$socket};
        $self->count($request, $answer);
    }
}

sub count {
    my ($self, $request, $answer) = @_;
    my $times = $self->{ $request->{kind} };

    if ($answer->{status} == 200) {
        push @$times, 1000 * (time - $request->{since});
    }
    else {
        $self->{failures}++;
    }
    if ($request->{kind} eq 'heavy_ms') {
        $self->{heavy_open}--;
        $self->ask_heavy;
        $self->{progress}->(scalar @$times, scalar live_programs($self->{dir}));
    }
}

# [p50, p99, max]
sub percentiles {
    my ($values) = @_;
    my @sorted = sort { $a <=> $b } @$values or return [0, 0, 0];

    return [map { $sorted[min($#sorted, int $_ * @sorted)] } 0.5, 0.99, 1];
}

1;

package Admission::Live;

# Counts the live CGI programs of one private httpd from outside, in /proc.
# A program counts from its exec until its memory is gone; its command line
# begins with the directory of its own httpd, so servers never mix.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';
use IO::Select;
use JSON::PP ();
use List::Util qw(max min);
use POSIX ();
use Time::HiRes qw(sleep time);

use Admission::File qw(slurp);
use Admission::Program qw(hear_signals undisturbed);

our @EXPORT_OK = qw(live_programs watch_programs);

my $SETTLED    = 10;   # seconds after which a process will not exec any more
my $LATELY     = 3;    # seconds in which a permit becomes a program
my $MOST_WRONG = 10;   # samples described in full

# The pids alive at one moment: those alive in two looks one after the other,
# so that one which ends and one which starts are never counted together. Of one process
# group, where it is named: others are not looked at again.
sub live_programs($dir, $seen = undef, $group = undef) {
    return grep { is_program($_, $dir) } look($dir, $seen // {}, $group);
}

sub look($dir, $seen, $group) {
    my $now = time;

    opendir my $proc, '/proc' or die "/proc: $!\n";
    my %pid = map { $_ => 1 } grep { /^\d+$/ } readdir $proc;
    delete @{$seen}{ grep { !$pid{$_} } keys %$seen };

    my @found;
    for my $pid (keys %pid) {
        my $first_seen = $seen->{$pid} //= $group && getpgrp($pid) != $group ? 0 : $now;
        next if $now - $first_seen > $SETTLED;
        if (is_program($pid, $dir)) {
            $seen->{$pid} = $now;
            push @found, $pid;
        }
    }
    return @found;
}

sub is_program($pid, $dir) {
    open my $file, '<', "/proc/$pid/cmdline" or return 0;
    my $command = <$file> // '';
    return index($command, "$dir/") == 0;
}

# Of each its parent and what its environment says.
sub describe(@live) {
    my $text = '';

    for my $pid (@live) {
        my ($state, $parent) = slurp("/proc/$pid/stat") =~ /.*\) (\S) (\d+)/;
        my %env = map { split /=/, $_, 2 }
                  grep { /^QUERY_STRING=/ }
                  split /\0/, slurp("/proc/$pid/environ");
        $text .= sprintf ' [%d parent %s %s %s]', $pid,
            $parent // '-', $state // '-', $env{QUERY_STRING} // '-';
    }
    return $text;
}

# Starts an observer: watch_programs($dir)->most, or ->seen. It samples every few milliseconds until
# asked. The directory has one named heavy, and programs wait until they were seen
# (programs/heavy.c).
#
# With a limit, no program waits, and the observer records each sample with more programs:
#
#     my $observer = watch_programs($dir, $group, 4);
#     $observer->allow(6);     # before a reload with a higher limit
#     $observer->lower(2);     # after a reload with a lower one
#
# A lower limit ends no program. The number allowed then falls with the number of live programs:
# it is the maximum of the last seconds, until that is the limit.
sub watch_programs($dir, $group = undef, $limit = undef) {
    my $self = bless { owner => $$ }, __PACKAGE__;
    pipe $self->{reader}, my $writer or die "pipe: $!\n";
    pipe my $orders, $self->{orders} or die "pipe: $!\n";
    undisturbed {
        my $pid = fork // die "fork: $!\n";
        sample($dir, $group, $limit, $orders, $writer, $self->{owner}) if $pid == 0;
        $self->{pid} = $pid;
    };
    close $writer;
    readline $self->{reader};    # it has begun
    return $self;
}

sub allow($self, $limit) { syswrite $self->{orders}, "allow $limit\n" }
sub lower($self, $limit) { syswrite $self->{orders}, "lower $limit\n" }

# Ends the observer. @return { looks, seconds, most, largest: a text that describes these
# programs, under: { limit => most programs }, wrong: [ text ] }.
sub seen($self) {
    if (!$self->{seen}) {
        kill TERM => $self->{pid};
        $self->{seen} = JSON::PP::decode_json(readline($self->{reader}) // '{"most":0,"looks":0}');
        waitpid $self->{pid}, 0;
    }
    return $self->{seen};
}

# The most, where programs ran.
sub most($self) {
    my $seen = $self->seen;
    return $seen->{most} || die "the observer saw nothing in $seen->{looks} looks\n";
}

# Nobody asked it.
sub DESTROY($self) {
    return if $self->{seen} || !$self->{pid} || $self->{owner} != $$;
    local ($?, $!);

    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
}

# ---- in the observer's own process ------------------------------------------

sub sample($dir, $group, $limit, $orders, $writer, $test) {
    my %report = (looks => 0, most => 0, largest => '', under => {}, wrong => []);
    my %self = (limit => $limit, allowed => $limit, lately => [], lowered_at => 0, report => \%report,
                orders => IO::Select->new($orders));
    my ($began, $is_asked, $file, %seen) = (time, 0);

    $SIG{TERM} = sub { $is_asked = 1 };
    $SIG{$_} = 'IGNORE' for qw(INT PIPE);
    hear_signals();
    open $file, '>', "$dir/heavy/looks" or die "$dir/heavy/looks: $!\n" if !defined $limit;
    while (!$is_asked && getppid() == $test) {
        my $looked_at = time;
        obey(\%self);
        my @live = live_programs($dir, \%seen, $group);
        @report{qw(most largest)} = (scalar @live, describe(@live)) if @live > $report{most};
        judge(\%self, @live) if defined $limit;
        syswrite $file, '.' if $file;
        syswrite $writer, "ready\n" if ++$report{looks} == 1;
        # On a busy machine, other processes need the time more than the observer. But programs
        # do not wait long to be seen.
        sleep max 0.003, min 0.05, 2 * (time - $looked_at);
    }
    unlink "$dir/heavy/looks" if $file;
    my $more = @{ $report{wrong} } - $MOST_WRONG;
    splice @{ $report{wrong} }, $MOST_WRONG, $more, "and $more more samples" if $more > 0;
    $report{seconds} = time - $began;
    print $writer JSON::PP::encode_json(\%report), "\n";
    close $writer;
    POSIX::_exit(0);
}

sub obey($self) {
    while ($self->{orders}->can_read(0)) {
        sysread(($self->{orders}->handles)[0], my $lines, 4096) or return;
        for (split /\n/, $lines) {
            my ($what, $limit) = split;
            $self->{limit} = $limit;
            $self->{allowed} = $limit if $what eq 'allow' && $limit > $self->{allowed};
            $self->{lately} = [];
            $self->{lowered_at} = time;
        }
    }
}

sub judge($self, @live) {
    my $report = $self->{report};

    fall($self, scalar @live) if $self->{allowed} > $self->{limit};
    my $most = \$report->{under}{ $self->{allowed} };
    $$most = @live if @live > ($$most // 0);
    push @{ $report->{wrong} }, sprintf('%.3f: %d live, %d allowed:', time, scalar @live, $self->{allowed})
        . describe(@live) if @live > $self->{allowed};
}

sub fall($self, $live) {
    my $now = time;
    my $lately = $self->{lately};

    push @$lately, [ $now, $live ];
    shift @$lately while $lately->[0][0] < $now - $LATELY;
    return if $now < $self->{lowered_at} + $LATELY;
    my $most = max $self->{limit}, map { $_->[1] } @$lately;
    $self->{allowed} = $most if $most < $self->{allowed};
}

1;

package Admission::Live;

# Counts the live CGI programs of one private httpd from outside, in /proc.
# A program counts from its exec until its memory is gone; its command line
# begins with the directory of its own httpd, so servers never mix.

use strict;
use warnings;

use Exporter 'import';
use POSIX ();
use Time::HiRes qw(sleep time);

use Admission::File qw(slurp);
use Admission::Program qw(hear_signals undisturbed);

our @EXPORT_OK = qw(describe live_programs watch_programs);

my $SETTLED = 10;   # seconds after which a process will not exec any more

# The pids alive at one moment: those alive in two looks one after the other,
# so that one which ends and one which starts are never counted together. Of one process
# group, where it is named: others are not looked at again.
sub live_programs {
    my ($dir, $seen, $group) = @_;
    return grep { is_program($_, $dir) } look($dir, $seen // {}, $group);
}

sub look {
    my ($dir, $seen, $group) = @_;
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

sub is_program {
    my ($pid, $dir) = @_;
    open my $file, '<', "/proc/$pid/cmdline" or return 0;
    my $command = <$file> // '';
    return index($command, "$dir/") == 0;
}

# Of each its parent and what its environment says.
sub describe {
    my (@live) = @_;
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

# Starts a sampler. It looks every few milliseconds until asked for the most
# it has seen: watch_programs($dir)->most, or ->seen. The
# directory has one named heavy. Programs wait until they were seen:
# programs/heavy.c says how.
sub watch_programs {
    my ($dir, $group) = @_;
    my $self = bless { owner => $$ }, __PACKAGE__;
    pipe $self->{reader}, my $writer or die "pipe: $!\n";
    undisturbed {
        my $pid = fork // die "fork: $!\n";
        sample($dir, $group, $writer, $self->{owner}) if $pid == 0;
        $self->{pid} = $pid;
    };
    close $writer;
    readline $self->{reader};    # it has begun
    return $self;
}

# The sampler itself.
sub sample {
    my ($dir, $group, $writer, $test) = @_;
    my ($most, $looks, $largest, %seen) = (0, 0, '');
    my $asked = 0;

    $SIG{TERM} = sub { $asked = 1 };
    $SIG{INT} = 'IGNORE';
    hear_signals();
    open my $file, '>', "$dir/heavy/looks" or die "$dir/heavy/looks: $!\n";
    while (!$asked && getppid() == $test) {
        my @live = live_programs($dir, \%seen, $group);
        if (@live > $most) {
            $most = @live;
            $largest = describe(@live);
        }
        syswrite $file, '.';
        syswrite $writer, "ready\n" if ++$looks == 1;
        sleep 0.003;
    }
    unlink "$dir/heavy/looks";
    syswrite $writer, "$most $looks$largest\n";
    POSIX::_exit(0);
}

# Ends it. @return { most, looks, largest }, the last a text that says who they were.
sub seen {
    my ($self) = @_;

    if (!$self->{seen}) {
        kill TERM => $self->{pid};
        @{ $self->{seen} }{qw(most looks largest)} =
            split ' ', readline($self->{reader}) // '0 0', 3;
        waitpid $self->{pid}, 0;
    }
    return $self->{seen};
}

# The most, where programs ran.
sub most {
    my ($self) = @_;
    my $seen = $self->seen;
    return $seen->{most} || die "the observer saw nothing in $seen->{looks} looks\n";
}

# Nobody asked it.
sub DESTROY {
    my ($self) = @_;
    return if $self->{seen} || !$self->{pid} || $self->{owner} != $$;
    local ($?, $!);

    kill KILL => $self->{pid};
    waitpid $self->{pid}, 0;
}

1;

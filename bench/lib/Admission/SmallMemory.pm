package Admission::SmallMemory;

# A memory cgroup with swap: a small machine inside the real one. What is
# started in it shares its memory and swaps when that is used up; whoever
# measures stays outside.
#
#     my $memory = Admission::SmallMemory->create(mb => 1024, swap_mb => 8192);
#     my $httpd  = $memory->inside(sub { start_httpd(...) });
#     ...
#     $memory->remove;
#
# A guard process removes cgroup and swap file when the run ends, in whatever
# way: it waits for the end of a pipe, and takes no signal but KILL.

use strict;
use warnings;

use POSIX ();
use Time::HiRes qw(sleep);

use Admission::File qw(slurp spill);
use Admission::Machine;

my $PATIENCE = 20;    # seconds for processes to end
my @alive;            # what guards wait for the end of

# create(mb => N, swap_mb => N): dies when the machine does not allow it.
sub create {
    my ($class, %o) = @_;
    our $number;
    my $root = Admission::Machine::cgroup()
        // die $> == 0 ? "no memory cgroup can be made here\n" : "only root can make a memory cgroup\n";
    my $name = sprintf 'admission-bench-%d-%d', $$, ++$number;
    my $self = bless {
        root   => $root,
        cgroup => "$root/$name",
        home   => own_cgroup($root, 'memory'),
        time   => scalar time_cgroup($root, $name),
        swap   => ($ENV{TMPDIR} // '/var/tmp') . "/$name.swap",
    }, $class;

    $self->guard;
    return $self if eval { $self->make(%o); 1 };
    my $error = $@;
    eval { $self->remove };
    die $error;
}

sub make {
    my ($self, %o) = @_;
    my $root = $self->{root};

    run('fallocate', '-l', "$o{swap_mb}M", $self->{swap});
    chmod 0600, $self->{swap};
    run('mkswap', $self->{swap});
    run('swapon', $self->{swap});
    mkdir $self->{cgroup} or die "$self->{cgroup}: $!\n";
    # Version 2 of cgroups wants to be asked for memory; 1 has a name of its own.
    my ($limit) = grep { -e "$self->{cgroup}/$_" } qw(memory.limit_in_bytes memory.max);
    if (!$limit) {
        spill("$root/cgroup.subtree_control", '+memory');
        $limit = 'memory.max';
    }
    spill("$self->{cgroup}/$limit", $o{mb} << 20);
    # What the machine swaps itself has room of its own. Version 1 counts both.
    for my $bound ([ 'memory.swap.max', $o{swap_mb} ],
                   [ 'memory.memsw.limit_in_bytes', $o{mb} + $o{swap_mb} ]) {
        my ($file, $mb) = @$bound;
        spill("$self->{cgroup}/$file", $mb << 20) if -e "$self->{cgroup}/$file";
    }
    mkdir $self->{time}{path} if $self->{time};
}

# Version 1 counts processor time in a hierarchy of its own: a group there tells
# httpd's work from that of others, as one of version 2 does.
sub time_cgroup {
    my ($root, $name) = @_;
    my $top = $root =~ s{/memory\z}{/cpuacct}r;

    return if $top eq $root || !-d $top;
    return { path => "$top/$name", home => own_cgroup($top, 'cpuacct') };
}

# The cgroup that this process is in, where it goes back to.
sub own_cgroup {
    my ($root, $controller) = @_;
    my $all = slurp('/proc/self/cgroup');
    my ($path) = $all =~ /^\d+:(?:[^:\n]*,)?$controller(?:,[^:\n]*)?:(.*)$/m;
    ($path) = $all =~ /^0::(.*)$/m if !defined $path;
    return -d "$root$path" ? "$root$path" : $root;
}

# Runs it with this process in the cgroup: what it starts is and stays in there.
sub inside {
    my ($self, $code) = @_;
    my $result = eval {
        spill("$self->{cgroup}/cgroup.procs", "$$\n");
        spill("$self->{time}{path}/cgroup.procs", "$$\n") if $self->{time};
        $code->();
    };
    my $error = $@;
    spill("$self->{home}/cgroup.procs", "$$\n");
    spill("$self->{time}{home}/cgroup.procs", "$$\n") if $self->{time};
    die $error if $error;
    return $result;
}

# MB that were written to swap since the machine started, by all processes: only
# those inside have a reason to.
sub swapped_out_mb {
    my ($pages) = slurp('/proc/vmstat') =~ /^pswpout (\d+)/m;
    return $pages * POSIX::sysconf(POSIX::_SC_PAGESIZE()) / (1 << 20);
}

sub remove {
    my ($self) = @_;
    close $self->{alive};
    waitpid $self->{guard}, 0;
    # Itself, where the guard was killed.
    $? == 0 || $self->clean_up or die "$self->{cgroup} or $self->{swap} is left behind\n";
}

# ---- the guard -------------------------------------------------------------------

sub guard {
    my ($self) = @_;
    pipe my $end, my $alive or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        POSIX::setsid();
        $SIG{$_} = 'IGNORE' for qw(HUP INT TERM PIPE);
        # Also those of other guards, or each would wait for the other.
        close $_ for $alive, @alive;
        sysread $end, my $nothing, 1;
        POSIX::_exit($self->clean_up ? 0 : 1);
    }
    push @alive, $alive;
    @{$self}{qw(guard alive)} = ($pid, $alive);
}

# @return whether nothing is left.
sub clean_up {
    my ($self) = @_;

    my $looks = $PATIENCE / 0.05;
    for my $look (1 .. $looks) {
        my @inside = split ' ', slurp("$self->{cgroup}/cgroup.procs");
        last if !@inside;
        # A keeper ends by itself, once it has removed its directory.
        kill KILL => grep { $look > $looks / 2 || slurp("/proc/$_/comm") ne "keeper\n" } @inside;
        sleep 0.05;
    }
    rmdir $self->{cgroup};
    rmdir $self->{time}{path} if $self->{time};
    if (-e $self->{swap}) {
        eval { run('swapoff', $self->{swap}) };
        unlink $self->{swap};
    }
    return !-d $self->{cgroup} && !-e $self->{swap};
}

# ---- files and programs ------------------------------------------------------------

sub run {
    my (@command) = @_;
    open my $program, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', @command
        or die "$command[0]: $!\n";
    my $said = join ' ', <$program>;
    close $program or die "$command[0] failed: $said\n";
}

1;

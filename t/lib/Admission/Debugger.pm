package Admission::Debugger;

# GDB=1: a test or benchmark waits, once its httpd runs, until a debugger is attached to one
# of its processes. No deadline of the libraries applies then.

use strict;
use warnings;

use Cwd ();
use Time::HiRes qw(sleep);

use Admission::File qw(slurp);

my ($MACROS) = map { "$_/tools/adm.gdb" } Cwd::abs_path(__FILE__) =~ m{^(.*)/t/lib/Admission/};

# wait_for_one(pid of the parent, pids of its children)
sub wait_for_one {
    my ($parent, @children) = @_;
    my $terminal;

    # The runner of `make check` has standard error in a file.
    open $terminal, '>', '/dev/tty' or open $terminal, '>&', \*STDERR or die "stderr: $!\n";
    $terminal->autoflush;
    print $terminal "# $0: waiting for a debugger, in another terminal:\n",
        map { "#   gdb -x $MACROS -p $_->[0]    # $_->[1]\n" }
        [$parent, 'parent'], map { [$_, 'child'] } @children;
    sleep 0.1 while !grep { is_traced($_) } $parent, @children;
}

sub is_traced { return slurp("/proc/$_[0]/status") =~ /^TracerPid:\s*[1-9]/m }

1;

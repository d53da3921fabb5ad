package Admission::Program;

# The programs and modules of t/programs and bench/httpd, as make has built them, or built here.
# What is built is removed at the end.

use strict;
use warnings;
use experimental 'signatures';

use Cwd ();
use Exporter 'import';
use File::Basename qw(dirname);
use Fcntl qw(F_SETFD FD_CLOEXEC);
use File::Temp ();
use POSIX ();

our @EXPORT_OK = qw(build_module build_shared hear_signals keep program undisturbed);

my $ENDING = POSIX::SigSet->new(POSIX::SIGINT, POSIX::SIGTERM, POSIX::SIGHUP);
my ($TREE) = Cwd::abs_path(__FILE__) =~ m{^(.*)/t/lib/Admission/};

sub source { return grep { -e } map { "$TREE/$_/$_[0].c" } qw(t/programs bench/httpd) }

# The path of a program: program('heavy'). make puts all beside the heavy one.
sub program($name) {
    our %path;
    my $heavy = $ENV{ADMISSION_HEAVY} // '';
    my ($made) = grep { $heavy && -x } $name eq 'heavy' ? $heavy : $heavy =~ s{[^/]*\z}{$name}r;

    return $path{$name} //= $made // build($name, '-O2', [ source($name) ], '-lm');
}

# undisturbed { ... }: signals that end a program wait for the end of the block. A handler
# that dies between a fork and the assignment of its pid would leave the process behind.
sub undisturbed :prototype(&) ($block) {
    my $before = POSIX::SigSet->new;

    POSIX::sigprocmask(POSIX::SIG_BLOCK, $ENDING, $before);
    my $is_done = eval { $block->(); 1 };
    my $error = $@;
    POSIX::sigprocmask(POSIX::SIG_SETMASK, $before);
    die $error if !$is_done;
}

# For a process that was started undisturbed, once it has set its handlers.
sub hear_signals { POSIX::sigprocmask(POSIX::SIG_UNBLOCK, $ENDING) }

# keep('directory/log', 'program', arguments): starts it in a process group of its own.
# It ends with this process, however that ends, and so does the directory unless KEEP is set. @return its pid, that of its keeper, and a file
# that ends with it.
sub keep($log, @command) {
    my $keeper = program('keeper');

    local $^F = 255;    # the keeper has it, nobody else
    pipe my $alive, my $held or die "pipe: $!\n";
    fcntl $alive, F_SETFD, FD_CLOEXEC or die "fcntl: $!\n";
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        POSIX::setsid();    # who kills all of this process's group does not kill it
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP PIPE);
        hear_signals();
        open STDIN,  '<', '/dev/null';
        open STDOUT, '>>', $log;
        open STDERR, '>&', \*STDOUT;
        exec $keeper, fileno $held, $ENV{KEEP} ? '' : dirname($log), @command or POSIX::_exit(127);
    }
    close $held;
    chomp(my $program = readline $alive // '');
    $alive->blocking(0);
    return ($program, $pid, $alive);
}

# A library to be loaded before a program.
sub build_shared($name) { return build("$name.so", '-O1 -shared -fPIC', [ source($name) ], '-ldl') }

# A module of httpd.
sub build_module($name) {
    my $apr = ask_apxs('APR_CONFIG');
    my $flags = '-I' . ask_apxs('INCLUDEDIR') . ' ' . `$apr --includes --cppflags`;

    return build("$name.so", "-O1 -shared -fPIC $flags", [ source($name) ]);
}

sub ask_apxs($what) {
    my $apxs = $ENV{APXS} // 'apxs';
    chomp(my $answer = `$apxs -q $what` // '');
    return $answer;
}

sub build($result, $flags, $sources, @libraries) {
    our $dir //= File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
    my @build = ($ENV{CC} // 'cc', '-std=gnu11', split(' ', $flags), '-o', "$dir/$result",
                 @$sources, @libraries);

    # httpd may use it as another user.
    chmod 0755, "$dir";
    system(@build) == 0 or die "@build failed\n";
    chmod 0755, "$dir/$result";
    return "$dir/$result";
}

1;

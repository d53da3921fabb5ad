package Admission::Httpd;

# A private httpd of a test, a benchmark or a demonstration: own directory, own port,
# own process group.
#
# stop() is where it answers for itself: no process may be left, and its logs are
# as Admission::Log wants them. What must be true, and is not, is the end of whoever
# uses it; of a test it is an assertion (AdmissionTest::Httpd).

use strict;
use warnings;
use experimental 'signatures';

use Cwd ();
use File::Basename qw(dirname);
use File::Copy ();
use File::Path ();
use IO::Socket::INET;
use Time::HiRes qw(sleep time);

use Admission::Client;
use Admission::Config;
use Admission::File ();
use Admission::Live qw(live_programs watch_programs);
use Admission::Program qw(keep program undisturbed);

use parent 'Admission::Log';

# Threads of a process that has one: ThreadSanitizer may add its own.
use constant MOST_OF_ONE => ($ENV{ADMISSION_SANITIZER} // '') eq 'thread' ? 2 : 1;

my $START_TRIES = 5;     # another process may take the port we chose
my $PATIENCE    = 120;   # seconds for a state that is waited for, beside all that a machine may do
my $SLOWER      = $ENV{GDB} ? 360 : $ENV{PREFIX} ? 6 : 1;
my @running;

# new(combo => {...}, workers => 20, tls => 0, http2 => 0, modules => [...],
#     conf => 'text', replaces_killed => 0,
#     admission => 1, name => 'admission', ports => [8080 .. 8180], places => 8,
#     prefix => ['taskset', '1']): the directory and the files, nothing runs yet.
# replaces_killed (of parking_conf) is for tests that kill children and wait for others in their
# place. Only benchmarks want one without the module. places is for tests that reload
# while requests run: children of worker that there may be, those that drain included.
sub new($class, %o) {
    my $name = $o{name} // 'admission';
    umask 022;    # its children are another user
    my $tmp = Admission::File::directory("$name-XXXXXX");
    my $dir = Cwd::abs_path("$tmp");
    my $self = bless { workers => 20, conf => '', %o, %{ $o{combo} },
                       tmp => $tmp, dir => $dir, expected => [],
                       allowed => [], hard_stops => [] }, $class;

    chmod 0755, $dir;
    mkdir "$dir/$_" for qw(run docs cgi heavy tmp);
    chmod 0777, "$dir/heavy", "$dir/tmp";
    $self->put('../heavy/record', '');
    chmod 0666, "$dir/heavy/record";
    $self->put('static.txt', "static\n");
    install_heavy("$dir/cgi/heavy");
    make_certificate($dir) if $self->{tls};
    $self->configure($self->{conf});
    return $self;
}

# Replaces the test's part of the configuration.
sub configure($self, $conf) {
    $self->{conf} = $conf;
    $self->put('../admission.conf', $conf);
}

sub add_conf($self, $more) { $self->configure($self->{conf} . $more) }

# A file below the DocumentRoot, in a directory that it may be the first of.
sub put($self, $name, $text) {
    my $path = "$self->{dir}/docs/$name";
    File::Path::make_path(dirname($path));
    Admission::File::spill($path, $text);
}

# A CGI program of these shell commands among the documents.
sub put_script($self, $name, $commands) {
    $self->put($name, "#!/bin/sh\n$commands");
    chmod 0755, "$self->{dir}/docs/$name";
}

sub install_heavy($path) {
    File::Copy::copy(program('heavy'), $path) or die "$path: $!\n";
    chmod 0755, $path;
}

# Also as a CGI among the documents, for example 'dir/index.cgi'.
sub put_heavy($self, $name) {
    $self->put($name, '');
    install_heavy("$self->{dir}/docs/$name");
}

sub make_certificate($dir) {
    my $name = $Admission::Config::SERVER_NAME;
    my $output = `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
        -keyout $dir/tls.key -out $dir/tls.crt -subj /CN=$name \\
        -addext basicConstraints=critical,CA:FALSE 2>&1`;
    $? == 0 or die "openssl: $output\n";
}

# must($is, 'what', details): true; or the end, with the logs.
sub must($self, $is, $what, @details) {
    return 1 if $is;
    $self->show_log;
    die join "\n", "not so: $what", @details, '';
}

# What a shell does before it becomes httpd: 'ulimit -n 200 && exec'.
sub behind($self, $command) {
    $self->{program} = "$self->{dir}/httpd";
    Admission::File::spill($self->{program}, "#!/bin/sh\n$command " . Admission::Config::httpd() . qq( "\$\@"\n));
    chmod 0755, $self->{program};
    return $self;
}

# ---- life -------------------------------------------------------------------

sub start($self) {
    for (1 .. $START_TRIES) {
        $self->choose_ports;
        $self->launch;
        last if $self->comes_up;
        my $why = $self->slurp('stderr.log') . $self->slurp('error.log');
        die "httpd did not start:\n$why" if $why !~ /Address already in use/;
        unlink "$self->{dir}/error.log";
    }
    $self->{started_by} = $$;
    push @running, $self if !grep { $_ == $self } @running;
    $self->wait_for_debugger if $ENV{GDB};
    return $self;
}

# GDB=1: until a debugger is attached to one of its processes. No deadline of the libraries
# applies then.
sub wait_for_debugger($self) {
    my @processes = ([ $self->{pid}, 'parent' ], map { [ $_, 'child' ] } sort { $a <=> $b } $self->children);
    my ($macros) = map { "$_/tools/adm.gdb" } Cwd::abs_path(__FILE__) =~ m{^(.*)/t/lib/Admission/};
    my $terminal;

    # The runner of `make check` has standard error in a file.
    open $terminal, '>', '/dev/tty' or open $terminal, '>&', \*STDERR or die "stderr: $!\n";
    $terminal->autoflush;
    print $terminal "# $0: waiting for a debugger, in another terminal:\n",
        map { "#   gdb -x $macros -p $_->[0]    # $_->[1]\n" } @processes;
    sleep 0.1 while !grep { $self->slurp("/proc/$_->[0]/status") =~ /^TracerPid:\s*[1-9]/m } @processes;
}

sub choose_ports($self) {
    my @sockets = map { free_port(@$_) } $self->{ports} // [0], [0];
    @{$self}{qw(port tls_port)} = map { $_->sockport } @sockets;
    $self->put('../httpd.conf', Admission::Config::text(%$self));
}

# One of these ports that is free, as a socket that holds it; 0 is any.
sub free_port {
    for my $port (@_) {
        my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port,
                                           Proto => 'tcp', Listen => 1, ReuseAddr => $port > 0);
        return $socket if $socket;
    }
    die "no free port: $@\n";
}

# httpd leads a process group: prefork stops by killing its own, and that must not
# be the harness's.
sub launch($self) {
    my $dir = $self->{dir};

    # APR tries the directory by a file, which stays where httpd is ended just then.
    local $ENV{TMPDIR} = "$dir/tmp";
    unlink "$dir/stderr.log";
    my @command = (split(' ', $ENV{PREFIX} // ''), @{ $self->{prefix} // [] },
                   $self->{program} // Admission::Config::httpd(), '-d', $dir, '-f', 'httpd.conf', '-DFOREGROUND',
                   $self->defines);
    undisturbed {
        @{$self}{qw(group keeper alive exited)} = (keep("$dir/stderr.log", @command), 0);
        $self->{pid} = $self->{group};
    };
    $self->{pid} or die "httpd did not start:\n", $self->slurp('stderr.log');
}

# Parks in the older way, as a combination or the environment says.
sub defines($self) {
    return $self->{completion} || $ENV{ADMISSION_COMPLETION}
        ? '-DADMISSION_COMPLETION' : ();
}

sub comes_up($self) {
    return $self->soon(sub {
        return 'died' if $self->has_exited;
        return if !$ENV{PREFIX} && !$self->runs_programs; # rules can lead the page to a program
        my $answer = eval { $self->get('/server-status?auto') };
        # Of a program that PREFIX starts and that does not become httpd, it is a child.
        ($self->{pid}) = $self->slurp('run/httpd.pid') =~ /(\d+)/ if $answer && $ENV{PREFIX};
        $answer && $answer->{status} == 200 && $self->runs_programs && 'up';
    }) eq 'up';
}

# mod_cgid's daemon gives its socket to httpd's user a moment after httpd serves
# requests; until then they fail.
sub runs_programs($self) {
    return 1 if $self->{cgi} ne 'cgid' || $> != 0;
    my ($user) = Admission::Config::user();
    my $owner = (stat "$self->{dir}/run/cgid.sock.$self->{pid}")[4];
    return defined $owner && $owner == getpwnam $user;
}

sub has_exited($self) {
    $self->{exited} ||= defined sysread $self->{alive}, my $end, 1;
    return $self->{exited};
}

# New configuration, which is this text where there is one; old requests finish. Returns when
# new children answer.
sub graceful($self, $conf = undef) {
    $self->configure($conf) if defined $conf;
    $self->reload('USR1');
}

# New configuration, old requests are cut off.
sub restart($self) {
    my $from = () = $self->error_log;

    $self->reload('HUP');
    my $to = () = $self->error_log;
    push @{ $self->{hard_stops} }, [ $from, $to - 1 ];
}

# After reloads in quick succession: where the parent may believe that it has
# children, and has none, another reload starts some.
sub is_left_alone($self) {
    return 0 if $self->{mpm} ne 'event' || !Admission::Config::loses_count_of_children();
    return $self->soon(sub {
        my @children = $self->children or return 'alone';
        return $self->accepts(@children) && 'served';
    }) eq 'alone';
}

sub reload($self, $signal) {
    $self->{has_reloaded} = 1;
    my $generation = $self->status->{ParentServerMPMGeneration};
    my @old = $self->children;
    kill $signal => $self->{pid};
    my $reloaded = $self->soon(sub {
        my $status = eval { $self->status } or return;
        $status->{ParentServerMPMGeneration} > $generation
            && !$self->accepts(@old) && $self->runs_programs;
    });
    $self->must($reloaded, "httpd reloads ($signal)");
}

# Whether one of these processes may still accept connections: those of the last
# generation do so until they have noticed that there is another one.
sub accepts($self, @pids) {
    my $port = sprintf '%04X', $self->{port};
    my ($inode) = map { (split)[9] } grep { /^ *\d+: \w+:$port \w+:0000 0A/ }
                  split /\n/, $self->slurp('/proc/net/tcp') . $self->slurp('/proc/net/tcp6');
    return 1 if !$inode;
    for my $pid (@pids) {
        return 1 if grep { (readlink // '') eq "socket:[$inode]" } glob "/proc/$pid/fd/*";
    }
    return 0;
}

sub stop($self) {
    # mod_slotmem_shm's memory has a name.
    $self->{memory} = $self->slurp("/proc/$self->{pid}/maps")
        if !grep { $_ eq 'slotmem_shm' } @{ $self->{modules} // [] };
    $self->end;
}

# The same without a look at its memory.
sub end($self) {
    my $from = () = $self->error_log;
    push @{ $self->{hard_stops} }, [ $from, undef ];
    kill TERM => $self->{pid};
    $self->finish;
}

# The checks at the end, once the parent has been told to stop or is dead.
sub finish($self) {
    my @left;

    @running = grep { $_ != $self } @running;
    my $stops = $self->soon(sub { $self->has_exited });
    my $all_end = $self->soon(sub { !(@left = $self->processes) });
    my @names = map { "left: $_ " . Admission::File::slurp("/proc/$_/comm") } @left;
    kill KILL => -$self->{group} if @left;
    $self->must($stops, 'httpd stops');
    $self->must($all_end, 'no process is left', @names);
    # Of the module, not of those it is compared with.
    $self->must(($self->{memory} // '') !~ m{/dev/shm/|/SYSV},
                'shared memory has no name that outlives httpd', $self->{memory} // ())
        if $self->{admission} // 1;
    $self->check_log;
}

# Ends it without looking at how it was.
sub discard($self) {
    return if !$self->{pid};
    @running = grep { $_ != $self } @running;
    # httpd would wait for its programs.
    kill KILL => $self->live_programs_now;
    kill TERM => $self->{pid};
    $self->soon(sub { $self->has_exited });
    kill KILL => -$self->{group};
    waitpid $self->{keeper}, 0;
}

# Those that this process has started and that were not stopped.
sub running { return grep { $_->{started_by} == $$ } @running }

# Runs at the end of every program: a server that is still there was never checked, so
# the program fails. Not at the end of what it forks.
END {
    for my $self (running()) {
        print STDERR "# not stopped: httpd in $self->{dir}, which has ",
            $self->has_exited ? 'exited' : 'not exited', "\n";
        $self->show_log;
        kill KILL => -$self->{group};
        $? ||= 1;
    }
}

# ---- processes --------------------------------------------------------------

# Live processes of the group: httpd, its children, their programs.
sub processes($self) {
    return grep { ((proc_stat($_))[0] // 'Z') ne 'Z' } $self->pids;
}

# The children that serve requests. mod_cgid's daemon is a child as well, the
# only one with a single thread under a threaded MPM; and the agent.
sub children {
    my ($self) = @_;
    return $self->forked(sub { $self->{mpm} eq 'prefork' || $_[0] > MOST_OF_ONE });
}

# The processes that start programs for mod_cgid: one, but for reloads.
sub daemons {
    my ($self) = @_;
    return if $self->{cgi} ne 'cgid';
    return $self->forked(sub { $_[0] <= MOST_OF_ONE });
}

# Whose parent is httpd's, but for the agent, by the number of their threads.
sub forked($self, $is_wanted) {
    return grep { !is_agent($_) } grep {
        my ($state, $parent, $threads) = proc_stat($_);
        $parent && $parent == $self->{pid} && $state ne 'Z' && $is_wanted->($threads);
    } $self->pids;
}

sub is_agent { return __PACKAGE__->slurp("/proc/$_[0]/comm") eq "admission-agent\n" }

# The processes that make the rounds: one, but for moments.
sub agents($self) {
    return grep { is_agent($_) && (proc_stat($_))[0] ne 'Z' } $self->processes;
}

# Of its group; others are not looked at: beside many tests there are hundreds.
sub pids($self) {
    opendir my $proc, '/proc' or die "/proc: $!\n";
    return grep { /^\d+$/ && getpgrp($_) == $self->{group} } readdir $proc;
}

# (state, parent, number of threads)
sub proc_stat($pid) {
    open my $file, '<', "/proc/$pid/stat" or return;
    my ($fields) = (readline($file) // '') =~ /.*\) (.*)/ or return;
    return (split ' ', $fields)[0, 1, 17];
}

sub resident_kb($self, $pid) { return $self->slurp("/proc/$pid/status") =~ /^VmRSS:\s+(\d+)/m ? $1 : 0 }

sub live_programs_now { return live_programs($_[0]{dir}, {}, $_[0]{group}) }

sub parent_of($self, $pid) {
    return (proc_stat($pid))[1];
}

# With a limit: that of Admission::Live.
sub watch($self, $limit) { return watch_programs(@$self{qw(dir group)}, $limit) }

# ---- requests ---------------------------------------------------------------

sub connect { return Admission::Client->new($_[0]{port}) }

sub ask($self, @request) { return $self->connect->ask(@request) }

sub get($self, @request) { return $self->ask(@request)->answer }

sub url     { return "http://127.0.0.1:$_[0]{port}$_[1]" }
sub tls_url { return "https://127.0.0.1:$_[0]{tls_port}$_[1]" }

# Lets the programs go on that were asked for with until=NAME.
sub open_gate($self, $name) { $self->put("../heavy/$name", '') }

# The same while the test is in restart() or stop(), as soon as all children know of it:
# until then, a waiting request that gets the permit starts its program. event's listener may
# close before the hooks of a stop have run.
sub open_gate_when_stopping($self, $name) {
    my @children = $self->children;
    my $knows = 0;
    $SIG{ALRM} = sub {
        return Time::HiRes::alarm(0.03) if kill(0 => @children) && $self->accepts(@children);
        return $knows++ ? $self->open_gate($name) : Time::HiRes::alarm(0.5);
    };
    Time::HiRes::alarm(0.03);
}

# What the programs recorded: 'start 1', 'end 1', ...
sub record { return split /\n/, $_[0]->slurp('heavy/record') }

# server-status?auto: the server's keys, and {zone}{name}{key} for the zones.
sub status($self) {
    my $answer = $self->get('/server-status?auto');
    die "server-status: $answer->{status}\n" if $answer->{status} != 200;

    my (%status, @zone);
    for my $line (split /\n/, $answer->{body}) {
        my ($key, $value) = $line =~ /^([^:]+): (.*)$/ or next;
        if ($key =~ /^Admission\[(\d+)\](\w+)$/) {
            $zone[$1]{$2} = $value;
        }
        else {
            $status{$key} = $value;
        }
    }
    $status{zone} = { map { $_->{Name} => $_ } @zone };
    return \%status;
}

# One zone of the status: by its AdmissionZone name, or by its section.
# It has no figures while its lock is held for long: by a process without a processor.
sub zone($self, $name) {
    my $zone;
    $self->soon(sub {
        my $zones = $self->status->{zone};
        $zone = $zones->{$name} // $zones->{"$Admission::Config::SERVER_NAME:$name"}
            // die "no zone $name in server-status\n";
        exists $zone->{Active};
    }, 5);
    return $zone;
}

# The zone must get into this state: zone_becomes('/cgi-bin/', 'two wait', Active => 1, Queued => 2)
sub zone_becomes($self, $name, $what, %state) {
    return $self->becomes($what, "zone $name:", sub { $self->zone($name) }, %state);
}

# What the code returns must get into this state.
sub becomes($self, $what, $where, $look, %state) {
    my $is = {};
    my $reached = $self->soon(sub {
        $is = eval { $look->() } // {};
        !grep { ($is->{$_} // '') ne $state{$_} } keys %state;
    });
    return $self->must($reached, $what, $where, compared($is, %state));
}

# A line a key: what is, and what should be.
sub compared($is, %wanted) {
    my %all = (%$is, %wanted);
    return map { "  $_ is " . ($is->{$_} // 'missing')
                 . (defined $wanted{$_} ? ", should be $wanted{$_}" : '') } sort keys %all;
}

# ---- files ------------------------------------------------------------------

sub slurp($self, $name) {
    return Admission::File::slurp($name =~ m{^/} ? $name : "$self->{dir}/$name");
}

# (exit status, output) of httpd -t, without starting it.
sub configtest($self, @options) {
    my $httpd = Admission::Config::httpd();
    $self->choose_ports if !$self->{port};
    my $output = `$httpd -t -d $self->{dir} -f httpd.conf @options 2>&1`;
    return ($? >> 8, $output);
}

# The first true value within a deadline, else ''. A look that takes long, such as a
# request that a server of before still answers, is not the last one. Who waits for
# long is not asked as often.
sub soon($self, $check, $seconds = undef) {
    my $deadline = time + $SLOWER * ($seconds // $PATIENCE);
    my $pause = 0.01;
    while (1) {
        my $is_last = time > $deadline;
        my $value = $check->();
        return $value if $value;
        return '' if $is_last;
        sleep $pause;
        $pause *= 1.05 if $pause < 0.05;
    }
}

1;

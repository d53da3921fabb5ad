package Demo;

# What the demonstrations share: a directory that goes with its servers, their
# configuration, clients, and an end that is clean whenever it comes.

use strict;
use warnings;

use Exporter 'import';
use File::Copy ();
use File::Path ();
use File::Temp ();
use FindBin;
use IO::Socket::INET;
use POSIX ();
use Time::HiRes qw(sleep time);

use lib $FindBin::Bin, "$FindBin::Bin/../t/lib";

use Admission::Config;
use Admission::Live qw(live_programs);
use Admission::Load;
use Admission::Program qw(program);
use Admission::Keeper;

our @EXPORT = qw($STOPPED check_servers clients configuration demonstrate finish free_port httpd
                 launch leave put read_clients start_servers stay_up);

# With what a signal ends whatever is going on.
our $STOPPED = "stopped\n";

my ($builddir, $dir, $keeper, @there);

# demonstrate('name', $builddir, sub { my ($dir) = @_; ... }, sub { the end }): exits.
sub demonstrate {
    my ($name, $built, $show, $end) = @_;
    my ($stopped, $failed);

    $SIG{$_} = sub { $stopped = 1; die $STOPPED } for qw(INT TERM HUP);
    $SIG{PIPE} = 'IGNORE';
    $| = 1;
    $builddir = $built;
    $ENV{ADMISSION_HEAVY} = "$builddir/t/programs/heavy";
    eval {
        $dir = File::Temp::tempdir("admission-$name-XXXXXX", TMPDIR => 1);
        prepare();
        $show->($dir);
        1;
    } or $failed = $@;
    $SIG{$_} = 'IGNORE' for qw(INT TERM HUP);
    print STDERR "quickstart: $failed" if $failed && !$stopped;
    leave(@there);
    # httpd would wait for its programs.
    kill KILL => live_programs($dir) if defined $dir;
    $keeper->stop if $keeper;
    eval { $end->(); 1 } or print STDERR "quickstart: $@";
    File::Path::remove_tree($dir) if defined $dir;
    exit($failed && !$stopped ? 1 : 0);
}

# All of it in a directory which the user that httpd's children run as can enter,
# wherever the clone may be.
sub prepare {
    chmod 0755, $dir;
    mkdir "$dir/$_" for qw(cgi-bin heavy);
    File::Copy::copy(program('heavy'), "$dir/cgi-bin/adm-heavy") or die "adm-heavy: $!\n";
    chmod 0755, "$dir/cgi-bin/adm-heavy";
}

sub put {
    my ($name, $text) = @_;

    open my $file, '>', "$dir/$name" or die "$name: $!\n";
    print $file $text;
    close $file or die "$name: $!\n";
}

sub stay_up {
    return if !-t STDIN;
    print "\nStays up until you press Ctrl-C.\n";
    while (1) {
        check_servers();
        sleep 1;
    }
}

# ---- servers ---------------------------------------------------------------------

# One of these ports that is free.
sub free_port {
    for my $port (@_) {
        my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port,
                                           Listen => 1, ReuseAddr => 1);
        return $socket->sockport if $socket;
    }
    die "no free port\n";
}

sub httpd { return Admission::Config::httpd() }

# configuration(port => 8080, root => $dir, workers => 64, modules => [...],
#               redis => 0, conf => 'text')
sub configuration {
    my (%o) = @_;
    my $is_event = Admission::Config::is_installed('mpm_event');
    my @modules = $is_event ? qw(mpm_event cgid) : qw(mpm_prefork cgi);
    my ($user, $group) = $> == 0 ? Admission::Config::user() : ();

    return join "\n",
        (map { Admission::Config::load_line($_) }
             @modules, qw(unixd authz_core authz_host log_config alias dir status)),
        "LoadModule admission_module \"$builddir/.libs/mod_admission.so\"",
        ($o{redis} ? "LoadModule admission_redis_module \"$builddir/.libs/mod_admission_redis.so\"" : ()),
        "Listen 127.0.0.1:$o{port}", 'ServerName localhost',
        "ServerRoot $o{root}", "DefaultRuntimeDir $o{root}", 'PidFile httpd.pid',
        'ErrorLog error.log', "MaxRequestWorkers $o{workers}", 'AsyncRequestWorkerFactor 4',
        ($is_event ? ('StartServers 1', 'ServerLimit 1', 'MinSpareThreads 1',
                      "ThreadsPerChild $o{workers}", "ScriptSock $o{root}/cgid.sock")
                   : ("StartServers $o{workers}")),
        ($user ? ("User $user", "Group $group") : ()),
        'ExtendedStatus On', $o{conf}, '';
}

# Starts a program whose end the keeper sees; it ends with the keeper, where setpriv is.
sub launch {
    my (@command) = @_;
    my $pid = fork // die "fork: $!\n";

    unshift @command, qw(setpriv --pdeathsig TERM)
        if grep { -x "$_/setpriv" } split /:/, $ENV{PATH};
    if ($pid == 0) {
        Admission::Keeper::begin_program();
        open STDOUT, '>', '/dev/null';
        exec @command or POSIX::_exit(127);
    }
    return $pid;
}

# start_servers(sub { whether they serve }, seconds, as Admission::Keeper->start's programs)
sub start_servers {
    my ($are_up, $seconds, @programs) = @_;
    my $deadline = time + $seconds;

    $keeper = Admission::Keeper->start(dir => $dir, died => \&print_error_logs, programs => \@programs);
    until ($are_up->()) {
        check_servers();
        die "the servers do not serve\n" if time > $deadline;
        sleep 0.05;
    }
}

sub check_servers { $keeper->has_ended and die "a server has ended\n" }

sub print_error_logs {
    for my $path (glob "$dir/{,*/}error.log") {
        open my $log, '<', $path or next;
        my @lines = <$log>;
        print STDERR "\nThe end of $path:\n", @lines > 5 ? @lines[-5 .. -1] : @lines;
    }
}

# ---- clients -----------------------------------------------------------------------

# clients($port, $path, rate => 0, clients => N, seconds => N, requests => N). What they
# have had so far: { ms => [...], failures, is_there }, as of the last read_clients().
sub clients {
    my ($port, $path, %o) = @_;
    my $load = Admission::Load->start(($o{requests} ? ('-n', $o{requests}) : ()), $port, $o{rate} // 0,
                                      $o{clients}, POSIX::ceil($o{seconds}), $path);

    push @there, { load => $load, ms => [], failures => 0, is_there => 1 };
    return $there[-1];
}

# Reads what has come of them within this time. @return how many are still there.
sub read_clients {
    my ($seconds, @clients) = @_;

    sleep $seconds;
    for my $self (grep { $_->{is_there} } @clients) {
        $self->{is_there} = $self->{load}->is_there;
        $_->[2] ? push @{ $self->{ms} }, $_->[1] / 1000 : $self->{failures}++ for $self->{load}->lines;
    }
    return scalar grep { $_->{is_there} } @clients;
}

# They ask no more, and have so many seconds for the answers.
sub finish {
    my ($self, $seconds) = @_;
    my $deadline = time + $seconds;

    $self->{load}->ask_no_more;
    1 while time < $deadline && read_clients(0.1, $self);
    leave($self);
}

# Those who have no answer yet leave without one.
sub leave { $_->{load}->leave for @_ }

1;

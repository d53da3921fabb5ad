package Admission::Parking;

# Private httpds that park: the event MPM with small children, one unless somebody
# says otherwise, so that there are always more waiters than threads.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';

use Admission;
use Admission::Config;
use Admission::Program qw(build_shared);

our @EXPORT = qw(ask_line backlog descriptors faulty halt new_parking_httpd parking_conf
                 server_becomes start_parking_httpd stock_conf);

my $THREADS = 6;
# Of a child, idle. With them, and what is parked, it has less than 1,024 files open.
my $CONNECTIONS = 1200;

# On Linux every httpd with the event MPM. Not asked of the module itself, which
# could be wrong.
sub can_park {
    return $^O eq 'linux' && Admission::Config::is_installed('mpm_event');
}

# The MPM part: children => 1, threads => 6 of each, and a factor with which more
# can be parked than any test has clients.
# There are slots left for children that take their place after a graceful.
sub parking_conf {
    my (%o) = (children => 1, threads => $THREADS, @_);
    my $factor = $o{factor} // int($CONNECTIONS / $o{threads});
    my $workers = $o{children} * $o{threads};
    my $spare = $o{replaces_killed} && Admission::Config::is_slow_to_replace() ? $workers : 1;
    return <<"CONF";
StartServers $o{children}
ServerLimit 8
ThreadsPerChild $o{threads}
MaxRequestWorkers $workers
MinSpareThreads $spare
MaxSpareThreads $workers
AsyncRequestWorkerFactor $factor
CONF
}

# The sizes of Debian's mpm_event.conf, which are nearly httpd's own.
sub stock_conf {
    return <<'CONF';
StartServers 2
ServerLimit 16
MinSpareThreads 25
MaxSpareThreads 75
ThreadLimit 64
ThreadsPerChild 25
MaxRequestWorkers 150
MaxConnectionsPerChild 0
CONF
}

# As new_httpd(), with the options of parking_conf().
sub new_parking_httpd {
    my (%o) = (threads => $THREADS, conf => '', @_);
    return new_httpd(%o, workers => 2 * $o{threads}, conf => parking_conf(%o) . $o{conf});
}

sub start_parking_httpd {
    my $httpd = new_parking_httpd(@_)->start;
    my $way = Admission::Config::has_two_ways() && !$httpd->{completion}
        ? 'asynchronous wait' : 'write completion';
    $httpd->must(scalar(grep { /ADM0303: .*: \Q$way\E\z/ } $httpd->error_log), "it parks by $way");
    return $httpd;
}

# One that runs until the gate NAME is opened, and as many as asked for behind
# it, all in the zone: ask_line($httpd, 'NAME', 60, '/cgi-bin/') returns the
# clients. More options are those of ask().
sub ask_line($httpd, $name, $waiters, $zone, @options) {
    my $url = '/cgi-bin/heavy?id=';

    my @clients = $httpd->ask("$url$name-runs&early=1&until=$name", @options);
    $httpd->zone_becomes($zone, 'one runs', Active => 1, Queued => 0);
    # Only then has mod_cgid read its PID: a reload before ends the request with 503.
    $httpd->must($httpd->soon(sub { $clients[0]->has_begun }), 'its response begins');
    push @clients, map { $httpd->ask("$url$name-$_", @options) } 1 .. $waiters;
    $httpd->zone_becomes($zone, "$waiters wait", Active => 1, Queued => $waiters);
    return @clients;
}

# The server's own lines of server-status must get into this state:
# server_becomes($httpd, 'nobody blocks', AdmissionBlocked => 0)
sub server_becomes($httpd, $what, %state) {
    return $httpd->becomes($what, 'the server:', sub {
        my $status = $httpd->status;
        return { map { $_ => $status->{$_} } keys %state };
    }, %state);
}

# Stops a process; returns when none of its threads runs any more.
sub halt($httpd, $pid) {
    kill STOP => $pid;
    $httpd->soon(sub {
        !grep { $httpd->slurp("/proc/$pid/task/$_/stat") !~ /\) T / } threads($pid);
    }) or die "process $pid does not stop\n";
}

sub threads($pid) {
    opendir my $tasks, "/proc/$pid/task" or return;
    return grep { /^\d+$/ } readdir $tasks;
}

# How many connections no child has accepted yet.
sub backlog($httpd) {
    my $port = sprintf '%04X', $httpd->{port};
    my ($waiting) = $httpd->slurp('/proc/net/tcp')
        =~ /^ *\d+: \w+:$port \w+:0000 0A \w+:(\w+)/m or die "nobody listens\n";
    return hex $waiting;
}

# How many descriptors a process has open.
sub descriptors($pid) {
    opendir my $files, "/proc/$pid/fd" or return 0;
    return scalar grep { /^\d+$/ } readdir $files;
}

# With faults when it is told: programs/faults.c.
sub faulty($httpd) {
    return $httpd->behind("FAULTS_DIR=$httpd->{dir}/heavy LD_PRELOAD=" . build_shared('faults') . ' exec');
}

1;

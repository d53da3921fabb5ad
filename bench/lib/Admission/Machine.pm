package Admission::Machine;

# What the machine is, and what is installed on it.

use strict;
use warnings;

use Exporter 'import';
use POSIX ();

use Admission::Config;
use Admission::File qw(slurp);

our @EXPORT_OK = qw(has machine on_processors package_of version_of);

# In which package of Debian and Ubuntu a program is, where its name is not that.
my %PACKAGE = (
    ab        => 'apache2-utils',
    callgrind => 'valgrind',
    cc        => 'gcc',
    cgroup    => 'a memory cgroup that can be written',
    h2load    => 'nghttp2-client',
    mod_fcgid => 'libapache2-mod-fcgid',
    mod_qos   => 'libapache2-mod-qos',
    nghttp    => 'nghttp2-client',
    perf      => 'linux-perf',
    root      => 'to be run by root',
    valgrind  => 'valgrind',
);

my %IS_THERE = (
    callgrind => sub { has('valgrind') },
    cgroup    => sub { cgroup() },
    root      => sub { $> == 0 },
);

# has('ab'), has('mod_qos'), has('root'), has('cgroup')
sub has {
    my ($what) = @_;

    return $IS_THERE{$what}->() if $IS_THERE{$what};
    return Admission::Config::is_installed($1) if $what =~ /^mod_(\w+)$/;
    # Administrators' programs are not in everybody's PATH.
    return scalar grep { -x "$_/$what" } split(/:/, $ENV{PATH}), qw(/usr/sbin /sbin);
}

sub package_of { my ($what) = @_; return $PACKAGE{$what} // $what }

# How a program that is compared with names its version: the command, and what to take of it.
my %VERSION = (
    haproxy        => [ 'haproxy -v',             qr/version (\d[\d.]*\d)/,  'HAProxy' ],
    nginx          => [ 'nginx -v',               qr{nginx/(\S+)},           'nginx' ],
    mod_fcgid      => [ debian_version('fcgid'),  qr/^(?:\d+:)?([\d.]+)/,    'mod_fcgid' ],
    mod_qos        => [ debian_version('qos'),    qr/^(?:\d+:)?([\d.]+)/,    'mod_qos' ],
    'redis-server' => [ 'redis-server --version', qr/ v=(\S+)/,              'Redis' ],
    'redis-check-rdb' => [ 'redis-check-rdb --version', qr/ (\d\S+)/,        'Redis' ],
);

sub debian_version { return "dpkg-query -W -f '\${Version}' libapache2-mod-$_[0]" }

# "HAProxy 2.6.12"; the name alone where the version is unknown, nothing for other programs.
sub version_of {
    my ($what) = @_;
    my ($command, $pattern, $name) = @{ $VERSION{$what} // return };

    return `PATH="\$PATH:/usr/sbin:/sbin" $command 2>&1` =~ $pattern ? "$name $1" : $name;
}

# The folder in which memory cgroups can be made, of either kind.
sub cgroup {
    return '/sys/fs/cgroup/memory' if -w '/sys/fs/cgroup/memory/memory.limit_in_bytes' && $> == 0;
    return slurp('/sys/fs/cgroup/cgroup.controllers') =~ /\bmemory\b/ && $> == 0 && -w '/sys/fs/cgroup'
        ? '/sys/fs/cgroup' : undef;
}

# One line that belongs to every number.
sub machine {
    my ($processor) = slurp('/proc/cpuinfo') =~ /^model name\s*:\s*(.*)/m;
    my ($kb) = slurp('/proc/meminfo') =~ /^MemTotal:\s*(\d+)/m;
    my ($httpd) = `@{[ Admission::Config::httpd() ]} -v` =~ m{(Apache/\S+)};
    chomp(my $cores = `nproc`);

    return sprintf '%d cores (%s), %.0f GB, %s %s, %s, %s', $cores,
        $processor // (POSIX::uname())[4], ($kb // 0) / 2**20,
        (POSIX::uname())[0, 2], $httpd, POSIX::strftime('%F', gmtime);
}

# What starts a program on these of the processors that this process may use: those from
# number $from on, counted from 0. Nothing where there are no others, or no taskset.
sub on_processors {
    my ($from, $count) = @_;
    my ($allowed) = slurp('/proc/self/status') =~ /^Cpus_allowed_list:\s*(\S+)/m or return;
    my @all = map { /(\d+)-(\d+)/ ? $1 .. $2 : $_ } split /,/, $allowed;

    return if @all <= $count || @all < $from + $count || !has('taskset');
    return ('taskset', '-c', join ',', @all[$from .. $from + $count - 1]);
}

# So many files may be open from here on, in the programs started as well. Only
# another program can raise that for us.
sub raise_files {
    my ($files) = @_;

    return if $ENV{BENCH_FILES_RAISED} || POSIX::sysconf(POSIX::_SC_OPEN_MAX()) >= $files;
    $ENV{BENCH_FILES_RAISED} = 1;
    exec 'sh', '-c', 'ulimit -n "$0" 2>/dev/null || ulimit -n $(ulimit -Hn); exec "$@"',
         $files, $^X, $0, @ARGV;
}

1;

package AdmissionBench::Opponents;

# What mod_admission is compared with: httpd without it, mod_qos in it, HAProxy
# in front of it.

use strict;
use warnings;

use Exporter 'import';
use File::Temp ();
use IO::Socket::INET;
use POSIX ();
use Time::HiRes qw(sleep time);

use AdmissionTest;
use AdmissionTest::Config;

our @EXPORT_OK = qw(plain_httpd qos_conf qos_serialize_conf start_haproxy);

my $PATIENCE = 10;    # seconds for HAProxy to start

# As start_httpd(), without mod_admission. What it says in its log is its own
# affair.
sub plain_httpd { return start_httpd(@_, admission => 0)->allow_in_log(qr/./) }

# Loads mod_qos; with a regular expression for URLs and a number, these run at
# most so many at once. It rejects the others.
sub qos_conf {
    my ($match, $limit) = @_;
    my $conf = pcre() . AdmissionTest::Config::load_line('qos');

    $conf .= qq(QS_LocRequestLimitMatch "$match" $limit\n) if defined $match;
    return $conf;
}

# mod_qos may leave it to httpd to have brought the old PCRE, which httpd has
# given up.
sub pcre {
    my ($path) = `PATH="\$PATH:/sbin" ldconfig -p 2>/dev/null` =~ m{ => (\S+/libpcre\.so\.3)$}m
        or return '';
    return qq(LoadFile "$path"\n);
}

# Of these URLs one runs at a time, and the others wait: the only line that
# mod_qos has.
sub qos_serialize_conf {
    my ($match, $seconds) = @_;

    return qos_conf() . <<"CONF";
QS_SrvSerialize on @{[ $seconds // 300 ]}
SetEnvIf Request_URI "$match" QS_SrvSerialize=yes
CONF
}

# ---- HAProxy -------------------------------------------------------------------

# start_haproxy(backend => port, limit => 4, path => '/cgi-bin/', http_reuse =>
# 'always'): a proxy on a port of its own, with a line for what begins with the
# path, and none for the rest; without a limit it only passes on. Returns an
# object with {port}; it ends with stop().
sub start_haproxy {
    my (%o) = (path => '/cgi-bin/', @_);
    my $self = bless { folder => File::Temp->newdir('admission-haproxy-XXXXXX', TMPDIR => 1) },
                     __PACKAGE__;

    for (1 .. 5) {
        $self->{port} = free_port();
        $self->configure(%o);
        $self->launch;
        return $self if $self->comes_up;
        $self->stop;
    }
    die "HAProxy did not start:\n" . $self->says;
}

sub free_port {
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 1)
        // die "no free port: $@\n";
    return $socket->sockport;
}

sub configure {
    my ($self, %o) = @_;
    my $line = $o{limit} ? <<"LINE" : '';
    use_backend line if { path_beg $o{path} }

backend line
    option abortonclose
    server httpd 127.0.0.1:$o{backend} maxconn $o{limit}
LINE
    open my $file, '>', "$self->{folder}/haproxy.cfg" or die "haproxy.cfg: $!\n";
    print $file <<"CONF";
defaults
    mode http
    option http-keep-alive
    timeout connect 10s
    timeout client 600s
    timeout server 600s
    timeout queue 600s

frontend all
    bind 127.0.0.1:$self->{port}
    default_backend rest
$line
backend rest
    http-reuse @{[ $o{http_reuse} // 'always' ]}
    server httpd 127.0.0.1:$o{backend}
CONF
    close $file or die "haproxy.cfg: $!\n";
}

sub launch {
    my ($self) = @_;
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        open STDOUT, '>', "$self->{folder}/output";
        open STDERR, '>&', \*STDOUT;
        local $ENV{PATH} = "$ENV{PATH}:/usr/sbin";
        # -db: in the foreground, a single process, that ends with us.
        exec 'haproxy', '-db', '-f', "$self->{folder}/haproxy.cfg" or POSIX::_exit(127);
    }
    $self->{pid} = $pid;
}

sub comes_up {
    my ($self) = @_;
    my $deadline = time + $PATIENCE;

    while (time < $deadline) {
        return 0 if waitpid($self->{pid}, POSIX::WNOHANG()) != 0;
        return 1 if IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port});
        sleep 0.02;
    }
    return 0;
}

sub says {
    my ($self) = @_;
    open my $file, '<', "$self->{folder}/output" or return '';
    local $/;
    return readline($file) // '';
}

sub url { my ($self, $path) = @_; return "http://127.0.0.1:$self->{port}$path" }

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;

    kill KILL => $pid;
    waitpid $pid, 0;
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $!);
    $self->stop;
}

1;

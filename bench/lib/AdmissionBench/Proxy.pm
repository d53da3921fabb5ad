package AdmissionBench::Proxy;

# Competitors of mod_admission in front of httpd: HAProxy with its queue, nginx with
# its limit.
#
#     my $proxy = start_haproxy(backend => $httpd->{port}, limit => 4);
#     ... $proxy->{port}, $proxy->url('/cgi-bin/heavy') ...
#     $proxy->stop;

use strict;
use warnings;

use Exporter 'import';
use File::Temp ();
use IO::Socket::INET;

use Admission::File qw(slurp spill);
use Admission::Httpd;
use Admission::Program qw(keep);

our @EXPORT_OK = qw(start_haproxy start_nginx);

# start_haproxy(backend => port, limit => 4, queue_sec => 600, path => '/cgi-bin/',
# http_reuse => 'always'): a proxy with a queue for URLs that start with the
# path, and no queue for the others; without a limit it only passes on.
sub start_haproxy {
    my (%o) = (path => '/cgi-bin/', http_reuse => 'always', queue_sec => 600, @_);

    # -db: in the foreground, a single process, which ends with the experiment.
    return start(\%o, \&haproxy_conf, sub { ('haproxy', '-db', '-f', $_[0]) });
}

# start_nginx(backend => port, limit => 4, of_client => 2, path => '/cgi-bin/'): a
# proxy that rejects requests beyond the limit, or beyond the limit per client.
sub start_nginx {
    my (%o) = (path => '/cgi-bin/', @_);

    return start(\%o, \&nginx_conf, sub { ('nginx', '-c', $_[0]) });
}

sub haproxy_conf {
    my ($self, %o) = @_;
    my $queue = $o{limit} ? <<"QUEUE" : '';
    use_backend queue if { path_beg $o{path} }

backend queue
    option abortonclose
    server httpd 127.0.0.1:$o{backend} maxconn $o{limit}
QUEUE
    return <<"CONF";
defaults
    mode http
    option http-keep-alive
    timeout connect 10s
    timeout client 600s
    timeout server 600s
    timeout queue $o{queue_sec}s

frontend all
    bind 127.0.0.1:$self->{port}
    default_backend rest
$queue
backend rest
    http-reuse $o{http_reuse}
    server httpd 127.0.0.1:$o{backend}
CONF
}

sub nginx_conf {
    my ($self, %o) = @_;
    my @temp = map { "    ${_}_temp_path $self->{folder}/$_;\n" }
               qw(client_body proxy fastcgi uwsgi scgi);

    return <<"CONF";
daemon off;
master_process off;
pid $self->{folder}/pid;
error_log $self->{folder}/output crit;
events { worker_connections 4096; }
http {
    access_log off;
@temp    limit_conn_zone \$server_name zone=all:1m;
    limit_conn_zone \$binary_remote_addr zone=client:1m;
    server {
        listen 127.0.0.1:$self->{port};
        location / { proxy_pass http://127.0.0.1:$o{backend}; }
        location $o{path} {
            limit_conn all $o{limit};
            limit_conn client $o{of_client};
            proxy_pass http://127.0.0.1:$o{backend};
        }
    }
}
CONF
}

# ---- a proxy that runs ---------------------------------------------------------

sub start {
    my ($o, $conf, $command) = @_;
    my $self = bless { folder => File::Temp->newdir('admission-proxy-XXXXXX', TMPDIR => 1) },
                     __PACKAGE__;
    my @command = $command->("$self->{folder}/conf");

    local $ENV{PATH} = "$ENV{PATH}:/usr/sbin";
    for (1 .. 5) {
        $self->{port} = Admission::Httpd::free_port(0)->sockport;
        spill("$self->{folder}/conf", $conf->($self, %$o));
        @{$self}{qw(pid keeper alive)} = keep("$self->{folder}/output", @command);
        return $self if $self->comes_up;
        $self->stop;
    }
    die "$command[0] did not start:\n", slurp("$self->{folder}/output");
}

sub comes_up {
    my ($self) = @_;
    return 'up' eq Admission::Httpd->soon(sub {
        return 'ended' if defined(sysread $self->{alive}, my $end, 1);
        IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $self->{port}) && 'up';
    });
}

sub url { my ($self, $path) = @_; return "http://127.0.0.1:$self->{port}$path" }

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;

    kill KILL => $pid;
    waitpid $self->{keeper}, 0;
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $!);
    $self->stop;
}

1;

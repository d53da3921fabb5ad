# What an administrator may do to his fleet: a port where something else listens, an
# engine that is swapped for another one, locked, full, made read-only, given another
# password; servers that are stopped in the middle of a sync, and limits that differ.
# Each is told in a line a minute at most, and never more run than the limit.

use AdmissionTest;
use AdmissionTest::Fleet;
use Admission::File qw(directory spill);
use Admission::Program qw(keep);
use Admission::Redis;

use IO::Socket::INET;
use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my @others;    # end with this process

sub free_port {
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 1) or die "no port\n";
    return $socket->sockport;
}

# Another program on a port of its own; undef: it is not here.
sub start_other {
    my ($dir, $port, $name, @arguments) = @_;
    my ($program) = grep { -x } map { "$_/$name" } split(/:/, $ENV{PATH}), '/usr/sbin' or return;

    push @others, [ $dir, keep("$dir/log", $program, @arguments) ];
    for (1 .. 500) {
        last if IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port);
        sleep 0.01;
    }
    return $port;
}

sub nginx {
    my ($dir, $port) = (directory('admission-nginx-XXXXXX'), free_port());
    spill("$dir/nginx.conf", "daemon off; master_process off; pid $dir/nginx.pid; error_log stderr;\nevents {}\n"
          . "http { access_log off; server { listen 127.0.0.1:$port; location / { return 200 'x'; } } }\n");
    return start_other($dir, $port, 'nginx', '-p', $dir, '-c', "$dir/nginx.conf");
}

sub memcached {
    my $port = free_port();
    return start_other(directory('admission-memcached-XXXXXX'), $port,
                       'memcached', '-l', '127.0.0.1', '-p', $port, '-u', 'nobody', '-U', 0);
}

sub redis_as {
    push @others, Admission::Redis->start(@_);
    return $others[-1]{port};
}

# This port is the engine's for a while.
sub is_no_engine {
    my ($fleet, $what, $port, $pattern) = @_;
    SKIP: {
        skip "$what is not here", 1 if !$port;
        my @before = map { $fleet->lines($_, qr/ADM0141|ADM0152/) } 0 .. 2;
        my @errors = map { $_->status->{AdmissionEngineErrors} } @{ $fleet->{httpds} };
        my $began = time;

        $fleet->load(4);
        $fleet->goes_on("$what: there is a load");
        $_->becomes("engine $port") for @{ $fleet->{wires} };
        wait_for { 3 == grep { ($_->{FleetState} // '') eq 'fallback' } $fleet->zones } '... no lease', 20;
        my $zone = $fleet->{httpds}[0]->get('/cgi-bin/heavy');
        is $zone->{status}, 503, '... a new request is rejected';
        wait_for { 3 == grep { $fleet->{httpds}[$_]->status->{AdmissionEngineErrors} > $errors[$_] + 3 } 0 .. 2 }
            '... which is tried again', 20;
        for my $n (0 .. 2) {
            my $lines = $fleet->lines($n, qr/ADM0141|ADM0152/) - $before[$n];
            cmp_ok $lines, '<=', 1 + (time - $began) / 60, "... $lines lines";
        }
        if ($pattern) {
            # A minute may have passed since the last one; a reload begins another.
            $fleet->{httpds}[1]->graceful;
            wait_for { $fleet->lines(1, $pattern) > 0 } '... the log says what it is', 20
                or diag grep { /ADM0141|ADM0152/ } map { "$_\n" } $fleet->{httpds}[1]->error_log;
        }
        $_->becomes("engine $fleet->{engine_port}") for @{ $fleet->{wires} };
        $fleet->goes_on('... the engine is back', 30);
        $fleet->rest;
    }
}

for_each_combo(sub {
    my ($combo) = @_;
    my $fleet = AdmissionTest::Fleet->start($combo, lease => 3, hold => 2);
    my $redis = $fleet->{redis};

    $fleet->is_leased;
    is_no_engine($fleet, 'nginx', scalar(nginx()), qr/ADM0141: .*Protocol error/);
    is_no_engine($fleet, 'memcached', scalar(memcached()), qr/ADM0141: .*Protocol error/);
    is_no_engine($fleet, 'a port without a listener', free_port(), qr/ADM0141: .*(?:refused|closed|reset)/i);
    is_no_engine($fleet, 'an httpd', $fleet->{httpds}[2]{port}, qr/ADM0141: .*(?:Protocol error|closed|reset)/);
    is_no_engine($fleet, 'a Sentinel', redis_as(options => ['--sentinel'],
                                                 conf => ["sentinel monitor m 127.0.0.1 $redis->{port} 1"]),
                 qr/ADM0141: .*it is a Sentinel/);
    is_no_engine($fleet, 'a node of a Cluster', redis_as(conf => ['cluster-enabled yes']), qr/ADM0141: .*it is a node of a Cluster/);
    is_no_engine($fleet, 'a Redis with a password', redis_as(conf => ['requirepass secret']), qr/ADM0141: .*NOAUTH/);
    is_no_engine($fleet, 'a Redis that is full', redis_as(conf => [ 'maxmemory 1mb', 'maxmemory-policy noeviction' ]),
                 qr/ADM0141: .*OOM/);

    # To another dataset and back, while all are loaded.
    my $other = Admission::Redis->start;
    for my $round (1 .. 4) {
        $fleet->load(5);
        $fleet->goes_on('to another dataset: there is a load');
        for my $wire (@{ $fleet->{wires} }) {
            $wire->becomes('engine ' . ($round % 2 ? $other : $redis)->{port});
            sleep 0.2;
        }
        $fleet->goes_on('... the load goes on', 30);
        $fleet->rest;
    }

    # Limits that differ: the least counts.
    $fleet->load(5);
    {
        local $fleet->{limit} = 2;
        $fleet->{httpds}[2]->configure($fleet->conf(2));
    }
    $fleet->{httpds}[2]->graceful;
    wait_for { ($fleet->zones)[0]->{FleetLimit} == 2 } 'a server has a lower limit: it counts for all', 20;
    wait_for { $fleet->sum('Active') <= 2 } '... and what is too much ends', 20;
    sleep 1;
    $fleet->goes_on('... the load goes on');
    cmp_ok $fleet->{httpds}[0]->live_programs_now, '<=', 2, '... with two';
    cmp_ok $fleet->lines(0, qr/ADM0147/), '==', 1, '... the log says so once';
    $fleet->{httpds}[2]->configure($fleet->conf(2));
    $fleet->{httpds}[2]->graceful;
    wait_for { ($fleet->zones)[0]->{FleetLimit} == $AdmissionTest::Fleet::LIMIT } '... until it is edited', 20;
    $fleet->rest;

    # Servers are stopped and started in the middle of syncs, and killed.
    $fleet->{kills_programs} = 1;
    for my $round (1 .. 4) {
        my $httpd = $fleet->{httpds}[1 + $round % 2];
        $fleet->load(5);
        $fleet->goes_on('a server is stopped in mid-sync: there is a load');
        $fleet->{wires}[1 + $round % 2]->becomes('delay 200');
        sleep 0.3;
        $fleet->unload;
        $httpd->stop;
        $fleet->{wires}[1 + $round % 2]->becomes('pass');
        $fleet->load(5, only => [0]);
        $httpd->start;
        $fleet->goes_on('... it is started again, the load goes on', 30);
        $fleet->rest;
    }
    $fleet->stop;
}, 'event+cgid');

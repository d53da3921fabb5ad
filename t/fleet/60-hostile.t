# What an administrator may do to his fleet: a port where something else listens, an
# engine that is locked or full, servers that are stopped in the middle of a sync, and
# limits that differ. Each is told in a line a minute at most, and never more run than
# the limit.

use AdmissionTest;
use AdmissionTest::Fleet;
use Admission::Redis;

use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my @others;    # end with this process

sub redis_as {
    push @others, Admission::Redis->start(@_);
    return $others[-1]{port};
}

# This port is the engine's for a while.
sub is_no_engine {
    my ($fleet, $what, $port, $pattern) = @_;
    my $told = sub { return map { $fleet->lines($_, qr/ADM0141|ADM0152/) } 0 .. 2 };
    my @before = $told->();
    my @errors = map { $_->status->{AdmissionEngineErrors} } @{ $fleet->{httpds} };
    my $began = time;

    $fleet->survives($what, sub {
        $fleet->wires_become("engine $port");
        $fleet->is_lapsed($what);
        is $fleet->{httpds}[0]->get('/cgi-bin/heavy')->{status}, 503, '... a new request is rejected';
        wait_for { 3 == grep { $fleet->{httpds}[$_]->status->{AdmissionEngineErrors} > $errors[$_] + 3 } 0 .. 2 }
            '... which is tried again', 20;
        my @lines = $told->();
        cmp_ok $lines[$_] - $before[$_], '<=', 1 + (time - $began) / 60, '... one line per minute' for 0 .. 2;
        # A minute may have passed since the last one; a reload begins another.
        $fleet->{httpds}[1]->graceful;
        wait_for { $fleet->lines(1, $pattern) > 0 } '... the log says what it is', 20
            or diag grep { /ADM0141|ADM0152/ } map { "$_\n" } $fleet->{httpds}[1]->error_log;
        $fleet->wires_become("engine $fleet->{engine_port}");
    }, clients => 4);
}

for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(lease => 3, hold => 2);
    my $redis = $fleet->{redis};

    is_no_engine($fleet, 'a port without a listener', 1, qr/ADM0141: .*(?:refused|closed|reset)/i);
    is_no_engine($fleet, 'an httpd', $fleet->{httpds}[2]{port}, qr/ADM0141: .*(?:Protocol error|closed|reset)/);
    is_no_engine($fleet, 'a Sentinel', redis_as(options => ['--sentinel'],
                                                 conf => ["sentinel monitor m 127.0.0.1 $redis->{port} 1"]),
                 qr/ADM0141: .*it is a Sentinel/);
    is_no_engine($fleet, 'a node of a Cluster', redis_as(conf => ['cluster-enabled yes']), qr/ADM0141: .*it is a node of a Cluster/);
    is_no_engine($fleet, 'a Redis with a password', redis_as(conf => ['requirepass secret']), qr/ADM0141: .*NOAUTH/);
    is_no_engine($fleet, 'a Redis that is full', redis_as(conf => [ 'maxmemory 1mb', 'maxmemory-policy noeviction' ]),
                 qr/ADM0141: .*OOM/);

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

# AdmissionRecycle: children end one after the other, and none of it shows.

use AdmissionTest;
use List::Util qw(max uniq);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my $CHILDREN = 8;

# As the module counts time.
sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub recycled { return $_[0]->status->{AdmissionChildrenRecycled} }

# Equal children, each replaced when it ends.
sub start_prefork($conf) {
    my $httpd = start_httpd(workers => $CHILDREN, conf => <<"CONF");
MinSpareServers $CHILDREN
$conf
CONF
    wait_for { $httpd->children == $CHILDREN } 'all children are there';
    return $httpd;
}

# Asks for small things, each on a connection of its own, until so many children
# were recycled; looks at the server after each round. @return how many answers
# were not 200.
sub ask_until_recycled($httpd, $enough, $look = undef) {
    my $failed = 0;

    wait_for {
        $failed += grep { $_->{status} != 200 }
                   answers(map { $httpd->ask('/') } 1 .. 8);
        $look->() if $look;
        recycled($httpd) >= $enough;
    } "$enough children are recycled";
    return $failed;
}

# ---- an outsider who counts children ------------------------------------------

sub outsider($httpd) {
    return { httpd => $httpd, seen => {}, most_away => 0, longest => 0, there => '', all_at => now() };
}

sub look($outsider) {
    my $before = now();
    my @there = there($outsider);
    my $there = join ' ', sort @there;
    my $away  = $CHILDREN - @there;

    $outsider->{seen}{$_} = 1 for @there;
    # A child that httpd has not replaced after 5 seconds frees its turn.
    $outsider->{most_away} = max $outsider->{most_away}, $away if $before - $outsider->{all_at} < 5;
    $outsider->{all_at} = $before if !$away;
    # While the very same ones are there, it is the same one who is away: from
    # the end of the first look that misses it to the beginning of the last.
    $outsider->{since} = now() if $there ne $outsider->{there};
    $outsider->{there} = $there;
    $outsider->{longest} = max $outsider->{longest}, $before - $outsider->{since}
        if $away == 1;
    $outsider->{gone} = keys(%{ $outsider->{seen} }) - @there;
}

# At one moment: a child can come and another one leave while the list of all processes is
# read. A child that had ended before that moment is away, though its parent does not know it
# yet; one that ends after it is there. The kernel can leave a child out of its list while
# another one leaves, so the list is read twice.
sub there($outsider) {
    my $httpd = $outsider->{httpd};
    my $list  = "/proc/$httpd->{pid}/task/$httpd->{pid}/children";
    my %is_over = map { $_ => 1 }
                  grep { ((Admission::Httpd::proc_stat($_))[0] // 'Z') eq 'Z' }
                  split ' ', $httpd->slurp($list);
    my %there = map { $_ => 1 } map { split ' ', $httpd->slurp($list) } 1, 2;

    return grep { !$is_over{$_} && !Admission::Httpd::is_agent($_) } keys %there;
}

# ---- prefork --------------------------------------------------------------------

for_each_combo(sub {
    for my $together (1, 2) {
        my $httpd = start_prefork("AdmissionRecycle 10 together=$together");
        my $outsider = outsider($httpd);
        my $begin = now();

        look($outsider);
        is ask_until_recycled($httpd, 4, sub { look($outsider) }), 0,
            'no request fails, and min = max works';
        cmp_ok $outsider->{most_away}, '<=', $together,
            "together=$together: no more than so many are away at once";
        wait_for { look($outsider); recycled($httpd) == $outsider->{gone} }
            'the status counts as many as have ended';
        my $status = $httpd->status;
        cmp_ok $status->{AdmissionChildrenAway}, '<=', $together, '... and the number of absent children is bounded';
        my $longest = $status->{AdmissionChildrenAwayMaxMs};
        cmp_ok $longest, '>=', int(1000 * $outsider->{longest}) - 1,
            '... and the longest absence, which is not shorter than the one seen'
            if $together == 1;
        cmp_ok $longest, '<=', 1000 * (now() - $begin) + 1, '... nor longer than the test';
        $httpd->stop;
    }
}, 'prefork+cgi');

for_each_combo(sub {
    my $httpd = start_prefork("AdmissionRecycle 1\n"
        . location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 2'));
    # Whoever serves these two has something to do until we say so.
    my @line = map { $httpd->ask('/cgi-bin/heavy?until=go') } 1, 2;
    $httpd->zone_becomes('/cgi-bin/', 'one runs and one waits', Active => 1, Queued => 1);
    my $before = recycled($httpd);
    is_deeply statuses(map { answers(map { $httpd->ask('/') } 1 .. 8) } 1 .. 5), { 200 => 40 },
        'every child has served its number';
    is recycled($httpd), $before, '... and stays while a request waits';
    $httpd->serves('go', 'waiting requests get their responses', @line);
    is ask_until_recycled($httpd, $before + 2), 0, 'no request waits any more: children exit';
}, 'prefork+cgi');

# ---- threaded MPMs -----------------------------------------------------------------

for_each_combo(sub {
    my $httpd = start_httpd(workers => 50, conf => 'AdmissionRecycle 10');

    my @first = $httpd->children;
    is ask_until_recycled($httpd, 2), 0, 'no request fails, and min = max works';
    # A listener looks at its number when the next connection comes.
    wait_for {
        answers(map { $httpd->ask('/') } 1 .. 8);
        my %is = map { $_ => 1 } $httpd->children;
        grep { !$is{$_} } @first;
    } '... and a child ends';
}, 'worker+cgid', 'event+cgid');

for_each_combo(sub {
    my ($least, $most, $children) = (1000, 2000, 8);
    my $httpd = start_httpd(workers => 16, conf => <<"CONF");
LogLevel admission:debug
ThreadsPerChild 2
MaxRequestWorkers 16
StartServers $children
MinSpareThreads 2
MaxSpareThreads 16
AdmissionRecycle $least-$most together=2
CONF
    my @quotas;
    $httpd->expect_in_log(qr/AdmissionRecycle: together=2 has no effect/);
    wait_for {
        @quotas = map { /this child ends after (\d+) connections/ } $httpd->error_log;
        @quotas == $children;
    } 'every child has a number';
    is scalar(grep { $_ < $least || $_ > $most } @quotas), 0, '... within the range';
    # Of one sequence that all children draw from: t/unit/test_recycle.c has how it is spread.
    is scalar(uniq @quotas), $children, '... and each another one' or diag "@quotas";
}, 'worker+cgid', 'event+cgid');

# ---- MaxConnectionsPerChild ------------------------------------------------------------

for_each_combo(sub {
    for ([ 0 ], [ 1, 'MaxConnectionsPerChild 2' ], [ 1, 'MaxConnectionsPerChild 2', 'AdmissionRecycle off' ],
         [ 0, 'MaxConnectionsPerChild 2', 'AdmissionRecycle 1000' ]) {
        my ($ends, @conf) = @$_;
        my $httpd = start_prefork(join "\n", @conf);
        my $before = join ' ', sort $httpd->children;
        my $as_before = sub { return $before eq join ' ', sort $httpd->children };

        answers(map { $httpd->ask('/') } 1 .. 8) for 1 .. 10;
        $ends ? wait_for { !$as_before->() } "'@conf': children end" : ok $as_before->(), "'@conf': no child ends";
        is recycled($httpd), 0, '... and none by AdmissionRecycle';
        $httpd->stop;
    }
}, 'prefork+cgi');

# Permits go by priority while requests wait, and a request can take several.

use AdmissionTest;

my $zone = '/cgi-bin/';

sub class { my ($class) = @_; return headers => ["X-Class: $class"] }

# Asks in this order, and waits until each stands in the queue.
sub wait_in_order {
    my ($httpd, @classes) = @_;
    my @clients;

    for my $n (0 .. $#classes) {
        push @clients, $httpd->ask("/cgi-bin/heavy?id=$classes[$n]-$n&ms=5", class($classes[$n]));
        $httpd->zone_becomes($zone, 'number ' . ($n + 1) . ' waits', Queued => $n + 1);
    }
    return @clients;
}

sub priorities {
    my ($httpd) = @_;
    my @clients = $httpd->ask('/cgi-bin/heavy?id=first&until=go');

    $httpd->zone_becomes($zone, 'one runs', Active => 1);
    push @clients, wait_in_order($httpd, qw(low low normal high high));
    $httpd->serves('go', 'all requests get their response', @clients);
    is_in_order $httpd, $zone, [ map { /^start (\S+)/ ? $1 : () } $httpd->record ],
        [qw(first high-3 normal-2 low-0 high-4 low-1)], 'most permits go to the highest priority, some to the lower ones';
}

sub costs {
    my ($httpd) = @_;
    my $dear = '/cgi-bin/dear/';
    my @clients = map { $httpd->ask("${dear}heavy?until=dear") } 1, 2;

    $httpd->zone_becomes($dear, 'requests use two of four permits', Active => 2, Queued => 0);
    push @clients, $httpd->ask("${dear}heavy?until=dear", class('dear'));
    $httpd->zone_becomes($dear, 'a request that costs three permits waits', Queued => 1);
    push @clients, $httpd->ask("${dear}heavy?until=dear");
    $httpd->zone_becomes($dear, '... and a request that costs one waits behind it', Active => 2, Queued => 2);
    $httpd->serves('dear', 'all requests get their response', @clients);

    @clients = $httpd->ask("${dear}heavy?until=alone", class('all'));
    $httpd->zone_becomes($dear, 'a request that costs more than the limit takes all permits', Active => 4);
    $httpd->serves('alone', '... and gets its response', $clients[0]);
}

for_each_combo(sub {
    my $httpd = start_httpd(workers => 40, conf => join '',
        location('/cgi-bin/', 'MaxConcurrent 1', q(AdmissionPriority high "%{HTTP:X-Class} == 'high'"),
            q(AdmissionPriority low  "%{HTTP:X-Class} == 'low'")),
        location('/cgi-bin/dear/', 'MaxConcurrent 4', q(AdmissionCost 3 "%{HTTP:X-Class} == 'dear'"),
            q(AdmissionCost 99 "%{HTTP:X-Class} == 'all'")));
    $httpd->expect_in_log(qr/ADM0118: .*AdmissionCost 99 exceeds MaxConcurrent 4/);
    unlike $httpd->slurp('stderr.log'), qr/ADM0118/,
        'httpd reads the configuration twice and warns once';
    $httpd->allow_in_log(qr/ADM0105/);    # its default queue where nobody is parked

    priorities($httpd);
    costs($httpd);
});

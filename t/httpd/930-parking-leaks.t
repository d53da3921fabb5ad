# Thousands of parked requests, of which some are answered, some give up, some
# are rejected: no descriptor and no memory stays behind. ADMISSION_SLOW=1 runs
# five times as many.

use AdmissionTest;

my $zone   = '/cgi-bin/';
my $line   = 100;
my $rounds = $ENV{ADMISSION_SLOW} ? 100 : 20;
my $warm   = 5;     # rounds until httpd has the pools that it will keep
my $growth = 1024;  # KB that may be lost to chance, not to 1,000 requests

for_each_parking_combo(sub {
    my $httpd = new_parking_httpd();
    mkdir "$httpd->{dir}/docs/counted";
    $httpd->put('counted/file.txt', "file\n");
    # The file is what waits, so that thousands of answers cost little.
    $httpd->configure(parking_conf()
        . section('LocationMatch ^/(?:cgi-bin|counted)/', 'MaxConcurrent 1', 'AdmissionZone /cgi-bin/',
                  'AdmissionQueue 200', 'AdmissionHandlers all'));
    $httpd->start;
    my ($child) = $httpd->children;
    my $settled = sub {
        $httpd->soon(sub {
            my $zone = $httpd->zone($zone);
            !$zone->{Active} && !$zone->{Queued};
        }) or die "the zone does not come to rest\n";
        return descriptors($child);
    };

    # Of each hundred: ten leave, ten leave with more asked for, ten pipeline
    # three requests, the others ask once and wait.
    my ($left, %answered) = 0;
    my $round = sub {
        my ($number) = @_;
        my $hold = $httpd->ask("/cgi-bin/heavy?until=go$number");
        $httpd->soon(sub { $httpd->zone($zone)->{Active} == 1 }) or die "nobody runs\n";
        my @clients = map { $httpd->ask('/counted/file.txt', keep => 1) } 1 .. $line;
        $httpd->soon(sub { $httpd->status->{AdmissionParked} == $line })
            or die "round $number: not all are parked\n";
        my @pipelines = @clients[ 20 .. 29 ];
        for my $client (@clients[ 10 .. 29 ], @pipelines) {
            $client->ask('/counted/file.txt', keep => 1);
        }
        $_->leave for @clients[ 0 .. 4, 10 .. 14 ];
        $_->abort for @clients[ 5 .. 9, 15 .. 19 ];
        $left += 20;
        $httpd->soon(sub { $httpd->status->{AdmissionParked} == $line - 20 })
            or die "round $number: not all leave\n";
        $httpd->open_gate("go$number");
        my @answers = (answers($hold, @clients[ 20 .. $#clients ]),
                       answers(@pipelines), answers(@pipelines));
        $answered{ $_->{status} }++ for @answers;
        $_->leave for @clients[ 20 .. $#clients ];
    };

    $round->($_) for 1 .. $warm;
    $settled->();
    # Connections may take a moment to be closed on this side, too.
    wait_for { descriptors($child) == $settled->() } 'the child is warm';
    my $memory = $httpd->resident_kb($child);
    my $files  = descriptors($child);

    $round->($_) for $warm + 1 .. $warm + $rounds;
    wait_for { $settled->() <= $files } 'no descriptor is left open'
        or diag descriptors($child) . " are open, were $files";
  SKIP: {
        skip 'a sanitizer keeps what is freed', 1 if $ENV{ADMISSION_SANITIZER};
        cmp_ok $httpd->resident_kb($child) - $memory, '<', $growth,
            "after $rounds x $line parked requests no memory is lost";
    }
    note "$memory KB, then " . $httpd->resident_kb($child) . " KB; $files descriptors";

    # The programs, those who waited once, and the rest of the pipelines.
    is_deeply \%answered, { 200 => ($warm + $rounds) * (1 + $line - 20 + 20) },
        'every request got a response';
    is $left, ($warm + $rounds) * 20, '... or had left';
    $httpd->zone_becomes($zone, '... and is counted so', Active => 0, Queued => 0,
                         Gone => $left, Admitted => $answered{200});
    is scalar(grep { $_ == $child } $httpd->children), 1, 'all by one child';
});

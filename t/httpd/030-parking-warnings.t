# At start httpd says whether requests can wait without a worker, and warns of a
# queue that is longer than what all children, also those to come, can park.

use AdmissionTest;

my ($threads, $children, $factor, $reserve, $limit) = (10, 2, 6, 5, 2);
# A worker stands for 1 + $factor connections: those of the reserve and those that
# run cannot be used; nor those of one idle worker a child, at which event begins
# to accept again.
my $fits = ($threads * $children - $reserve - $limit) * (1 + $factor) - $children * $factor;

sub zone_with { my ($name, $queue) = @_; return location("/$name", 'MaxConcurrent 2', "AdmissionQueue $queue") }

# The lines of the module's start-up, without date and process.
sub said_by {
    my ($httpd) = @_;
    return map { /\[admission:(\w+)\].*?(ADM03\d\d: .*)/ ? "$1 $2" : () } $httpd->error_log;
}

my $parks  = qr/^info ADM0303: .*parked.*no worker/;
my $blocks = qr/^info ADM0303: .*hold a worker/;

for_each_parking_combo(sub {
    my $small = sub {
        my ($conf) = @_;
        return new_parking_httpd(threads => $threads, factor => $factor,
                                 children => $children, conf => $conf);
    };
    # A stock server starts two children, and more when these accept no more.
    my $stock = sub {
        my ($conf, $files) = @_;
        my $httpd = new_httpd(workers => 150, conf => stock_conf() . $conf);
        return $files ? $httpd->behind("ulimit -n $files && exec") : $httpd;
    };
    my $too_long = $fits + 1;

    # What is started, all that it says of parking, and other warnings.
    for (
        [ 'without a zone', $small->(''), [] ],
        [ 'queues that fit', $small->(zone_with('a', $fits) . zone_with('b', 20)
            . location('/dry', 'AdmissionDryRun On', 'MaxConcurrent 2', 'AdmissionQueue 5000')), [$parks] ],
        [ 'a queue that does not fit', $small->(zone_with('a', 40) . zone_with('b', $too_long)),
            [ $parks, qr{^warn ADM0302: .*test\.example:/b .*AdmissionQueue $too_long\b.*capacity of $fits\b.*\b$children children\b.*AsyncRequestWorkerFactor} ] ],
        [ 'too few files to park a single request',
            $stock->("AsyncRequestWorkerFactor 60\n" . zone_with('a', 300), 256), [$blocks],
            qr/ADM0105: .*raise the limit of open files, so that they are parked/ ],
        [ 'children that are not there at start', $stock->("AsyncRequestWorkerFactor 2\n" . zone_with('a', 300)), [$parks] ],
        # Where nobody says the factor, one is chosen: 2 for others, and for 300 of 12
        # times 25 threads twice that; or what the open files allow.
        (map {
            my ($files, $chosen) = @$_;
            [ "no factor, $files files", $stock->(zone_with('a', 300), $files),
                [ $parks, qr/^notice ADM0306: .*Factor .*\busing $chosen instead of httpd's default of 2\b/ ] ]
        } [ 8192, 26 ], [ 1024, 21 ]),
        [ 'no factor, and Off', $stock->("AdmissionParking Off\n" . zone_with('a', 4)), [$blocks] ],
    ) {
        my ($what, $httpd, $lines, @warnings) = @$_;
        $httpd->expect_in_log(@warnings)->allow_in_log(qr/ADM0302/)->start;
        lines_are([ said_by($httpd) ], $lines, $what);
        $httpd->stop;
    }
});

# Nothing is kept for other requests where a child has fewer than 4 threads that are not reserved;
# it has one at least that is.
for_each_parking_combo(sub {
    for ([ 4, 4, 0, 0 ], [ 5, 4, 0, 1 ], [ 5, 4, 4, 1 ], [ 5, 4, 5, 0 ], [ 8, 2, 8, 1 ], [ 8, 2, 9, 0 ]) {
        my ($threads, $children, $reserve, $is_kept) = @$_;
        my $all = ($threads * $children) * (1 + $factor);
        my $kept = $all - $reserve * (1 + $factor) - $children * $factor;
        my (undef, $dump) = new_parking_httpd(threads => $threads, children => $children, factor => $factor,
            conf => "AdmissionReserve $reserve\n" . zone_with('a', 4))->configtest('-D', 'DUMP_ADMISSION');
        my ($room) = $dump =~ /parking capacity: .*?(\d+) in $children at most/;
        is $room, $is_kept ? $kept : $all, "$children children of $threads threads, $reserve reserved" or diag $dump;
    }
});

for_each_combo(sub {
    my $httpd = start_httpd(conf => zone_with('a', 4));
    my @said = said_by($httpd);
    unlike "@said", qr/parked|warn/, 'other MPMs do not say that they park';
}, 'prefork+cgi', 'worker+cgid');

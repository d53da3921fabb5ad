# At start httpd says whether requests can wait without a worker, and warns of a
# queue that is longer than what all children, also those to come, can park.

use AdmissionTest;
use AdmissionTest::Parking;

my ($threads, $children, $factor, $reserve, $limit) = (10, 2, 6, 5, 2);
# A worker stands for 1 + $factor connections: those of the reserve and those that
# run cannot be used; nor those of one idle worker a child, at which event begins
# to accept again.
my $fits = ($threads * $children - $reserve - $limit) * (1 + $factor) - $children * $factor;

sub zone_with { return "<Location /$_[0]>\nMaxConcurrent 2\nAdmissionQueue $_[1]\n</Location>\n" }

# The lines of the module's start-up, without date and process.
sub said_by {
    my ($httpd) = @_;
    return map { /\[admission:(\w+)\].*?(ADM03\d\d: .*)/ ? "$1 $2" : () } $httpd->error_log;
}

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $start = sub {
        my ($conf) = @_;
        return new_parking_httpd(combo => $combo, threads => $threads, factor => $factor,
                                 children => $children, conf => $conf);
    };

    my $httpd = $start->(zone_with('a', $fits) . zone_with('b', 20)
        . "<Location /dry>\nAdmissionDryRun On\nMaxConcurrent 2\n"
        . "AdmissionQueue 5000\n</Location>\n")->start;
    my @said = said_by($httpd);
    is scalar(@said), 1, 'queues that fit: one line in the log' or diag @said;
    like $said[0], qr/^info ADM0303: .*parked.*no worker/, '... which says that they park';
    $httpd->stop;

    my $too_long = $fits + 1;
    $httpd = $start->(zone_with('a', 40) . zone_with('b', $too_long));
    $httpd->expect_in_log(qr/admission:warn.*ADM0302/)->start;
    @said = said_by($httpd);
    is scalar(grep { /^warn ADM0302/ } @said), 1, 'a queue that does not fit: one warning';
    my ($warning) = grep { /ADM0302/ } @said;
    like $warning // '', $_, "... that says $_"
        for qr{test\.example:/b\b}, qr/AdmissionQueue $too_long\b/, qr/capacity of $fits\b/,
            qr/\b$children children\b/, qr/AsyncRequestWorkerFactor/;
    $httpd->stop;

    # Too few open files for a single request to be parked.
    $httpd = new_httpd(combo => $combo, workers => 150, conf => stock_conf()
        . "AsyncRequestWorkerFactor 60\n" . zone_with('a', 300))->behind('ulimit -n 256 && exec');
    $httpd->expect_in_log(qr/ADM0105: .*raise the limit of open files, so that they are parked/)->start;
    like join("\n", said_by($httpd)), qr/ADM0303: waiting requests hold a worker/, 'no files, no parking';
    $httpd->stop;

    # A stock server starts two children and more when these accept no more.
    $httpd = new_httpd(combo => $combo, workers => 150, conf => stock_conf()
        . "AsyncRequestWorkerFactor 2\n" . zone_with('a', 300))->start;
    @said = said_by($httpd);
    is scalar(@said), 1, 'children that are not there at start count as well' or diag @said;
    $httpd->stop;

    # Where nobody says the factor, one is chosen: 2 for others, and for 300 of 12
    # times 25 threads twice that; or what the open files allow.
    for ([ 8192, 26 ], [ 1024, 21 ]) {
        my ($files, $chosen) = @$_;
        $httpd = new_httpd(combo => $combo, workers => 150,
                           conf => stock_conf() . zone_with('a', 300))->behind("ulimit -n $files && exec")->start;
        @said = grep { !/ADM0303/ } said_by($httpd);
        is scalar(@said), 1, "no factor, $files files: one line" or diag @said;
        like $said[0] // '', qr/^notice ADM0306: .*Factor .*\busing $chosen instead of httpd's default of 2\b/,
            '... that says which one is taken';
        $httpd->stop;
    }

    $httpd = new_httpd(combo => $combo, workers => 150, conf => stock_conf()
        . "AdmissionParking Off\n" . zone_with('a', 4))->start;
    is scalar(grep { /ADM0306/ } said_by($httpd)), 0, 'no factor is chosen for blocking requests';
    $httpd->stop;

    $httpd = $start->("AdmissionParking Off\n" . zone_with('a', 4))->start;
    @said = said_by($httpd);
    like "@said", qr/^info ADM0303: .*hold a worker/, 'AdmissionParking Off: they hold one';
    $httpd->stop;

    $httpd = $start->("AdmissionParking Off\n" . zone_with('a', 40));
    $httpd->expect_in_log(qr/admission:warn.*AdmissionQueue 40\b.*worker/)->start;
    is scalar(grep { /ADM0302/ } said_by($httpd)), 0, 'then it is the workers that are too few';
    $httpd->stop;

    $httpd = $start->('')->start;
    is_deeply [ said_by($httpd) ], [], 'without a zone there is nothing to say';
    $httpd->stop;
});

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => zone_with('a', 4));
    my @said = said_by($httpd);
    unlike "@said", qr/parked|warn/, 'other MPMs do not say that they park';
    $httpd->stop;
}, 'prefork+cgi', 'worker+cgid');

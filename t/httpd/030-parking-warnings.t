# At start httpd says whether requests can wait without a worker, and warns when
# the lines are longer than what the children park.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use AdmissionTest::Parking;

my ($threads, $children, $room) = (10, 2, 30);

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
        return new_parking_httpd(combo => $combo, threads => $threads, room => $room,
                                 children => $children, conf => $conf);
    };

    my $httpd = $start->(zone_with('a', 40) . zone_with('b', 20))->start;
    my @said = said_by($httpd);
    is scalar(@said), 1, 'lines that fit: one line in the log' or diag @said;
    like $said[0], qr/^info ADM0303: .*parked.*no worker/, '... which says that they park';
    $httpd->stop;

    $httpd = $start->(zone_with('a', 40) . zone_with('b', 21));
    $httpd->expect_in_log(qr/admission:warn.*ADM0302/)->start;
    @said = said_by($httpd);
    is scalar(grep { /^warn ADM0302/ } @said), 1, 'lines that do not fit: one warning';
    my ($warning) = grep { /ADM0302/ } @said;
    like $warning // '', $_, "... that says $_"
        for qr/\b61\b/, qr/\b60\b/, qr/\b30 a child\b/, qr/AsyncRequestWorkerFactor/,
            qr/open files/, qr/AdmissionQueue/;
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

done_testing;

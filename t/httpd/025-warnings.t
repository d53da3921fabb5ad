# Settings that cannot work are warned about at start; the server comes up.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my @cases = (
        [ 'limit above MaxRequestWorkers', 21, 0,
          qr/admission:warn.*\b21\b.*MaxRequestWorkers.*\b20\b/i ],
        [ 'limit and queue above the workers', 4, 50,
          qr/admission:warn.*(?:\b54\b|\b50\b).*worker/i ],
    );
    for (@cases) {
        my ($what, $limit, $queue, $warning) = @$_;
        my $httpd = start_httpd(combo => $combo, workers => 20,
                                conf => <<"CONF");
AdmissionParking Off
<Location /cgi-bin/>
    MaxConcurrent $limit
    AdmissionQueue $queue
</Location>
CONF
        is $httpd->get('/cgi-bin/heavy')->{status}, 200, "$what: requests run";
        $httpd->expect_in_log($warning, qr/test\.example:\/cgi-bin\//);
        $httpd->stop;
    }
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 1
</Location>
CONF
    my @lines = grep { /admission:warn.*mod_cgi\b/ } $httpd->error_log;
    my $is_threaded = $combo->{mpm} ne 'prefork';
    is scalar @lines, $combo->{cgi} eq 'cgi' && $is_threaded ? 1 : 0,
        'a warning about mod_cgi under a threaded MPM, and only there';
    $httpd->stop;
});

# The directive that comes last counts: what "off" has ended is not warned of.
for_each_combo(sub {
    my ($combo) = @_;

    for my $off ('', "AdmissionRecycle off\n") {
        my $httpd = start_httpd(combo => $combo, conf => "AdmissionRecycle 5 together=2\n$off");
        my @lines = grep { /ADM0401/ } $httpd->error_log;
        is scalar @lines, $off ? 0 : 1, 'together= without an effect' . ($off && ', and off');
        $httpd->expect_in_log(qr/admission:warn.*AdmissionRecycle: together=2/) if !$off;
        $httpd->stop;
    }
}, 'event+cgid');

done_testing;

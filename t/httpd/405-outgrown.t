# Room in the shared memory is set aside at start, generously. A reload that needs
# more than that says so.

use AdmissionTest;

my $zones = 700;    # of 228 tickets each

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => location('/cgi-bin/', 'MaxConcurrent 1'));
    $httpd->allow_in_log(qr/ADM010[345]|ADM0302/);
    $httpd->configure(join '', map {
        location("/zone$_", 'MaxConcurrent 100', 'AdmissionQueue 0') } 1 .. $zones);
    $httpd->expect_in_log(qr/admission:warn.*ADM0110: the zones can use \d+ tickets/);
    $httpd->graceful;
}, 'event+cgid');

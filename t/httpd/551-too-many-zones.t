# More zones than are possible: configtest and a start log one line each, which names the
# first zone that has no limit and how many there are.

use AdmissionTest;

my ($combo) = combos('event+cgid') or plan skip_all => 'no event';
my $sections = sub {
    return join '', "AdmissionHandlers all\n", map { location("/zone/$_", 'MaxConcurrent 1') } 1 .. $_[0];
};

my $httpd = new_httpd(combo => $combo);
$httpd->configure($sections->(65_536));
my ($rv, $output) = $httpd->configtest;
is $rv, 0, '65,536 zones are possible';
unlike $output, qr/ADM0008/, '... without a warning';

$httpd->configure($sections->(65_540));
($rv, $output) = $httpd->configtest;
is $rv, 0, 'more are no error';
is scalar(() = $output =~ /ADM0008/g), 1, '... but a warning, once';
like $output, qr{65540 zones exceed the maximum of 65536: zone test\.example:/zone/65537 \(.*admission\.conf:\d+\) and all after it, 4 in total, have no limit},
    '... which names the first without a limit';

# The start alone: a page that shows all zones takes minutes.
$httpd->expect_in_log(qr/ADM0008/);
$httpd->launch;
wait_for { grep { /AH00489/ } $httpd->error_log } 'httpd starts';
is scalar(grep { /ADM0008/ } $httpd->error_log), 1, 'the start logs it once';
is scalar(grep { /ADM0102/ } $httpd->error_log), 0, '... and none for each zone';
$httpd->stop;

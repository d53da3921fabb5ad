# A reload that puts this module in the place of version 0.1, whose layout of
# shared memory is another one, says so once, and works.
#
# Environment: ADMISSION_BEFORE, the mod_admission.so of 0.1. Without it a module
# takes its place that leaves in the parent what 0.1 left.

use AdmissionTest;
use Admission::Program qw(build_module);

my $module = Admission::Config::admission_module();
my $before = $ENV{ADMISSION_BEFORE} // build_module('mod_answers');
my $name = $ENV{ADMISSION_BEFORE} ? 'admission_module' : 'before_module';
my $zone = location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5');

plan skip_all => "$before is not there" if !-e $before;

for_each_combo(sub {
    my $httpd = start_httpd(admission => 0,
        conf => qq(LoadModule $name "$before"\n<IfModule $name>\n)
                . ($ENV{ADMISSION_BEFORE} ? $zone : '') . "</IfModule>\n");
    my $is_told = sub { scalar grep { /ADM0125: module replaced/ } $httpd->error_log };

    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'the module of before is at work';
    is $is_told->(), 0, 'and is no news';

    $httpd->expect_in_log(qr/admission:warn.*ADM0125: module replaced/);
    $httpd->graceful(qq(LoadModule admission_module "$module"\n$zone));
    is $is_told->(), 1, 'another layout is told';
    $httpd->serves('go', 'both requests are served', $httpd->fill('/cgi-bin/', 'go', 1, 1));

    $httpd->graceful;
    is $is_told->(), 1, 'and once';
}, 'prefork+cgi', 'event+cgid');

# A process that can become root takes no lock in memory that others write: it runs
# requests without a limit, and says so. mpm-itk's processes drop what they can
# before they serve a request, so there the limit holds.

use AdmissionTest;
use File::Copy ();
use File::Temp ();

# httpd itself is another user here, who need not reach the directory of the build.
my $readable = File::Temp->newdir(TMPDIR => 1);
chmod 0755, "$readable";
File::Copy::copy(Admission::Config::admission_module(), "$readable/mod_admission.so")
    or die "mod_admission.so: $!\n";
chmod 0644, "$readable/mod_admission.so";
$ENV{ADMISSION_MODULE} = "$readable/mod_admission.so";

my $zone = location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 10');

# A server whose children keep these capabilities, although they are not root.
sub with_capabilities {
    my ($capabilities) = @_;
    my ($user) = Admission::Config::user();
    my $httpd = new_httpd(conf => $zone);
    my $setpriv = "setpriv --reuid $user --regid $user --clear-groups"
                  . " --inh-caps $capabilities --ambient-caps $capabilities";

    $httpd->behind("exec $setpriv");
    system('chown', '-R', $user, $httpd->{dir}) == 0 or die "chown failed\n";
    return $httpd;
}

# Six clients at once: so many of them run.
sub runs_at_once {
    my ($httpd, $count, $what) = @_;
    my @asked = map { $httpd->ask("/cgi-bin/heavy?id=all$_&until=go") } 1 .. 6;

    $httpd->zone_becomes('/cgi-bin/', 'the others wait', Active => $count, Queued => 6 - $count)
        if $count < 6;
    wait_for { $count == $httpd->live_programs_now } $what, 20;
    $httpd->serves('go', 'all are answered', @asked);
}

for_each_combo(sub {
    plan skip_all => 'no capabilities can be given here'
        if $> || system('setpriv --reuid nobody --inh-caps +setuid --ambient-caps +setuid true');
    my $httpd = with_capabilities('+setuid');
    $httpd->expect_in_log(qr/admission:error.*ADM0116: /,
                          qr/admission:error.*ADM0203: .*can become another user/);
    $httpd->start;
    runs_at_once($httpd, 6, 'children with CAP_SETUID know no limit');
    is $httpd->logged('all1')->{status}, 'unlimited', 'the access log reports it';
    is scalar($httpd->lines_of('ADM0116')), 1, 'and the error log once, not once a child';
    $httpd->stop;

    # As a server that listens on port 80 and was not started by root.
    $httpd = with_capabilities('+net_bind_service');
    $httpd->start;
    runs_at_once($httpd, 2, 'with CAP_NET_BIND_SERVICE the limit holds');
}, 'prefork+cgi', 'event+cgi');

# ---- mpm-itk -----------------------------------------------------------------

for_each_combo(sub {
    my ($file) = grep { defined && -e } $ENV{MPM_ITK}, map { "$_/mpm_itk.so" }
        Admission::Config::modules_dir(), ($ENV{ADMISSION_DEPS} // '') . '/usr/lib/apache2/modules';
    plan skip_all => 'no mpm-itk: see docs/dev/hacking.md' if !$file;
    plan skip_all => 'mpm-itk needs root' if $> != 0;
    plan skip_all => "$file lacks a library" if `ldd '$file'` =~ /not found/;

    my $itk = qq(LoadModule mpm_itk_module "$file"\nAssignUserID nobody nogroup\n);
    my $httpd = new_httpd(conf => $itk . $zone);
    chmod 0777, "$httpd->{dir}/run";
    $httpd->start;
    is scalar($httpd->lines_of('ADM0116')), 0, 'children that still are root are no news';
    runs_at_once($httpd, 2, 'with mpm-itk the limit holds');
    is scalar($httpd->lines_of('ADM0203')), 0, 'no request ran without a limit';
}, 'prefork+cgi');

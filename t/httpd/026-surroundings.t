# What the server does besides can weaken a limit: where the module can know, it
# warns at start.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use AdmissionTest::Config;

my $zone = "<Location /cgi-bin/>\nMaxConcurrent 2\nAdmissionQueue 10\n</Location>\n";

# Starts a server with these warnings and no other one.
sub warns {
    my ($what, $combo, $warnings, %options) = @_;
    my $httpd = new_httpd(combo => $combo, %options);

    $httpd->expect_in_log(@$warnings)->start;
    is scalar(grep { /ADM011[3-9]/ } $httpd->error_log), scalar(@$warnings),
        "$what: " . (@$warnings ? 'one warning' : 'no warning');
    $httpd->stop;
}

# ---- suEXEC ------------------------------------------------------------------

my $has_suexec = AdmissionTest::Config::is_installed('suexec')
    && `@{[ AdmissionTest::Config::httpd() ]} -V` =~ /SUEXEC_BIN="(.*?)"/ && -u $1;

for_each_combo(sub {
    my ($combo) = @_;

    plan skip_all => 'suexec is not installed, or not set-uid root' if !$has_suexec;
    my @with = (modules => ['suexec']);
    my $user = qq(SuexecUserGroup "#65534" "#65534"\n);
    my $host = <<"CONF";
<IfModule mime_module>
    <VirtualHost 192.0.2.1:80>
        ServerName other.example
        $user
    </VirtualHost>
</IfModule>
CONF
    my @warning = $combo->{cgi} eq 'cgid'
        ? qr/admission:warn.*ADM0113: SuexecUserGroup .* mod_cgid/ : ();

    warns('suEXEC', $combo, \@warning, @with, conf => $zone . $user);
    warns('suEXEC in a virtual host', $combo, \@warning, @with, conf => $zone . $host);
    warns('suEXEC that nobody uses', $combo, [], @with, conf => $zone);
    warns('suEXEC without a zone', $combo, [], @with, conf => $user);
}, 'event+cgid', 'prefork+cgi');

# ---- HTTP/2 ------------------------------------------------------------------

for_each_combo(sub {
    my ($combo) = @_;

    plan skip_all => 'mod_http2 is not installed'
        if !AdmissionTest::Config::is_installed('http2');
    # Of 16 threads of mod_http2 the reserve takes 4.
    my @fits = (conf => "H2MaxWorkers 16\n$zone");
    my @short = (conf => "H2MaxWorkers 15\n$zone");

    warns('a queue that fits', $combo, [], http2 => 1, @fits);
    warns('a queue that does not', $combo,
          [ qr/admission:warn.*ADM0115: zone test\.example:\/cgi-bin\/ .*\b12\b.*\b11\b.*H2MaxWorkers/ ],
          http2 => 1, @short);
    warns('mod_http2 without its protocol', $combo, [],
          modules => ['http2'], conf => $short[1]);
}, 'event+cgid', 'worker+cgid');

# ---- /proc -------------------------------------------------------------------

# The same httpd, with nothing in /proc.
sub without_proc {
    my $unshare = "unshare -m sh -c 'mount -t tmpfs tmpfs /proc && exec \"\$\@\"' sh";

    system("$unshare true >/dev/null 2>&1") == 0 or return;
    return "#!/bin/sh\nexec $unshare " . AdmissionTest::Config::httpd() . ' "$@"' . "\n";
}

for_each_combo(sub {
    my ($combo) = @_;
    my $script = without_proc()
        or plan skip_all => 'no file system can be mounted here';
    my @warning = $combo->{cgi} eq 'cgid'
        ? qr{admission:warn.*ADM0114: /proc/\d+/task/\d+/children cannot be read} : ();
    my $httpd = new_httpd(combo => $combo, conf => $zone);

    $httpd->put('../httpd', $script);
    chmod 0755, "$httpd->{dir}/httpd";
    local $ENV{HTTPD} = "$httpd->{dir}/httpd";
    $httpd->expect_in_log(@warning)->start;
    is scalar(grep { /ADM0114/ } $httpd->error_log), scalar(@warning),
        'empty /proc: one warning, of all children' if @warning;
    $httpd->stop;
}, 'event+cgid', 'prefork+cgi');

done_testing;

# What AdmissionEngine and "AdmissionZone name fleet" refuse, and that no output shows a
# password.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

use Cwd ();
use File::Basename 'dirname';

my $module = dirname(Cwd::abs_path($ENV{ADMISSION_MODULE})) . '/mod_admission_redis.so';
my ($combo) = combos() or plan skip_all => 'no combination';
my $httpd = AdmissionTest::Httpd->new(combo => $combo, workers => 200);
my $zone = "<Location /x>\nMaxConcurrent 4\nAdmissionZone db fleet\n</Location>\n";

sub test_of {
    my ($conf, @options) = @_;
    $httpd->configure($conf);
    return $httpd->configtest(@options);
}

sub refused {
    my ($conf, $what, @patterns) = @_;
    my ($status, $output) = test_of($conf);

    isnt $status, 0, "refused: $what";
    like $output, $_, '... with what is wrong' for @patterns;
}

refused($zone, 'fleet without an engine', qr/ADM0007/, qr/AdmissionEngine/);
refused("AdmissionEngine redis://127.0.0.1/\n$zone", 'an engine without its module',
        qr{AdmissionEngine: 'redis://127.0.0.1/'}, qr/mod_admission_redis/);

SKIP: {
    skip 'no mod_admission_redis: it was built without hiredis', 1 if !-e $module;
    my $load = "LoadModule admission_redis_module $module\n";
    my %bad = (
        'rediss://127.0.0.1/'          => qr/TLS, which is not supported; a tunnel .* stunnel/,
        'redis://127.0.0.1 tls=ca.pem' => qr/'tls=ca.pem': TLS is not supported; a tunnel/,
        'redis://127.0.0.1 sentinel=m' => qr/'sentinel=m': Sentinel is not supported; the URL has to lead to the master/,
        'redis://127.0.0.1 10.0.0.1:1' => qr/'10.0.0.1:1' is not user=name/,
        'redis://me:secret@127.0.0.1/' => qr/password-file=path/,
        'redis://'                     => qr/'redis:\/\/' is not/,
        'redis://127.0.0.1/many'       => qr/database/,
        'redis://127.0.0.1/?a=b'       => qr/is not redis:/,
        'unix:relative'                => qr{unix:/path},
        'redis://no.such.name.invalid' => qr/'no.such.name.invalid' is not found/,
        'redis://127.0.0.1 timeout=1h' => qr/'timeout=1h' is not .*from 10ms to 5s/,
        'redis://127.0.0.1 user=me'    => qr/password-file=/,
        'redis://127.0.0.1 password=x' => qr/'password=x' is not/,
        'redis://127.0.0.1 password-file=docs/none' => qr/none cannot be read: No such file/,
        'redis://127.0.0.1 password-file=docs/open' => qr/may be read by everybody/,
        'redis://127.0.0.1 password-file=docs/empty' => qr/has no password/,
    );

    $httpd->put('open', "secret\n");
    $httpd->put('empty', "\n");
    $httpd->put('password', "secret\n");
    chmod 0600, map { "$httpd->{dir}/docs/$_" } qw(empty password);
    chmod 0644, "$httpd->{dir}/docs/open";
    refused("${load}AdmissionEngine $_\n", $_, qr/AdmissionEngine: /, $bad{$_})
        for sort keys %bad;

    my ($status, $output) = test_of(
        "${load}AdmissionEngine redis://127.0.0.1:1/3 user=me password-file=docs/password"
        . " timeout=100ms\n$zone", '-D', 'DUMP_ADMISSION');
    is $status, 0, 'a whole engine is accepted' or diag $output;
    like $output, qr/^\s*db limit 4 .* fleet\b/m, '... and the zone is shown as shared';
    unlike $output, qr/secret/, '... without the password';
}

done_testing;

# What AdmissionEngine and "AdmissionZone name fleet" refuse, and that no output shows a
# password.

use AdmissionTest;
use AdmissionTest::Fleet;

my $module = Admission::Config::engine_module();
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
        'redis://127.0.0.1 ' . ' 127.0.0.1' x 16 => qr/'127.0.0.1' is one host too many: the maximum is 16/,
        'redis://127.0.0.1 10.0.0.1:0' => qr/'10.0.0.1:0' is not host\[:port\]/,
        'redis://127.0.0.1 no.such.name.invalid' => qr/'no.such.name.invalid' is not found/,
        'redis://127.0.0.1 sentinel='  => qr/'sentinel=' is not host\[:port\], sentinel=name, user=name/,
        'redis://127.0.0.1 127.0.0.2'  => qr/several hosts are Sentinels and need sentinel=name; Redis Cluster is not supported: write one host/,
        'unix:/socket sentinel=m'      => qr/sentinel= needs hosts, and unix: has none/,
        'unix:/socket 127.0.0.1'       => qr/'127.0.0.1' is not an option of unix:/,
        'redis://127.0.0.1 tls-name=a' => qr/tls-name= need rediss:/,
        'redis://me:secret@127.0.0.1/' => qr/password-file=path/,
        'redis://'                     => qr/'redis:\/\/' is not/,
        'redis://no.such.name.invalid' => qr/'no.such.name.invalid' is not found/,
        'redis://127.0.0.1 user=me'    => qr/password-file=/,
        'redis://127.0.0.1 password=x' => qr/password-file=path/,
        'redis://127.0.0.1 password-file=docs/none' => qr/none cannot be read: No such file/,
        'redis://127.0.0.1 password-file=docs/open' => qr/is readable by all users/,
        'redis://127.0.0.1 password-file=docs/empty' => qr/has no password/,
        'redis://127.0.0.1 sentinel-user=' => qr/'sentinel-user=' is not .*sentinel-user=name/,
        'redis://127.0.0.1 sentinel=m sentinel-user=me' => qr/sentinel-user= needs sentinel-password-file=/,
        'redis://127.0.0.1 sentinel=m sentinel-password-file=docs/none'
                                       => qr{sentinel-password-file=\S+docs/none cannot be read: No such file},
        'redis://127.0.0.1 sentinel-password-file=docs/password' => qr/sentinel-password-file= needs sentinel=/,
    );
    my %bad_tls = AdmissionTest::Fleet::has_tls() ? (
        'redis://127.0.0.1 tls=docs/own.pem'  => qr/tls= and tls-name= need rediss:/,
        'rediss://127.0.0.1 tls=docs/none'    => qr{ca-file \S+docs/none cannot be used: No such file},
        'rediss://127.0.0.1 tls=docs/password' => qr{ca-file \S+docs/password cannot be used: no cert},
        'rediss://127.0.0.1 tls='             => qr/'tls=' is not tls=ca-file nor tls=ca-file,certificate,key/,
        'rediss://127.0.0.1 tls=docs/own.pem,docs/own.pem' => qr/is not tls=ca-file nor/,
        'rediss://127.0.0.1 tls=docs/own.pem,docs/none,docs/none' => qr{certificate \S+docs/none cannot be used},
        'rediss://127.0.0.1 tls=docs/own.pem,docs/own.pem,docs/locked.pem' => qr{key \S+docs/locked.pem cannot be used},
        'rediss://127.0.0.1 tls=docs/own.pem,docs/own.pem,docs/other.pem' => qr{key \S+docs/other.pem cannot be used},
    ) : (
        'rediss://127.0.0.1/'          => qr/'rediss:\S+': TLS is not supported, .*; use a tunnel .* stunnel/,
        'redis://127.0.0.1 tls=ca.pem,docs/a,/b' => qr{'tls=ca.pem,docs/a,/b': TLS is not supported, .*; use a tunnel},
    );
    %bad = (%bad, %bad_tls);
    if (AdmissionTest::Fleet::has_tls()) {
        `openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout '$_' -out '$_.crt' 2>&1; cat '$_.crt' >> '$_'`
            for map { "$httpd->{dir}/docs/$_.pem" } qw(own other);
        `openssl rsa -aes128 -passout pass:word -in '$httpd->{dir}/docs/own.pem' -out '$httpd->{dir}/docs/locked.pem' 2>&1`;
    }

    $httpd->put('open', "secret\n");
    $httpd->put('empty', "\n");
    $httpd->put('password', "secret\n");
    chmod 0600, map { "$httpd->{dir}/docs/$_" } qw(empty password);
    chmod 0644, "$httpd->{dir}/docs/open";
    refused("${load}AdmissionEngine $_\n", $_, qr/AdmissionEngine: /, $bad{$_}) for sort keys %bad;

    for (qw(redis://:hunter2@127.0.0.1:x http://me:hunter2@127.0.0.1 redis://127.0.0.1/?password=hunter2),
         map { "redis://127.0.0.1 $_" } qw(me:hunter2@127.0.0.1 password=hunter2 PASSWORD=hunter2)) {
        my ($status, $output) = test_of("${load}AdmissionEngine $_\n$zone");
        like $output, qr/password-file=path/, "$_ is refused";
        unlike $output, qr/hunter2/, '... and not repeated';
    }

    my ($status, $output) = test_of(
        "${load}AdmissionEngine redis://127.0.0.1:1/3 user=me password-file=docs/password"
        . " timeout=100ms\n$zone", '-D', 'DUMP_ADMISSION');
    is $status, 0, 'a whole engine is accepted' or diag $output;
    like $output, qr/^\s*db limit 4 .* fleet\b/m, '... and the zone is shown as shared';
    unlike $output, qr/secret/, '... without the password';
    ($status, $output) = test_of("${load}AdmissionEngine redis://127.0.0.1 127.0.0.1:26380 sentinel=m"
                                 . " sentinel-user=me sentinel-password-file=docs/password\n$zone", '-D', 'DUMP_ADMISSION');
    is $status, 0, 'Sentinels are accepted' or diag $output;
    unlike $output, qr/secret/, '... their password is not shown';
}

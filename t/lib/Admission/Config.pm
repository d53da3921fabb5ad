package Admission::Config;

# What is installed, and the configuration file of a private httpd.
#
# Environment: HTTPD (program), HTTPD_MODULES (directory of mod_*.so),
# ADMISSION_MODULE (path of mod_admission.so).

use strict;
use warnings;
use experimental 'signatures';

use Cwd ();

our $SERVER_NAME = 'test.example';

# Loaded where they exist and are not compiled in. The cgi flavour, the MPM,
# TLS and HTTP/2 are added as a test asks for them.
my @MODULES = qw(
    authz_core authz_host log_config logio unixd mime dir alias env setenvif
    autoindex status info rewrite actions include headers socache_shmcb
);

sub httpd {
    return (grep { -x } grep { defined } $ENV{HTTPD}, '/usr/sbin/apache2', '/usr/sbin/httpd',
            '/usr/local/apache2/bin/httpd')[0] // die "no httpd found: set HTTPD to its path\n";
}

# 71 of httpd 2.4.71.
sub version {
    return our $version //= (`@{[ httpd() ]} -v` =~ m{Apache/2\.4\.(\d+)})[0]
        // die "which version is @{[ httpd() ]}?\n";
}

# The parent of a threaded MPM starts a child in place of a killed one at once since
# httpd 2.4.54; before, only when fewer threads are idle than MinSpareThreads, and
# then it says that it cannot have as many as that.
sub is_slow_to_replace { return version() < 54 }

# The parent of event of 2.4.52 goes on counting children that have ended while they
# left off accepting, also over reloads, until it starts none at all.
sub loses_count_of_children { return version() == 52 }

# mod_http2 before httpd 2.4.55 knows of no error behind the first bytes of an answer:
# the stream goes on with the page of the error, and ends well.
sub ends_failed_streams_well { return version() < 55 }

# Two ways to park: httpd has another one since 2.4.63.
sub has_two_ways { return version() >= 63 && !$ENV{ADMISSION_COMPLETION} }

sub modules_dir {
    return our $modules_dir //= find_modules();
}

sub find_modules {
    chomp(my $asked = $ENV{HTTPD_MODULES} || `apxs -q LIBEXECDIR 2>/dev/null` || '');
    my ($found) = grep { -d } $asked, '/usr/lib/apache2/modules', '/usr/lib64/httpd/modules',
                              '/usr/local/apache2/modules';
    return $found // die "no modules found: set HTTPD_MODULES to their directory\n";
}

sub admission_module {
    my ($here) = grep { -e } '.libs/mod_admission.so';
    my $path = $ENV{ADMISSION_MODULE} // $here
        // die "set ADMISSION_MODULE to the path of mod_admission.so\n";
    return Cwd::abs_path($path) // die "ADMISSION_MODULE: $path: $!\n";
}

# mod_admission_redis beside it; it is not there where it was built without hiredis.
sub engine_module { return admission_module() =~ s{[^/]+\z}{mod_admission_redis.so}r }

sub is_installed($module) {
    return is_built_in($module) || -e modules_dir() . "/mod_$module.so";
}

sub is_built_in($module) {
    our %built_in;
    if (!%built_in) {
        my $httpd = httpd();
        %built_in = map { $_ => 1 } `$httpd -l 2>&1` =~ /mod_(\w+)\.c/g;
    }
    return $built_in{$module};
}

# The unprivileged user and group httpd runs as when the tests run as root.
sub user {
    for my $name (qw(www-data apache http www nobody)) {
        my @user = getpwnam $name or next;
        return ($name, scalar getgrgid $user[3]);
    }
    die "no user to run httpd as\n";
}

# The text of httpd.conf. What a test says itself is in admission.conf, so
# that its line numbers are those of the test's own text.
sub text(%o) {
    my $threads = int $o{workers} / 2;
    my ($user, $group) = $> == 0 ? user() : ();

    my @modules = ("mpm_$o{mpm}", @MODULES, $o{cgi});
    push @modules, 'ssl'   if $o{tls};
    push @modules, 'http2' if $o{http2};
    my $load = join '', map { load_line($_) } @modules, @{ $o{modules} // [] };
    $load .= qq(LoadModule admission_module "@{[ admission_module() ]}"\n) if $o{admission} // 1;

    my $mpm = $o{mpm} eq 'prefork'
        ? "StartServers $o{workers}\nMinSpareServers 1\n"
          . "MaxSpareServers $o{workers}\nServerLimit $o{workers}\n"
        : "ThreadLimit $threads\nThreadsPerChild $threads\n"
          . "StartServers 2\nServerLimit 8\n"
          . "MinSpareThreads 1\nMaxSpareThreads " . 2 * $o{workers} . "\n";

    # A child of worker that drains may keep its place to itself: where its idle threads
    # end before it has noted that it ends.
    my $workers = $o{mpm} eq 'worker' && $o{places} ? $o{places} * $threads : $o{workers};

    return join "\n", "ServerRoot $o{dir}", $load, $mpm,
        "MaxRequestWorkers $workers",
        ($user      ? "User $user\nGroup $group"       : ()),
        ($o{http2}  ? 'Protocols h2 h2c http/1.1'      : ()),
        ($o{cgi} eq 'cgid' ? 'ScriptSock cgid.sock' : ()),
        <<"CONF",
DefaultRuntimeDir run
PidFile run/httpd.pid
ServerName $SERVER_NAME
Listen 127.0.0.1:$o{port}
Timeout 300
ErrorLog error.log
LogLevel info
LogFormat "%>s %U%<q zone=%{ADMISSION_ZONE}n status=%{ADMISSION_STATUS}n wait=%{ADMISSION_WAIT_MS}n queued=%{ADMISSION_QUEUED}n" tests
CustomLog access.log tests
TypesConfig /dev/null
AddType text/html .html
AddHandler cgi-script .cgi
ExtendedStatus On

DocumentRoot $o{dir}/docs
<Directory $o{dir}/docs>
    Options Indexes FollowSymLinks ExecCGI Includes
    AllowOverride None
    Require all granted
</Directory>

# Every URL below /cgi-bin/ is the heavy program.
ScriptAliasMatch ^/cgi-bin/ $o{dir}/cgi/heavy
SetEnv HEAVY_DIR $o{dir}/heavy
<Directory $o{dir}/cgi>
    Require all granted
</Directory>

<Location /server-status>
    SetHandler server-status
</Location>

Include admission.conf
CONF
        ($o{tls} ? <<"CONF" : ());
Listen 127.0.0.1:$o{tls_port}
SSLSessionCache shmcb:run/ssl(64000)
<VirtualHost 127.0.0.1:$o{tls_port}>
    ServerName $SERVER_NAME
    SSLEngine On
    SSLCertificateFile tls.crt
    SSLCertificateKeyFile tls.key
</VirtualHost>
CONF
}

sub load_line($module) {
    my $file = modules_dir() . "/mod_$module.so";

    return '' if is_built_in($module) || !-e $file;
    return qq(LoadModule ${module}_module "$file"\n);
}

1;

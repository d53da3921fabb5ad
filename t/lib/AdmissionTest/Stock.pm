package AdmissionTest::Stock;

# A private httpd with the configuration that Debian and Ubuntu ship: apache2.conf, ports.conf
# with its `Listen PORT`, which is one socket for IPv4 and IPv6, and mods-available with the
# sizes of each MPM. Only ports, paths and the site are its own.

use Admission::Config;
use Admission::File ();
use AdmissionTest;

use parent -norequire, 'AdmissionTest::Httpd';

# Enabled after an installation, and what a test needs.
my @MODULES = qw(access_compat alias auth_basic authn_core authn_file authz_core authz_host authz_user
                 autoindex deflate dir env filter mime negotiation reqtimeout setenvif status
                 rewrite socache_shmcb ssl);

# The folder of the shipped files, installed or unpacked by tools/deps.
sub folder {
    my ($found) = grep { -e "$_/apache2.conf" } map { "$_/etc/apache2" } grep { defined } '', $ENV{ADMISSION_DEPS};
    return $found;
}

sub missing {
    return 'no configuration of a distribution: tools/deps --unpack' if !folder();
    return 'httpd is not that of the distribution' if Admission::Config::modules_dir() ne '/usr/lib/apache2/modules';
    return 'only root may use the user of the distribution' if $> != 0;
    return;
}

# Called for each attempt to start, with new ports.
sub choose_ports($self) {
    my ($dir, $from) = ($self->{dir}, folder());
    my ($root) = $from =~ m{^(.*)/etc/apache2\z};
    my @modules = ("mpm_$self->{mpm}", @MODULES, $self->{cgi}, $self->{http2} ? 'http2' : (), @{ $self->{modules} // [] });

    $self->SUPER::choose_ports;
    mkdir "$dir/$_" for qw(mods-enabled sites-enabled run/socks);
    for my $module (@modules) {
        for my $file (grep { -e "$from/mods-available/$_" } "$module.load", "$module.conf") {
            Admission::File::spill("$dir/mods-enabled/$file", Admission::File::slurp("$from/mods-available/$file") =~ s{exec:(?=/usr/share)}{exec:$root}r);
        }
    }
    Admission::File::spill("$dir/ports.conf", Admission::File::slurp("$from/ports.conf") =~ s/\bListen 80$/Listen $self->{port}/mr
                                                       =~ s/\bListen 443$/Listen $self->{tls_port}/mgr);
    my ($user, $group) = Admission::Config::user();
    my $apache = Admission::File::slurp("$from/apache2.conf");
    Admission::File::spill("$dir/httpd.conf", <<"DEFINES" . $apache);
Define PORT $self->{port}
Define APACHE_RUN_DIR $dir/run
Define APACHE_PID_FILE $dir/run/httpd.pid
Define APACHE_RUN_USER $user
Define APACHE_RUN_GROUP $group
Define APACHE_LOG_DIR $dir
DEFINES
    my $site = <<"SITE";
    ServerName $Admission::Config::SERVER_NAME
    DocumentRoot $dir/docs
    CustomLog $dir/access.log combined
    ScriptAliasMatch ^/cgi-bin/ $dir/cgi/heavy
    SetEnv HEAVY_DIR $dir/heavy
    <Directory $dir>
        Require all granted
    </Directory>
    Include admission.conf
SITE
    Admission::File::spill("$dir/sites-enabled/000-default.conf", <<"CONF");
ServerName $Admission::Config::SERVER_NAME
LoadModule admission_module "@{[ Admission::Config::admission_module() ]}"
<VirtualHost *:$self->{port}>
$site</VirtualHost>
<VirtualHost *:$self->{tls_port}>
$site    SSLEngine On
    SSLCertificateFile $dir/tls.crt
    SSLCertificateKeyFile $dir/tls.key
</VirtualHost>
CONF
}

# The daemon's socket has Debian's name.
sub runs_programs($self) {
    return 1 if $self->{cgi} ne 'cgid';
    my $owner = (stat "$self->{dir}/run/socks/cgisock.$self->{pid}")[4];
    return defined $owner && $owner == getpwnam +(Admission::Config::user())[0];
}

1;

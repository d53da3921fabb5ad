# Which handlers count, for every name that a module of httpd or a well-known one
# outside looks for, in each way to give it to a file, by the configuration and by
# .htaccess: how it is given makes no difference.

use AdmissionTest;

my @dynamic = qw(
    application/x-httpd-cgi application/x-httpd-fcgi application/x-httpd-imap
    application/x-httpd-php application/x-httpd-php-source application/x-httpd-wsgi
    cgi-script dav-handler fastcgi-script fcgid-script form-login-handler
    form-logout-handler form-redirect-handler heartbeat imap-file isapi-handler
    isapi-isa lua-map-handler lua-script mod_python no-such-handler perl-script
    proxy-server proxy:fcgi://127.0.0.1:9 proxy:http://127.0.0.1:9/
    proxy:unix:/no/socket|fcgi://localhost/ reflector server-parsed
    text/x-server-parsed-html uwsgi-handler wsgi-script x-httpd-suphp
    text/html/x text/ /html text:x/html
);
my @cheap = qw(
    balancer-manager default-handler httpd/send-as-is httpd/unix-directory
    ldap-status md-status send-as-is server-info server-status
);
my %given_by = (
    AddHandler => 'AddHandler "%s" .x',
    AddType    => 'AddType "%s" .x',
    ForceType  => 'ForceType "%s"',
    SetHandler => 'SetHandler "%s"',
    H          => "RewriteEngine On\nRewriteRule \\.x\$ - [H=%s]",
    T          => "RewriteEngine On\nRewriteRule \\.x\$ - [T=%s]",
    P          => "RewriteEngine On\nRewriteRule \\.x\$ http://127.0.0.1:9/ [P,H=%s]",
);

# Types of files: the name that httpd makes of them is not a handler's.
my @types = qw(application/json application/vnd.api+json application/x-type-map image/png
               text/html text/plain x-world/x-3dmf);

my @proxy = grep { Admission::Config::is_installed($_) } qw(proxy proxy_http);
my @ways = qw(AddHandler AddType ForceType SetHandler H T);
my @cases = (@proxy ? [ P => 'default-handler', 1 ] : (),
             (map { my $way = $_; map { [ $way, $_, 1 ] } @dynamic } @ways),
             (map { my $way = $_; map { [ $way, $_, 0 ] } @cheap } @ways),
             (map { my $way = $_; map { [ $way, $_, 0 ] } @types } qw(AddType ForceType T)));

for_each_combo(sub {
    my $httpd = new_httpd(modules => \@proxy);
    my $docs  = "$httpd->{dir}/docs";
    my $conf  = "MaxConcurrent 10\nAdmissionQueue 0\nAdmissionZone z\n"
              . "<Directory $docs/htaccess>\nAllowOverride All\n</Directory>\n";

    for my $n (0 .. $#cases) {
        my ($way, $name) = @{ $cases[$n] };
        my $line = sprintf "$given_by{$way}\n", $name;
        $httpd->put_script("$_/$n/f.x", "echo Content-Type: text/plain\necho\n") for qw(htaccess conf);
        $httpd->put("htaccess/$n/.htaccess", $line);
        $conf .= "<Directory $docs/conf/$n>\n$line</Directory>\n";
    }
    $httpd->configure($conf);
    # What the file is to its handler is not what is asked here.
    $httpd->allow_in_log(qr/\[(?!admission)\w+:(?:error|warn)\]/);
    $httpd->start;

    my $client = $httpd->connect;
    my @urls = map { my $place = $_; map { "/$place/$_/f.x" } 0 .. $#cases } qw(conf htaccess);
    for my $url (@urls) {
        $client = $httpd->connect if $client->{ended};
        $client->ask($url, keep => 1)->answer;
    }
    my %zone;
    ok $httpd->soon(sub {
        %zone = map { m{ (/\w+/\d+/f\.x) zone=(\S+)} ? ($1 => $2) : () } $httpd->access_log;
        keys %zone == @urls;
    }), 'every request is in the access log';

    my %case = map { $_ => $cases[ (m{/(\d+)/})[0] ] } @urls;
    is_deeply [ map { "$_: @{ $case{$_} }" } grep { $zone{$_} ne ($case{$_}[2] ? 'z' : '-') } @urls ],
        [], 'what is dynamic counts, what is cheap does not';
}, 'prefork+cgi', 'event+cgid');

# What runs after the wait runs as it would have without: other handlers, output filters,
# conditional and partial requests, HTTP/1.0 with keep-alive. What cannot wait parked waits with a
# worker, in the same queue: requests inside requests, HTTP/2 streams, all when parking is off. A
# request that a redirect inside httpd leads to a program is parked like one for the program:
# rules in .htaccess as WordPress has them, an Action.

use AdmissionTest;

my @optional = grep { Admission::Config::is_installed($_) }
                    qw(deflate proxy proxy_http auth_basic authn_core authn_file authz_user);
my %is_there = map { $_ => 1 } @optional;
my $has_http2 = Admission::Config::is_installed('http2') && `curl -V` =~ /HTTP2/;

my $WORDPRESS = <<'CONF';
<IfModule mod_rewrite.c>
RewriteEngine On
RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]
RewriteBase /blog/
# As Symfony has it.
RewriteCond %{ENV:REDIRECT_STATUS} =""
RewriteRule ^index\.php(?:/|$) /moved [R=301,L]
RewriteRule ^index\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /blog/index.php [L]
</IfModule>
CONF

# [ name, what its answer must show, request ]; "module: name" where that is there. Those of
# requests inside requests wait with a worker, between the others.
my $heavy = qr/^200 .*\n\nheavy /s;
my @post = (method => 'POST', body => 'x=1');
my @requests = grep { $_->[0] !~ /^(\w+): / || $is_there{$1} } (
    [ 'a file',                  qr/^200 .*(?:file\n){100}$/s, '/all/file.txt' ],
    [ 'a part of one',           qr/^206 .*\n\nfile\nfi$/s, '/all/file.txt', headers => ['Range: bytes=0-6'] ],
    [ 'HEAD',                    qr/^200 .*content-length: 500\n.*\n\n$/s, '/all/file.txt', method => 'HEAD' ],
    [ 'not modified',            qr/^304 /, '/all/file.txt', headers => ['If-None-Match: *'] ],
    [ 'in a request: an include', $heavy, '/pages/include.shtml' ],
    [ 'a missing file',          qr/^404 .*\n\ncustom 404\n$/s, '/all/missing' ],
    [ 'a page with an include',  qr/^200 .*\n\npage heavy included\n/s, '/all/page.shtml' ],
    [ 'an index',                qr/^200 .*\n\nindex\n$/s, '/all/dir/' ],
    [ 'in a request: an ErrorDocument', qr/^404 .*\n\nheavy error\n/s, '/missing' ],
    [ 'a program',               qr/^200 .*heavy program\n/s, '/all/program.cgi?id=program' ],
    [ 'a local redirect',        qr/^200 .*\n\nstatic\n$/s, '/all/program.cgi?loc=/static.txt' ],
    [ 'a bad method',            qr/^405 /, '/all/file.txt', method => 'DELETE' ],
    [ 'deflate: compressed',     qr/^200 .*content-encoding: gzip\n/s, '/all/deflated',
                                 headers => ['Accept-Encoding: gzip'] ],
    [ 'in a request: a local redirect', $heavy, '/cgi-bin/free?loc=/cgi-bin/inner' ],
    [ 'proxy_http: from a backend', qr/^200 .*\n\nstatic\n$/s, '/all/proxied' ],
    [ 'authn_file: behind a password', qr/^200 .*file\n/s, '/all/secret',
                                 headers => ['Authorization: Basic dXNlcjpwYXNzd29yZA=='] ],
    [ 'a passed rule',           $heavy, '/passed', @post ],
    [ 'an Action',               $heavy, '/pages/x.action' ],
    [ 'a rule of a directory',   $heavy, '/pages/rewritten', @post ],
    # The zone is the target's, and in the shop also that of the URL.
    [ 'a rule of .htaccess',     $heavy, '/blog/2026/hello/' ],
    [ 'a rule in the shop',      $heavy, '/blog/shop/cart', @post ],
);

sub conf {
    my ($httpd) = @_;
    my $docs = "$httpd->{dir}/docs";
    my @zone = ('MaxConcurrent 1', 'AdmissionZone z', 'AdmissionQueue 50 timeout=300s');
    return parking_conf(threads => 40) . "KeepAliveTimeout 300\n" . <<"CONF" . join '',
AddOutputFilter INCLUDES .shtml
AddHandler run-action .action
Action run-action /cgi-bin/action
ErrorDocument 404 /cgi-bin/error?id=error
RewriteEngine On
RewriteRule ^/passed\$ /cgi-bin/passed [PT]
CONF
        section('IfModule mod_deflate.c',
            location('/all/deflated', 'SetOutputFilter DEFLATE'),
            "Alias /all/deflated $docs/all/file.txt"),
        section('IfModule mod_authn_file.c',
            location('/all/secret', 'AuthType Basic', 'AuthName secret', 'AuthBasicProvider file',
                "AuthUserFile $httpd->{dir}/users", 'Require valid-user'),
            "Alias /all/secret $docs/all/file.txt"),
        section("Directory $docs/pages", 'RewriteEngine On',
            'RewriteRule ^rewritten$ /cgi-bin/rewritten'),
        section("Directory $docs/blog", 'AllowOverride FileInfo', 'AddHandler cgi-script .php'),
        section('LocationMatch ^/(cgi-bin/|blog/(index.php|shop))', @zone),
        location('/cgi-bin/free', 'MaxConcurrent off'),
        location('/all', @zone, 'AdmissionHandlers all', 'ErrorDocument 404 /missing.html',
            'Header set X-After yes');
}

sub put_files {
    my ($httpd) = @_;
    mkdir "$httpd->{dir}/docs/$_" for qw(all all/dir pages blog);
    $httpd->put('all/file.txt', "file\n" x 100);
    $httpd->put('all/dir/index.html', "index\n");
    $httpd->put('all/page.shtml', "page <!--#include virtual=\"/cgi-bin/x?id=included\" -->\n");
    $httpd->put('missing.html', "custom 404\n");
    $httpd->put('../users', "user:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n");    # password
    $httpd->put('pages/include.shtml', '<!--#include virtual="/cgi-bin/included" -->');
    $httpd->put('pages/x.action', '');
    $httpd->put('blog/.htaccess', $WORDPRESS);
    $httpd->put('blog/static.html', "plain\n");
    $httpd->put_heavy($_) for qw(all/program.cgi blog/index.php);
}

sub shown {
    my ($answer) = @_;
    my $headers = $answer->{headers};
    return "$answer->{status} " . join('', map { "$_: $headers->{$_}\n" } sort keys %$headers)
         . "\n$answer->{body}";
}

sub wait_in_the_queue {
    my ($httpd) = @_;
    my ($hold) = ask_line($httpd, 'go', 0, 'z');
    my ($parked, $blocked) = (0, 0);
    my @client = map {
        my ($name, undef, @request) = @$_;
        my $client = $httpd->ask(@request, keep => 1);
        $name =~ /^in a request/ ? $blocked++ : $parked++;
        server_becomes($httpd, "$name waits, blocked or parked", AdmissionParked => $parked,
                       AdmissionBlocked => $blocked);
        $client;
    } @requests;
    my $old = $httpd->connect->send("GET /all/file.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    server_becomes($httpd, 'one of HTTP/1.0 waits', AdmissionParked => ++$parked);
    my $curl;
    if ($has_http2) {
        my $url = $httpd->tls_url('/cgi-bin/stream');
        open $curl, '-|', "exec curl -sk --http2 --max-time 300 -w '%{http_version}\\n' $url"
            or die "curl: $!\n";
        server_becomes($httpd, 'a stream of HTTP/2 blocks', AdmissionBlocked => ++$blocked,
                       AdmissionParked => $parked);
    }
    $httpd->zone_becomes('z', 'all wait in one queue', Active => 1, Queued => $parked + $blocked);
    is $httpd->get('/blog/static.html')->{body}, "plain\n", 'a file next to a target is served';

    $httpd->serves('go', 'the running request gets its response', $hold);
    for (@requests) {
        my ($name, $pattern, $path) = @$_;
        my $client = shift @client;
        my $answer = shown($client->answer);
        like $answer, $pattern, "$name: as without a wait";
        like $answer, qr/^x-after: yes$/m, '... through the filters'
            if $path =~ m{^/all} && $name !~ /redirect|missing|method|modified/;
        is $client->ask('/static.txt', keep => 1)->answer->{body}, "static\n",
            '... and keep-alive' if $answer !~ /^40[15]/;
        $client->leave;
    }
    like shown($old->answer), qr/^200 .*^connection: (?:Upgrade, )?Keep-Alive$/ms,
        'HTTP/1.0 with keep-alive gets its response';
    is $old->ask('/static.txt')->answer->{body}, "static\n",
        '... and another one over its connection';
    like join('', readline $curl), qr/^heavy .*^2$/ms, 'the stream gets its response' if $curl;
    $httpd->comes_to_rest;
    # The ErrorDocument of the missing file takes a permit, too.
    $httpd->zone_becomes('z', 'each has waited once', Gone => 0,
                         AdmittedAfterWait => $parked + $blocked + 1);
    # A page has no outcome of what it includes.
    $httpd->access_log_becomes('the log has one outcome of each', qr/ zone=z status=queued /,
                               $parked + $blocked - 1);
}

for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(threads => 40, tls => 1, http2 => $has_http2,
                                  modules => \@optional);
    put_files($httpd);
    $httpd->configure(my $conf = conf($httpd));
    $httpd->start;
    if ($is_there{proxy_http}) {
        # It is its own backend, whose port is known only now.
        $httpd->graceful($conf .= 'ProxyPass /all/proxied ' . $httpd->url("/static.txt\n"));
    }
    is $httpd->get('/all/secret')->{status}, 401, 'without the password it never comes to waiting'
        if $is_there{authn_file};
    wait_in_the_queue($httpd);

    $httpd->expect_in_log(qr/admission:warn.*AdmissionQueue 50 needs 51 workers/);
    $httpd->graceful("AdmissionParking Off\n$conf");
    my @line = ask_line($httpd, 'off', 5, 'z');
    server_becomes($httpd, 'AdmissionParking Off: all block', AdmissionParked => 0,
                   AdmissionBlocked => 5);
    $httpd->graceful("AdmissionParking On\n$conf");
    push @line, map { $httpd->ask("/cgi-bin/heavy?id=on$_") } 1 .. 5;
    server_becomes($httpd, 'On again: new requests park in the queue in which old ones block',
                   AdmissionParked => 5, AdmissionBlocked => 5);
    $httpd->serves('off', 'all requests get their response', @line);
    is $httpd->zone('z')->{Gone}, 0, 'no client is counted as disconnected';
    $_->leave for @line; # httpd 2.4.37 waits for it
    wait_for { $httpd->children == 1 } 'the old children end';
});

# The URL that the client asked for decides, however httpd gets from there to what serves it:
# the <Location> sections of that URL are merged last, directive by directive, and expressions
# see the client's request.

use AdmissionTest;

my $RULES = <<'CONF';
    RewriteEngine On
    RewriteCond %{REQUEST_FILENAME} !-f
    RewriteRule . /index.php [L]
CONF

# Of a site: those of the target, of a file and of the server; and those of the client's URL.
my $SECTIONS = <<'CONF' . join '',
SetEnvIf Request_URI "^/by-env" CLIENT_ENV=1
MaxConcurrent 4
AdmissionZone server
AdmissionQueue 10
<FilesMatch "\.php$">
    MaxConcurrent 2
    AdmissionZone files
    AdmissionQueue 10
    AdmissionExempt "%{REQUEST_URI} =~ m#^/checkout# || %{QUERY_STRING} =~ /vip=1/ || reqenv('CLIENT_ENV') == '1' || reqenv('TARGET_ENV') == '1' || %{REQUEST_METHOD} == 'PROPFIND' || %{HTTP:X-Vip} == '1' || (%{REQUEST_URI} == '/by-target' && %{REQUEST_FILENAME} =~ m#/index.php$# && %{HANDLER} == 'cgi-script')"
</FilesMatch>
CONF
    section('LocationMatch "^/(?<what>a|b)/limited"', 'MaxConcurrent 1', 'AdmissionZone match',
        'AdmissionQueue 0'),
    location('/if', section('If "%{QUERY_STRING} =~ /limit=1/"', 'MaxConcurrent 1',
        'AdmissionZone if', 'AdmissionQueue 0')),
    location('/search', 'MaxConcurrent 1', 'AdmissionZone search', 'AdmissionQueue 0'),
    location('/off', 'MaxConcurrent off'),
    location('/no-queue', 'AdmissionQueue 0'),
    location('/status', 'AdmissionQueue 0', 'AdmissionReject 429 retry-after=7'),
    location('/exempt', 'AdmissionExempt "true"'),
    location('/dear', 'AdmissionCost 2'),
    location('/dry', 'AdmissionDryRun On'),
    location('/handlers', 'AdmissionHandlers all'),
    location('/unspooled', 'AdmissionSpool request=off'),
    location('/outer', 'AdmissionReject 429'),
    location('/outer/inner', 'MaxConcurrent 1', 'AdmissionZone inner', 'AdmissionQueue 0');

# Each is a virtual host, in which /search is limited to 1, with no queue.
my %ways = (
    'rules in .htaccess'   => { htaccess => $RULES, sections => $SECTIONS },
    'FallbackResource in .htaccess' => { htaccess => 'FallbackResource /index.php',
                                         sections => $SECTIONS },
    'rules in <Directory>' => { directory => $RULES },
    'rules, then others'   => {
        htaccess => <<'CONF',
    RewriteEngine On
    RewriteRule ^search$ /hop [L]
    RewriteRule ^hop$ /index.php [L]
CONF
    },
    'rules of the server'  => { host => "RewriteEngine On\nRewriteRule ^/search /index.php" },
    'rules with [PT]'      => { host => "RewriteEngine On\nRewriteRule ^/search /index.php [PT]" },
    'rules with [P]'       => { htaccess => "RewriteEngine On\nRewriteRule ^search http://127.0.0.1:BACKEND/ [P]" },
    'FallbackResource'     => { directory => 'FallbackResource /index.php' },
    'DirectoryIndex'       => { directory => 'DirectoryIndex index.php', url => '/search/',
                                files => ['search/index.php'] },
    'Action'               => { host => "Action application/x-script /cgi-bin/action\nAddType application/x-script .script\n",
                                files => ['search.script'], url => '/search.script' },
    'Action of a handler'  => { host => "Action run-script /cgi-bin/action\nAddHandler run-script .script\n",
                                files => ['search.script'], url => '/search.script' },
    'a type map'           => { host => "AddHandler type-map .var", url => '/search.var',
                                files => ['search.var'] },
    'MultiViews'           => { directory => "Options +MultiViews\nMultiviewsMatch Any", files => ['search.php'] },
    'ErrorDocument 404'    => { host => 'ErrorDocument 404 /index.php?until=go-errordocument-404.example',
                                served => 404 },
    'a LocationMatch'      => { htaccess => $RULES, section => 'LocationMatch "^/sear"' },
    'an If in it'          => { htaccess => $RULES, inside => 'If "%{QUERY_STRING} =~ /id=/"' },
);

sub limited($way, $zone) {
    my @said = ('MaxConcurrent 1', "AdmissionZone $zone", 'AdmissionQueue 0', 'AdmissionReject 429');

    @said = section($way->{inside}, @said) if $way->{inside};
    return section($way->{section} // 'Location ~ "^/search"', @said);
}

sub host_of { return lc($_[0] =~ s/\W+/-/gr =~ s/-\z//r) . '.example' }

sub make_host($httpd, $name, $way, $backend) {
    my $host = host_of($name);
    my $dir = "$httpd->{dir}/docs/$host";

    $httpd->put("$host/$_", "static\n") for qw(static.txt search-static.txt handlers/file.txt);
    $httpd->put("$host/part.shtml", '<!--#include virtual="/search?id=part" -->');
    $httpd->put_heavy("$host/index.php");
    for my $file (@{ $way->{files} // [] }) {
        $file =~ /php$/ ? $httpd->put_heavy("$host/$file") : $httpd->put("$host/$file", '');
    }
    $httpd->put("$host/search.var", "URI: index.php\nContent-Type: text/html\n") if $name eq 'a type map';
    $httpd->put("$host/.htaccess", $way->{htaccess} =~ s/BACKEND/$backend/r) if $way->{htaccess};
    return virtual_host($host, "DocumentRoot $dir",
        section("Directory $dir", 'AllowOverride All', 'AddHandler cgi-script .php',
            'Options +Includes', 'AddOutputFilter INCLUDES .shtml', 'AddType text/html .shtml',
            $way->{directory} // ''),
        $way->{host} // '', $way->{sections} // limited($way, $host));
}

sub is_limited_by_its_url($httpd, $name) {
    my ($way, $zone) = ($ways{$name}, host_of($name));
    my ($url, $gate, @to) = ($way->{url} // '/search', "go-$zone", host => $zone);

    is $httpd->get('/static.txt', @to)->{body}, "static\n", "$name: a file";
    my $held = $httpd->ask("$url?id=1-$gate&until=$gate", @to);
    $httpd->zone_becomes($zone, '... one runs, by the limit of its URL', Active => 1);
    is $httpd->get("$url?id=2-$gate", @to)->{status}, 429, '... a second one does not';
    is $httpd->logged("2-$gate")->{zone}, $zone, '... which the log has';
    $httpd->open_gate($gate);
    is $held->answer->{status}, $way->{served} // 200, '... the first one is served';
    $httpd->zone_becomes($zone, '... and each counted once', Active => 0, Admitted => 1,
                         RejectedFull => 1);
}

# Zone and status in the log => URLs, of one request while no other runs.
my %alone = (
    'files admitted'  => [qw(/page /index.php /searching /c/limited /if /dry)],
    'files exempt'    => [qw(/exempt /checkout/2 /x?vip=1 /by-env /by-target)],
    'search admitted' => [qw(/search /search/ /search/a/b //search /./search /x/../search /%73earch)],
    'match admitted'  => [qw(/a/limited)],
    'if admitted'     => [qw(/if?limit=1)],
    'inner admitted'  => [qw(/outer/inner/x)],
    'server admitted' => [qw(/handlers/file.txt)],
    '- -'             => [qw(/off /search-static.txt)],
);

sub decides_alone($httpd, $site) {
    my @to = (host => $site);
    my $number = 0;

    for my $outcome (sort keys %alone) {
        for my $url (@{ $alone{$outcome} }) {
            my $id = "$site-" . $number++;

            my $with_id = $url . ($url =~ /\?/ ? '&' : '?') . "id=$id";
            is $httpd->get($with_id, @to)->{status}, 200, "$site: $url";
            is join(' ', @{ $httpd->logged($id) }{qw(zone status)}), $outcome, "... $outcome";
        }
    }
    $httpd->get("/x?id=method-$site", @to, method => 'PROPFIND');
    is $httpd->logged("method-$site")->{status}, 'exempt', 'an expression sees the method of the client';
    $httpd->get("/x?id=header-$site", @to, headers => ['X-Vip: 1']);
    is $httpd->logged("header-$site")->{status}, 'exempt', '... and its headers';
    $httpd->zone_becomes($_, "$_: all permits are back", Active => 0) for qw(files search match if inner);

    like $httpd->get('/part.shtml', @to)->{body}, qr/heavy part/, 'a part of a page';
    like $httpd->get('/index.php?loc=/cgi-bin/other?id=local', @to)->{body}, qr/heavy local/,
        'a program answers with another URL';
    SKIP: {
        last SKIP if !$httpd->{http2};
        skip 'curl has no HTTP/2', 2 if `curl -V` !~ /HTTP2/;
        open my $curl, '-|', qw(curl -s --http2-prior-knowledge --max-time 300 -o /dev/null -w),
            '%{http_version} %{http_code}', '-H', "Host: $site", $httpd->url("/search?id=h2-$site")
            or die "curl: $!\n";
        is readline $curl, '2 200', 'HTTP/2';
        is $httpd->logged("h2-$site")->{zone}, 'search', '... has the URL\'s zone';
    }
}

# While the zones of a URL and of its target are full.
sub decides_in_full_zones($httpd, $site) {
    my @to = (host => $site);
    my @hold = $httpd->ask("/search?until=go-$site", @to);

    $httpd->zone_becomes('search', 'one searches', Active => 1);
    is $httpd->get($_, @to)->{status}, 503, "$_: one more is rejected"
        for '/search', '/search-page?loc=/search';
    push @hold, map { $httpd->ask("/page?until=go-$site", @to) } 1, 2;
    $httpd->zone_becomes('files', 'beside it two of two run', Active => 2);
    is $httpd->get('/no-queue', @to)->{status}, 503,
        'only AdmissionQueue is set for the URL: no request waits';
    my $refused = $httpd->get('/status', @to);
    is_deeply [ $refused->{status}, $refused->{headers}{'retry-after'} ], [ 429, 7 ],
        'only AdmissionReject and AdmissionQueue: its status and time';
    is $httpd->get('/dry', @to)->{status}, 200, 'only AdmissionDryRun: no request is rejected';
    $httpd->serves("go-$site", '... all are served', @hold);
    $httpd->zone_becomes('files', '... with all permits', Active => 0);

    my $dear = $httpd->ask("/dear?until=dear-$site", @to);
    $httpd->zone_becomes('files', 'only AdmissionCost: one request takes two permits', Active => 2);
    $httpd->serves("dear-$site", '... is served', $dear);
    $httpd->zone_becomes('files', '... with its permits back', Active => 0);

    # By default a body is read before its request asks for a permit.
    my $slow = $httpd->ask('/unspooled', @to, method => 'POST', headers => ['Content-Length: 2']);
    $httpd->zone_becomes('files', 'only AdmissionSpool: one runs while its body is received', Active => 1);
    is $slow->send('ab')->answer->{status}, 200, '... and is served';
    $httpd->zone_becomes('files', '... and has left', Active => 0);
    my $dry = $httpd->ask('/dry', @to, method => 'POST', headers => ['Content-Length: 2']);
    $httpd->zone_becomes('files', 'only AdmissionDryRun: nothing is read in advance', Active => 1);
    is $dry->send('ab')->answer->{status}, 200, '... and is served';
    $httpd->zone_becomes($_, '... with all permits', Active => 0, Queued => 0) for qw(files search);
}

# The page of another error than a missing file's has its own URL's limit.
my %errors = ('/search/denied' => 403, '/search/proxied' => 404);

sub make_errors($httpd) {
    my (undef, $port) = start_backend(sub { syswrite $_[0], "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" });

    $httpd->put_heavy('page.cgi');
    return virtual_host('errors.example', "ProxyPass /search/proxied http://127.0.0.1:$port/",
        'ProxyErrorOverride On', (map { "ErrorDocument $_ /page.cgi" } values %errors),
        location('/search', 'MaxConcurrent 1', 'AdmissionZone errors', 'AdmissionQueue 0'),
        location('/search/denied', 'Require all denied'),
        location('/page.cgi', 'SetHandler cgi-script', 'MaxConcurrent 1', 'AdmissionZone page', 'AdmissionQueue 0'));
}

sub decides_no_other_error($httpd) {
    my $pages = 0;

    for (sort keys %errors) {
        is $httpd->get($_, host => 'errors.example')->{status}, $errors{$_}, "$_: $errors{$_}";
        $httpd->zone_becomes('page', '... its page has the permit of its own zone', Admitted => ++$pages, Active => 0);
    }
    $httpd->zone_becomes('errors', '... and what was asked for has had no other', Admitted => 1, Active => 0);
}

for_each_combo(sub ($combo) {
    my $http2 = $combo->{mpm} ne 'prefork' && Admission::Config::is_installed('http2');
    my $httpd = new_httpd(workers => 60, http2 => $http2,
                          modules => [qw(negotiation proxy proxy_http)]);
    my (undef, $port) = start_backend(answers_at_gate($httpd));
    my @sites = grep { $ways{$_}{sections} } sort keys %ways;
    my @others = grep { !$ways{$_}{sections} } sort keys %ways;

    $httpd->configure(join '', $http2 ? "H2MinWorkers 40\n" : (), virtual_host('test.example'),
                      make_errors($httpd), map { make_host($httpd, $_, $ways{$_}, $port) } sort keys %ways);
    $httpd->expect_in_log(qr{AH01630: .*denied});
    $httpd->expect_rejections($_, 'full') for qw(files search), map { host_of($_) } @others;
    $httpd->start;
    is_limited_by_its_url($httpd, $_) for @others;
    decides_no_other_error($httpd);
    for my $site (map { host_of($_) } @sites) {
        decides_alone($httpd, $site);
        decides_in_full_zones($httpd, $site);
    }
}, 'prefork+cgi', 'event+cgid');

# The <Location> sections of the client's URL are merged last, directive by directive,
# and expressions see the client's request. Each site has the same sections behind
# another front controller.

use AdmissionTest;
use Admission::Config;

my %controllers = (
    'rules'            => "RewriteEngine On\nRewriteCond %{REQUEST_URI} !^/server-status\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule . /index.php [L]\n",
    'FallbackResource' => "FallbackResource /index.php\n",
);

sub sections {
    my ($docs) = @_;

    return <<"CONF" . join '',
SetEnvIf Request_URI "^/by-env" CLIENT_ENV=1
# Those of the target, and of the server.
MaxConcurrent 4
AdmissionZone server
AdmissionQueue 10
<FilesMatch "\\.php\$">
    MaxConcurrent 2
    AdmissionZone files
    AdmissionQueue 10
    AdmissionExempt "%{REQUEST_URI} =~ m#^/checkout# || %{QUERY_STRING} =~ /vip=1/ || reqenv('CLIENT_ENV') == '1' || reqenv('TARGET_ENV') == '1' || %{REQUEST_METHOD} == 'PROPFIND' || %{HTTP:X-Vip} == '1' || (%{REQUEST_URI} == '/by-target' && %{REQUEST_FILENAME} =~ m#/index.php\$# && %{HANDLER} == 'cgi-script')"
</FilesMatch>
CONF
        section("Directory $docs", 'AllowOverride All', 'AddHandler cgi-script .php', 'Options +Includes',
            'AddOutputFilter INCLUDES .shtml', 'AddType text/html .shtml'),
        # Those of the client's URL.
        section('LocationMatch "^/(?<what>a|b)/limited"', 'MaxConcurrent 1', 'AdmissionZone match',
            'AdmissionQueue 0'),
        location('/if', section('If "%{QUERY_STRING} =~ /limit=1/"', 'MaxConcurrent 1', 'AdmissionZone if',
            'AdmissionQueue 0')),
        location('/search', 'MaxConcurrent 1', 'AdmissionZone search', 'AdmissionQueue 0'),
        location('/off', 'MaxConcurrent off'),
        location('/no-queue', 'AdmissionQueue 0'),
        location('/status', 'AdmissionQueue 0', 'AdmissionReject 429 retry-after=7'),
        location('/exempt', 'AdmissionExempt "true"'),
        location('/dear', 'AdmissionCost 2'),
        location('/one-each', 'AdmissionFair client max=1'),
        location('/dry', 'AdmissionDryRun On'),
        location('/handlers', 'AdmissionHandlers all'),
        location('/unspooled', 'AdmissionSpool request=off'),
        location('/first', 'AdmissionPriority high "true"'),
        location('/outer', 'AdmissionReject 429'),
        location('/outer/inner', 'MaxConcurrent 1', 'AdmissionZone inner', 'AdmissionQueue 0');
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
    '- -'             => [qw(/off /search-file.txt)],
);

sub with_id { my ($url, $id) = @_; return $url . ($url =~ /\?/ ? '&' : '?') . "id=$id" }

sub alone {
    my ($httpd) = @_;
    my $number = 0;

    for my $outcome (sort keys %alone) {
        for my $url (@{ $alone{$outcome} }) {
            my $id = 'alone' . $number++;

            is $httpd->get(with_id($url, $id))->{status}, 200, $url;
            is join(' ', @{ $httpd->logged($id) }{qw(zone status)}), $outcome, "... $outcome";
        }
    }
    $httpd->get('/x?id=method', method => 'PROPFIND');
    is $httpd->logged('method')->{status}, 'exempt', 'an expression sees the method of the client';
    $httpd->get('/x?id=header', headers => ['X-Vip: 1']);
    is $httpd->logged('header')->{status}, 'exempt', 'an expression sees the headers of the client';
    $httpd->zone_becomes($_, "$_: all permits are back", Active => 0) for qw(files search match if inner);
}

# While the zone of the target is full.
sub full {
    my ($httpd) = @_;
    my @hold = map { $httpd->ask("/page?id=hold$_&until=go$_") } 1, 2;

    $httpd->zone_becomes('files', 'two of two run', Active => 2);
    is $httpd->get('/no-queue?id=nq')->{status}, 503, 'only AdmissionQueue is set for the URL: no request waits';
    my $refused = $httpd->get('/status?id=status');
    is_deeply [ $refused->{status}, $refused->{headers}{'retry-after'} ], [ 429, 7 ], 'only AdmissionReject and AdmissionQueue: its status and time';
    is $httpd->get('/dry?id=dry')->{status}, 200, 'only AdmissionDryRun: no request is rejected';
    my @wait = $httpd->ask('/page?id=low&until=go2');
    $httpd->zone_becomes('files', 'one waits', Queued => 1);
    push @wait, $httpd->ask('/first?id=high&until=go2');
    $httpd->zone_becomes('files', 'two wait', Queued => 2);
    is $httpd->get('/search?id=beside')->{status}, 200, 'the zone of another URL is free';
    $httpd->serves('go1', 'the first one ends', $hold[0]);
    $httpd->zone_becomes('files', '... and another one runs', Active => 2, Queued => 1);
    wait_for { grep { $_ eq 'start high' } $httpd->record } 'only AdmissionPriority: the request that came last runs';
    ok !(grep { $_ eq 'start low' } $httpd->record), '... before a request that came earlier';
    $httpd->serves('go2', 'all requests get their response', $hold[1], @wait);

    my $dear = $httpd->ask('/dear?id=dear&until=dear');
    $httpd->zone_becomes('files', 'only AdmissionCost: one request takes two permits', Active => 2);
    $httpd->serves('dear', '... is served', $dear);

    my @each = map { $httpd->ask("/one-each?id=each$_&until=each") } 1, 2;
    $httpd->zone_becomes('files', 'only AdmissionFair: one request of a client runs', Active => 1, Queued => 1);
    $httpd->serves('each', '... both are served', @each);
    $httpd->zone_becomes('files', 'all permits are back', Active => 0, Queued => 0);
}

# By default a body is read before its request asks for a permit.
sub unspooled {
    my ($httpd) = @_;
    my $slow = $httpd->connect;

    $slow->ask('/unspooled?id=unspooled', method => 'POST', headers => ['Content-Length: 2']);
    $httpd->zone_becomes('files', 'only AdmissionSpool: the request runs while its body is received', Active => 1);
    $slow->send('ab');
    is $slow->answer->{status}, 200, '... and is served';
    $httpd->zone_becomes('files', '... with its permit back', Active => 0);
}

# Requests that the client did not ask for.
sub others {
    my ($httpd) = @_;

    like $httpd->get('/part.shtml')->{body}, qr/heavy part/, 'a part of a page';
    like $httpd->get('/index.php?loc=/cgi-bin/other?id=local')->{body}, qr/heavy local/,
        'a program answers with another URL';
    my $held = $httpd->ask('/search?id=held&until=search');
    $httpd->zone_becomes('search', 'one searches', Active => 1);
    is $httpd->get('/search-page?loc=/search?id=of-program')->{status}, 503,
        '... which is limited by its own URL, while another one runs there';
    $httpd->serves('search', '... and is free again', $held);
    $httpd->zone_becomes('search', '... with all permits', Active => 0);
}

sub over_http2 {
    my ($httpd) = @_;

    SKIP: {
        skip 'curl has no HTTP/2', 2 if `curl -V` !~ /HTTP2/;
        is `curl -sk --http2 --max-time 20 -o /dev/null -w '%{http_version} %{http_code}' '@{[ $httpd->tls_url('/search?id=h2') ]}'`,
            '2 200', 'HTTP/2';
        is $httpd->logged('h2')->{zone}, 'search', '... has the URL\'s zone';
    }
}

for_each_combo(sub {
    my ($combo) = @_;
    my $http2 = $combo->{mpm} ne 'prefork' && Admission::Config::is_installed('http2');

    for my $name (sort keys %controllers) {
        my $httpd = new_httpd(workers => 60, tls => $http2, http2 => $http2);
        my $docs = "$httpd->{dir}/docs";

        note $name;
        $httpd->configure(sections($docs) . ($http2 ? "H2MinWorkers 40\n" : ''));
        mkdir "$docs/handlers";
        $httpd->put($_, "a file\n") for qw(search-file.txt handlers/file.txt);
        $httpd->put('part.shtml', '<!--#include virtual="/search?id=part" -->');
        $httpd->put('.htaccess', $controllers{$name});
        $httpd->put_heavy('index.php');
        $httpd->expect_rejections(files => 'full')->expect_rejections(search => 'full');
        $httpd->start;
        alone($httpd);
        full($httpd);
        unspooled($httpd);
        others($httpd);
        over_http2($httpd) if $http2;
        $httpd->stop;
    }
}, 'prefork+cgi', 'event+cgid');

# Which requests count: by default, all, and handlers by name. Of a module that serves in its
# handler hook, without a handler's name, what it may serve counts; existing files and httpd's
# own answers do not. PHP in the server runs executable pages as programs where .htaccess says
# so. To httpd these are files.

use AdmissionTest;
use Admission::Program qw(build_module);

my $module = build_module('mod_answers');
my ($load, $load_svn, $load_php) = map { "LoadModule ${_}_module $module\n" } qw(answers dav_svn php);
my $warning = qr/ADM0153: zone z \(\S+admission\.conf:\d+\): mod_answers\.c might serve /;

sub site {
    my ($httpd) = @_;
    mkdir "$httpd->{dir}/docs/$_" for qw(app app/list none none/list front);
    $httpd->put('index.html', "page\n");
    $httpd->put("$_/static.txt", "file\n") for qw(app none);
    $httpd->put('app/by-type.html', "page\n");
    $httpd->put($_, "executable\n") for qw(program.html script.txt);
    chmod 0755, map { "$httpd->{dir}/docs/$_" } qw(program.html script.txt);
    $httpd->put('ways/page.txt', "variant\n");
    $httpd->put('ways/.htaccess', "SetHandler None\n");
    $httpd->put('ways/part.shtml', "<!--#include virtual=\"/app/part\" -->\n");
    return $httpd;
}

my $conf = join '',
    "DocumentRoot docs\n",
    "HttpProtocolOptions Unsafe LenientMethods Allow0.9\n",
    "AdmissionQueue 10\n",
    section('Directory docs/ways', 'AllowOverride All', 'AddType text/plain .txt',
        'Options +MultiViews +Includes', 'AddOutputFilter INCLUDES .shtml'),
    section('Directory docs/front', 'FallbackResource /app/static.txt'),
    location('/', 'MaxConcurrent 1', 'AdmissionZone z'),
    location('/server-status', 'MaxConcurrent off'),
    location('/server-info', 'SetHandler server-info'),
    location('/app/declined', 'SetHandler no-such'),
    zone_of('/cgi-bin/prefix/', 'prefix', 'no-such cgi-*'),
    zone_of('/cgi-bin/other/', 'other', 'no-such cgi- script'),
    zone_of('/by-name/', 'info', 'server-info', 'SetHandler server-info');

sub zone_of {
    my ($path, $zone, $handlers, @more) = @_;
    return location($path, 'MaxConcurrent 1', "AdmissionZone $zone", "AdmissionHandlers $handlers",
                    @more);
}

sub conf_in { my ($httpd, $first) = @_; return $first . $conf =~ s{docs}{$httpd->{dir}/docs}gr }

# [method, URL, status]: free of charge whatever modules there are.
my @free = ((map { [ GET => $_, 200 ] } qw(/static.txt /app/static.txt /ways/page.txt /ways/page
                                           /front/x /server-status /server-info /script.txt)),
            [ HEAD => '/app/by-type.html', 200 ], [ GET => '/app', 301 ], [ OPTIONS => '*', 200 ],
            [ TRACE => '/app/x', 200 ]);
my @page = ([ GET => '/program.html', 200 ]);

# ... free where httpd alone can answer.
my @own = ((map { [ $_ => '/none/no-such-file', 404 ] } qw(GET POST)), [ GET => '/none/list/', 200 ],
           (map { [ $_ => '/none/static.txt', 405 ] } qw(PUT DELETE)), [ PROPFIND => '/none/x', 405 ],
           [ GET => '/none/static.txt/more', 404 ], [ OPTIONS => '/none/x', 200 ]);

# What the module serves.
my @served = ((map { [ GET => $_ ] } qw(/app/x /app/ /app/list/ /app/static.txt/more)),
              [ POST => '/app/x' ], [ PUT => '/app/static.txt/x' ], [ DELETE => '/app/x.html' ],
              [ OPTIONS => '/app/x' ]);

sub answers_of {
    my ($httpd, $what, $counted, @requests) = @_;
    for (@requests) {
        my ($method, $url, $status, $zone) = @$_;
        my $admitted = $httpd->zone($zone // 'z')->{Admitted};
        is $httpd->get($url, method => $method)->{status}, $status // 200, "$what: $method $url";
        $httpd->zone_becomes($zone // 'z', $counted ? '... counts' : '... does not count',
                             Active => 0, Admitted => $admitted + $counted);
    }
}

# What is loaded or set, and stories for answers_of(). Only the last one warns.
my @servers = (
    [ "${load}AdmissionHandlers Dynamic\n", [ 'dynamic', 1, $served[0], [ GET => '/cgi-bin/x' ] ],
      [ 'not dynamic', 0, [ GET => '/static.txt' ] ] ],
    [ "${load}AdmissionHandlers All\n",
      [ 'all', 1, $served[0], map { [ GET => $_ ] } qw(/app/static.txt?take /static.txt /cgi-bin/x) ] ],
    [ '', [ 'httpd alone', 0, @free, @page, @own, [ GET => '/app/x', 404 ], [ GET => '/app/' ],
        [ GET => '/' ] ],
      [ 'a program', 1, [ GET => '/cgi-bin/x' ] ],
      [ 'a handler that is named', 1, [ GET => '/by-name/', 200, 'info' ],
        [ GET => '/cgi-bin/prefix/x', 200, 'prefix' ] ],
      [ 'other names, and parts of the name', 0, [ GET => '/cgi-bin/other/x', 200, 'other' ] ] ],
    # Subversion's module, of which only POST requests have no name.
    [ $load_svn, [ 'Subversion', 1, [ POST => '/svn/r/!svn/me' ], [ POST => '/none/none', 404 ] ],
      [ 'next to Subversion', 0, @free, [ POST => '/static.txt' ], grep { $_->[0] ne 'POST' } @own ] ],
    [ $load_php, [ 'PHP', 1, @page ], [ 'next to PHP', 0, @free ] ],
    [ $load, [ 'served', 1, @served ], [ 'a file or no handler', 0, @free ],
      [ 'known only afterwards', 1, @own ],
      [ 'an existing file that it takes', 0, [ GET => '/app/static.txt?take' ] ] ],
);

for_each_combo(sub {
    my $httpd = site(new_httpd(modules => ['negotiation']));
    for (@servers) {
        my ($first, @stories) = @$_;
        $httpd->configure(conf_in($httpd, $first));
        $httpd->expect_in_log($warning) if $first eq $load;
        $httpd->start;
        answers_of($httpd, @$_) for @stories;
        is $httpd->get('/program.html')->{body}, "run by PHP\n", 'PHP runs it' if $first eq $load_php;
        $httpd->stop if $first ne $load;
    }
    is scalar(grep { /ADM0153/ } $httpd->error_log), 1, 'a warning, once';
    is(($httpd->configtest)[1] =~ $warning, 1, '... also by configtest');
    like $httpd->get('/ways/part.shtml')->{body}, qr/served GET/, 'a part of a page';

    my @asked = $httpd->ask("/app/x?$httpd->{dir}/heavy/go");
    $httpd->zone_becomes('z', 'one runs', Active => 1, Queued => 0);
    push @asked, $httpd->ask('/app/'), $httpd->ask('/none/no-such-file');
    $httpd->zone_becomes('z', 'a directory and a 404 wait', Active => 1, Queued => 2);
    is $httpd->get('/app/static.txt')->{body}, "file\n", 'a file does not';
    $httpd->open_gate('go');
    is_deeply [ map { $_->{status} } answers(@asked) ], [ 200, 200, 404 ], 'all get their response';

    # httpd's own handler, the last of all, takes everything but OPTIONS of a client that does
    # not say its version.
    $httpd->expect_in_log(qr/ADM0205: handler "no-such" not found/);
    $httpd->connect->send("OPTIONS /app/declined?decline\r\n")->answer;
    $httpd->access_log_becomes('a request that no handler takes is an error, and had a permit',
                               qr{^500 /app/declined.* zone=z status=admitted }, 1);
    is scalar(grep { /answers:notice.* asked/ } $httpd->error_log), 1, '... handlers were asked once';
}, 'prefork+cgi', 'event+cgid');

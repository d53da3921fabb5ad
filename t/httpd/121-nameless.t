# A module that serves in its handler hook, without a handler's name: what it may serve
# counts, existing files and httpd's own answers do not. PHP in the server runs executable
# pages as programs where .htaccess says so. To httpd these are files.

use AdmissionTest;
use Admission::Program qw(build_module);

my $load = 'LoadModule nameless_module ' . build_module('mod_nameless') . "\n";
my $load_svn = 'LoadModule dav_svn_module ' . build_module('mod_dav_svn') . "\n";
my $load_php = 'LoadModule php_module ' . build_module('mod_php') . "\n";
my $warning = qr/ADM0153: zone z \(\S+admission\.conf:\d+\): mod_nameless\.c might serve /;

sub site {
    my ($httpd) = @_;
    mkdir "$httpd->{dir}/docs/$_" for qw(app app/list none none/list ways front);
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
    section('Directory docs/ways', 'AllowOverride All', 'AddType text/plain .txt',
        'Options +MultiViews +Includes', 'AddOutputFilter INCLUDES .shtml'),
    section('Directory docs/front', 'FallbackResource /app/static.txt'),
    location('/', 'MaxConcurrent 1', 'AdmissionQueue 10', 'AdmissionZone z'),
    location('/server-status', 'MaxConcurrent off');

sub conf_in { my ($httpd, $first) = @_; return $first . $conf =~ s{docs}{$httpd->{dir}/docs}gr }

# [method, URL, status]: free of charge whatever modules there are.
my @free = ([ GET => '/static.txt', 200 ], [ GET => '/app/static.txt', 200 ], [ HEAD => '/app/by-type.html', 200 ],
            [ GET => '/ways/page.txt', 200 ], [ GET => '/ways/page', 200 ], [ GET => '/app', 301 ], [ OPTIONS => '*', 200 ],
            [ TRACE => '/app/x', 200 ], [ GET => '/front/x', 200 ], [ GET => '/server-status', 200 ], [ GET => '/script.txt', 200 ]);
my @page = ([ GET => '/program.html', 200 ]);

# ... free where httpd alone can answer.
my @own = ([ GET => '/none/no-such-file', 404 ], [ GET => '/none/list/', 200 ], [ POST => '/none/no-such-file', 404 ],
           [ PUT => '/none/static.txt', 405 ], [ DELETE => '/none/static.txt', 405 ], [ PROPFIND => '/none/x', 405 ],
           [ GET => '/none/static.txt/more', 404 ], [ OPTIONS => '/none/x', 200 ]);

# What the module serves.
my @served = ([ GET => '/app/x' ], [ GET => '/app/' ], [ GET => '/app/list/' ], [ POST => '/app/x' ], [ PUT => '/app/static.txt/x' ],
              [ DELETE => '/app/x.html' ], [ GET => '/app/static.txt/more' ], [ OPTIONS => '/app/x' ]);

sub answers_of {
    my ($httpd, $what, $counted, @requests) = @_;
    my $admitted = $httpd->zone('z')->{Admitted};
    for (@requests) {
        my ($method, $url, $status) = @$_;
        is $httpd->get($url, method => $method)->{status}, $status // 200, "$what: $method $url";
        $admitted += $counted;
        $httpd->zone_becomes('z', $counted ? '... counts' : '... does not count', Active => 0, Admitted => $admitted);
    }
}

for_each_combo(sub {
    my $httpd = site(new_httpd(modules => ['negotiation']));
    $httpd->configure(conf_in($httpd, $load));
    $httpd->expect_in_log($warning);
    $httpd->start;
    is scalar(grep { /ADM0153/ } $httpd->error_log), 1, 'a warning, once';
    is(($httpd->configtest)[1] =~ $warning, 1, '... also by configtest');

    answers_of($httpd, 'served', 1, @served);
    answers_of($httpd, 'a file or no handler', 0, @free);
    answers_of($httpd, 'known only afterwards', 1, @own);
    like $httpd->get('/ways/part.shtml')->{body}, qr/served GET/, 'a part of a page';
    answers_of($httpd, 'an existing file that it takes', 0, [ GET => '/app/static.txt?take' ]);

    my $gate = "$httpd->{dir}/heavy/go";
    my @asked = $httpd->ask("/app/x?$gate");
    $httpd->zone_becomes('z', 'one runs', Active => 1, Queued => 0);
    push @asked, $httpd->ask('/app/'), $httpd->ask('/none/no-such-file');
    $httpd->zone_becomes('z', 'a directory and a 404 wait', Active => 1, Queued => 2);
    is $httpd->get('/app/static.txt')->{body}, "file\n", 'a file does not';
    $httpd->open_gate('go');
    is_deeply [ map { $_->{status} } answers(@asked) ], [ 200, 200, 404 ], 'all requests get their response';
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

# What is loaded or set, and stories for answers_of().
my @servers = (
    [ "${load}AdmissionHandlers dynamic\n", [ 'AdmissionHandlers dynamic', 1, $served[0] ] ],
    [ "${load}AdmissionHandlers all\n", [ 'AdmissionHandlers all', 1, [ GET => '/app/static.txt?take' ], $served[0] ] ],
    [ '', [ 'httpd alone', 0, @free, @page, @own, [ GET => '/app/x', 404 ], [ GET => '/app/', 200 ] ] ],
    # Subversion's module, of which only POST requests have no name.
    [ $load_svn, [ 'Subversion', 1, [ POST => '/svn/r/!svn/me' ], [ POST => '/none/no-such-file', 404 ] ],
      [ 'next to Subversion', 0, @free, [ POST => '/static.txt' ], grep { $_->[0] ne 'POST' } @own ] ],
    [ $load_php, [ 'PHP', 1, @page ], [ 'next to PHP', 0, @free ] ],
);

for_each_combo(sub {
    my $httpd = site(new_httpd(modules => ['negotiation']));
    for (@servers) {
        my ($first, @stories) = @$_;
        $httpd->configure(conf_in($httpd, $first));
        $httpd->start;
        answers_of($httpd, @$_) for @stories;
        is $httpd->get('/program.html')->{body}, "run by PHP\n", 'PHP runs the page' if $first eq $load_php;
        $httpd->stop;
    }
}, 'prefork+cgi', 'event+cgid');

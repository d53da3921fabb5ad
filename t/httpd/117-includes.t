# Programs that pages of mod_include start count: the page does, however the
# filter came to it, where Options allow exec. Pages that may not exec are files.

use AdmissionTest;
use Admission::Config;

needs_modules(qw(include filter negotiation));

my $deflate = Admission::Config::is_installed('deflate')
    ? "AddOutputFilterByType DEFLATE text/html\n" : '';

# Directory => its .htaccess; in each is page.html, which starts a program.
my %page = (
    add_filter  => 'AddOutputFilter INCLUDES .html',
    set_filter  => 'SetOutputFilter INCLUDES',
    by_type     => 'AddOutputFilterByType INCLUDES text/html',
    provider    => "FilterProvider x INCLUDES \"true\"\nFilterChain x",
    disguised   => "FilterProvider BYTYPE:DEFLATE INCLUDES \"true\"\nFilterChain BYTYPE:DEFLATE",
    handler     => 'AddHandler server-parsed .html',
    rule        => "RewriteEngine On\nRewriteRule html\$ - [H=server-parsed]",
    xbit        => 'XBitHack On',
    xbit_full   => "XBitHack Full\nSSIETag On\nSSILastModified On",
    no_redirect => "AddHandler redirect-handler .html\nSetOutputFilter INCLUDES",
    as_status   => "SetHandler server-status\nSetOutputFilter INCLUDES",
);
# What only looks like one, or may not start anything.
my %file = (
    noexec   => "Options -Includes +IncludesNOEXEC\nSetOutputFilter INCLUDES",
    none     => "Options -Includes\nSetOutputFilter INCLUDES",
    xbit_off => 'XBitHack Off',
    plain    => '',
);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = new_httpd(modules => [qw(filter deflate negotiation)]);
    my $exec  = qq(<!--#exec cmd="HEAVY_DIR=$httpd->{dir}/heavy $httpd->{dir}/cgi/heavy" -->\n);

    $httpd->configure(join '',
        section("Directory $httpd->{dir}/docs", 'AllowOverride All'),
        "$deflate\n",
        location('/', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionZone z'),
        location('/server-status', 'MaxConcurrent off'));
    my $put = sub {
        my ($dir, $htaccess, $page) = @_;
        mkdir "$httpd->{dir}/docs/$dir";
        $httpd->put("$dir/.htaccess", "$htaccess\n");
        $httpd->put("$dir/page.html", $page);
        chmod 0775, "$httpd->{dir}/docs/$dir/page.html" if $dir =~ /xbit/;
    };
    $put->($_, $page{$_}, "page $exec") for keys %page;
    $put->($_, $file{$_}, "a file\n") for keys %file;
    # A page that may not exec, which includes one of another directory that may.
    $put->('outer', $file{noexec}, qq(outer <!--#include file="inner/page.html" -->\n));
    $put->('outer/inner', "Options +Includes\n$page{set_filter}", "page $exec");
    # A page inside its map.
    $put->('map', "AddHandler type-map .html\nSetOutputFilter INCLUDES",
           "URI: page\nContent-Language: en\nContent-type: text/html\nBody:----x\n"
           . "page $exec\n----x\n");
    $httpd->expect_rejections('z', 'full')
          ->expect_in_log(qr/include:warn.*AH01374/,     # "none" removes the filter
                          qr/include:error.*unable to include.*503/);
    $httpd->start;

    my $all_count = sub {
        my ($when) = @_;
        my $hold = $httpd->ask('/add_filter/page.html?until=go');
        $httpd->zone_becomes('z', "$when, the program of a page counts", Active => 1);
        is_deeply [ grep { $httpd->get("/$_/page.html")->{status} != 503 }
                    sort(keys %page), 'map' ], [],
            'the other pages that start programs are rejected';
        is_deeply [ grep { $httpd->get("/$_/page.html")->{status} != 200 } sort keys %file ], [],
            'what is sent like a file is served';
        is $httpd->get('/static.txt')->{status}, 200, 'so are files';
        unlike $httpd->get('/outer/page.html')->{body}, qr/heavy/,
            'what is included from another directory counts';
        $httpd->open_gate('go');
        like $hold->answer->{body}, qr/^page .*heavy/s, 'the running request gets its response';
        $httpd->zone_becomes('z', 'and gives its permit back', Active => 0);
    };

    $all_count->('at first');
    for (grep { $_ ne 'as_status' } sort(keys %page), 'map') {
        like $httpd->get("/$_/page.html")->{body}, qr/page .*heavy/s, "$_: the page starts it";
        $httpd->zone_becomes('z', 'and it has ended', Active => 0);
    }
    like $httpd->get('/outer/page.html')->{body}, qr/outer page .*heavy/s, '... and runs'
        if $combo->{mpm} eq 'prefork';
    unlink "$httpd->{dir}/heavy/go";
    $httpd->graceful;
    $all_count->('after a reload');
}, 'prefork+cgi', 'event+cgid');

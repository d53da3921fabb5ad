# Programs that pages of mod_include start count: the page does, however the
# filter came to it, where Options allow exec. Pages that may not exec are files.

use AdmissionTest;

needs_modules(qw(include filter negotiation));

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

for_each_combo(sub ($combo) {
    my $httpd = new_httpd(modules => [qw(filter deflate negotiation)]);
    my $exec  = qq(<!--#exec cmd="HEAVY_DIR=$httpd->{dir}/heavy $httpd->{dir}/cgi/heavy" -->\n);

    $httpd->configure(join '',
        section("Directory $httpd->{dir}/docs", 'AllowOverride All'),
        section('IfModule mod_deflate.c', 'AddOutputFilterByType DEFLATE text/html'),
        location('/', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionZone z'),
        location('/server-status', 'MaxConcurrent off'));
    my $put = sub {
        my ($dir, $htaccess, $page) = @_;
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

    my $hold = $httpd->ask('/add_filter/page.html?until=go');
    $httpd->zone_becomes('z', 'the program of a page runs with a permit', Active => 1);
    is $httpd->get('/by_type/page.html')->{status}, 503, '... so another page is rejected';
    unlike $httpd->get('/outer/page.html')->{body}, qr/heavy/, '... and one inside a page';
    $httpd->serves('go', 'the running request gets its response', $hold);
    $httpd->zone_becomes('z', '... and its permit is released', Active => 0);

    my @all = (sort(keys %page, keys %file), 'map', $combo->{mpm} eq 'prefork' ? 'outer' : ());
    my %is_like = ((map { $_ => exists $file{$_} ? qr/^a file$/m : qr/page .*heavy/s } @all),
                   as_status => qr/Apache Server Status/, outer => qr/outer page .*heavy/s);
    my $admitted = 1;
    for my $when ('at first', 'after a reload') {
        for my $dir (@all) {
            my $counts = !exists $file{$dir};
            like $httpd->get("/$dir/page.html")->{body}, $is_like{$dir}, "$when, $dir: the page";
            $httpd->zone_becomes('z', $counts ? '... counts' : '... does not count',
                                 Active => 0, Admitted => $admitted += $counts);
        }
        $httpd->graceful;
    }
}, 'prefork+cgi', 'event+cgid');

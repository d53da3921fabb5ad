# The URL that the client asked for decides, however httpd gets from there to what
# serves it: the <Location> sections of that URL are merged last.

use AdmissionTest;
use AdmissionTest::Backend;

my $RULES = <<'CONF';
    RewriteEngine On
    RewriteCond %{REQUEST_FILENAME} !-f
    RewriteRule . /index.php [L]
CONF

# Each is a virtual host in which /search is limited to 1, with no queue.
my %ways = (
    'rules in <Directory>' => { directory => $RULES },
    'rules in .htaccess'   => { htaccess => $RULES },
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
    'FallbackResource in <Directory>' => { directory => 'FallbackResource /index.php' },
    'FallbackResource in .htaccess'   => { htaccess => 'FallbackResource /index.php' },
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

sub limited {
    my ($way, $zone) = @_;
    my @said = ('MaxConcurrent 1', "AdmissionZone $zone", 'AdmissionQueue 0', 'AdmissionReject 429');

    @said = section($way->{inside}, @said) if $way->{inside};
    return section($way->{section} // 'Location ~ "^/search"', @said);
}

sub host_of { return lc($_[0] =~ s/\W+/-/gr =~ s/-\z//r) . '.example' }

sub make_host {
    my ($httpd, $name, $way, $backend) = @_;
    my $host = host_of($name);
    my $dir = "$httpd->{dir}/docs/$host";

    mkdir $dir;
    mkdir "$dir/search" if ($way->{url} // '') eq '/search/';
    $httpd->put("$host/static.txt", "static\n");
    $httpd->put("$host/search-static.txt", "static\n");
    $httpd->put_heavy("$host/index.php");
    for my $file (@{ $way->{files} // [] }) {
        $file =~ /php$/ ? $httpd->put_heavy("$host/$file") : $httpd->put("$host/$file", '');
    }
    $httpd->put("$host/search.var", "URI: index.php\nContent-Type: text/html\n") if $name eq 'a type map';
    $httpd->put("$host/.htaccess", $way->{htaccess} =~ s/BACKEND/$backend/r) if $way->{htaccess};
    return virtual_host($host, "DocumentRoot $dir",
        section("Directory $dir", 'AllowOverride All', 'AddHandler cgi-script .php', $way->{directory} // ''),
        $way->{host} // '', limited($way, $host));
}

for_each_combo(sub {
    my $httpd = new_httpd(workers => 60,
                          modules => [qw(negotiation proxy proxy_http)]);
    my (undef, $port) = start_backend(answers_at_gate($httpd));

    $httpd->configure(join '', virtual_host('test.example'),
                      map { make_host($httpd, $_, $ways{$_}, $port) } sort keys %ways);
    $httpd->expect_rejections(host_of($_), 'full') for sort keys %ways;
    $httpd->start;
    for my $name (sort keys %ways) {
        my $way = $ways{$name};
        my $url = $way->{url} // '/search';
        my $zone = host_of($name);
        my @to = (host => $zone);
        my $gate = "go-$zone";

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
}, 'prefork+cgi', 'event+cgid');

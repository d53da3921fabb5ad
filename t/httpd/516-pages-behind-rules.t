# Rewrite rules of a site that take every URL, as those of WordPress, do not hide the
# pages of the module. Those of httpd they do: that is httpd's way.

use AdmissionTest;

my $RULES = <<'CONF';
RewriteEngine On
RewriteBase /
RewriteRule ^index\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
CONF

my %controllers = (
    'rules in .htaccess'             => { htaccess => $RULES },
    'rules of WordPress in a server' => { host => "RewriteEngine On\nRewriteCond \%{DOCUMENT_ROOT}\%{REQUEST_FILENAME} !-f\nRewriteRule ^ /index.php\n" },
    'FallbackResource'               => { htaccess => "FallbackResource /index.php\n" },
);

for_each_combo(sub {
    for my $name (sort keys %controllers) {
        my $site = $controllers{$name};
        my $httpd = new_httpd();

        $httpd->configure("MaxConcurrent 1\nAdmissionZone site\nAdmissionQueue 0\n"
            . section("Directory $httpd->{dir}/docs", 'AllowOverride All', 'AddHandler cgi-script .php')
            . location('/admission-status', 'SetHandler admission-status')
            . location('/admission-control', 'SetHandler admission-control')
            . location('/closed', 'SetHandler admission-status', 'Require all denied')
            . ($site->{host} // ''));
        $httpd->put('.htaccess', $site->{htaccess}) if $site->{htaccess};
        $httpd->put_heavy('index.php');
        $httpd->expect_in_log(qr/AH01630: /);
        $httpd->start;
        like $httpd->get('/a/post?id=post')->{body}, qr/heavy post/, "$name: a post";

        # While the site is full: that is when the page is wanted.
        my $held = $httpd->ask('/a/post?until=go');
        $httpd->soon(sub { $httpd->get('/admission-status?json')->{body} =~ /"active":\s*1\b/ });
        my $json = $httpd->get('/admission-status?json');
        is $json->{status}, 200, '... the page is there';
        like $json->{body}, qr/"name":\s*"site"/, '... with the zone';
        is $httpd->order('/admission-control', 'zone=site&limit=2')->{status}, 200, '... and takes orders';
        is $httpd->get('/closed')->{status}, 403, '... where it is allowed';
        $httpd->serves('go', '... the site goes on', $held);
        $httpd->stop;
    }
}, 'prefork+cgi', 'event+cgid');

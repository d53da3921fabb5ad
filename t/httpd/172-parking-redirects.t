# Who is led to a program by a redirect inside httpd waits like one who asked for
# it: parked, on the sizes that distributions ship. WordPress' rules in .htaccess, and
# an Action.

use AdmissionTest;
use AdmissionTest::Parking;
use AdmissionTest::Zone;

my ($limit, $clients) = (2, 150);
my $parked = $clients - $limit;

sub put_wordpress {
    my ($httpd) = @_;

    $httpd->put('.htaccess', <<'CONF');
<IfModule mod_rewrite.c>
RewriteEngine On
RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]
RewriteBase /
# As Symfony has it.
RewriteCond %{ENV:REDIRECT_STATUS} =""
RewriteRule ^index\.php(?:/|$) /moved [R=301,L]
RewriteRule ^index\.php$ - [L]
RewriteRule ^server-status - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
</IfModule>
Action application/x-script /cgi-bin/php
AddType application/x-script .script
CONF
    $httpd->put_heavy('index.php');
    $httpd->put('page.script', '');
    $httpd->put('static.html', "plain\n");
}

# url => [its zone, how its answer looks]
my %led = (
    '/2026/hello-world/' => [ 'wordpress', 'of .htaccess' ],
    '/shop/cart'         => [ 'shop',      'of .htaccess, by its own URL' ],
    '/page.script'       => [ 'action',    'of an Action' ],
);

for_each_parking_combo(sub {
    my $httpd = new_httpd(workers => 150);

    $httpd->configure(stock_conf() . join '',
        section("Directory $httpd->{dir}/docs", 'AllowOverride FileInfo', 'AddHandler cgi-script .php'),
        "AdmissionQueue $parked timeout=300s\n",
        location('/index.php', "MaxConcurrent $limit", 'AdmissionZone wordpress'),
        location('/shop', "MaxConcurrent $limit", 'AdmissionZone shop'),
        location('/cgi-bin/php', "MaxConcurrent $limit", 'AdmissionZone action'));
    put_wordpress($httpd);
    $httpd->start;
    my $watch = $httpd->watch;

    for my $url (sort keys %led) {
        my ($zone, $what) = @{ $led{$url} };
        is $httpd->get('/static.html')->{body}, "plain\n", "a file beside the target $what";
        like $httpd->get("$url?id=one-$zone")->{body}, qr/heavy one-$zone/, 'it runs';
        $httpd->is_noted("one-$zone", code => 200, zone => $zone, status => 'admitted', wait => 0, queued => 0);
        # It is logged before its permit comes back, for which the second one would wait.
        $httpd->zone_becomes($zone, '... that it gives back', Active => 0, Queued => 0);

        my @clients = map { $httpd->ask("$url?id=$zone-$_&until=$zone",
                                        $_ % 2 ? (method => 'POST', body => "x=$_") : ()) }
                      1 .. $clients;
        $httpd->zone_becomes($zone, "$clients at the target $what: all are in",
                             Active => $limit, Queued => $parked, RejectedReserve => 0,
                             RejectedParking => 0, RejectedFull => 0);
        server_becomes($httpd, '... and hold no worker', AdmissionParked => $parked,
                       AdmissionBlocked => 0);
        is $httpd->get('/static.html')->{body}, "plain\n", '... nor hinder a file';
        $httpd->serves($zone, 'all requests get their response', @clients);
        $httpd->zone_becomes($zone, '... and counted once', Active => 0, Queued => 0,
                             Admitted => $clients + 1, AdmittedAfterWait => $parked);
        $httpd->access_log_becomes('the log has one outcome of each',
                                   qr/id=$zone-\d.* zone=$zone status=queued /, $parked);
    }
    is $watch->most, $limit, 'no more programs ran than the limit';
}, 'event+cgid', 'event+cgi');

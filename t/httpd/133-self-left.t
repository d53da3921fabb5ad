# Clients leave while a server asks itself: what goes on behind mod_proxy, which
# leaves as well, keeps the permit. Its programs ignore that nobody reads them.

use AdmissionTest;
use Admission::Crowd;

needs_modules(qw(proxy proxy_http include));

my $limit = 2;

for_each_combo(sub {
    my $httpd = new_httpd(workers => 60, modules => [qw(proxy proxy_http)]);
    my $to = 'http://127.0.0.1:%{SERVER_PORT}';

    $httpd->configure(<<"CONF" . join '',
MaxConcurrent $limit
AdmissionZone all
AdmissionQueue 50 timeout=20s
AdmissionReserve 1
UseCanonicalPhysicalPort On
RewriteEngine On
RewriteRule ^/a/(.*) $to/cgi-bin/\$1 [P]
RewriteRule ^/b/(.*) $to/a/\$1 [P]
CONF
        section('Files page.html', 'SetOutputFilter INCLUDES'));
    $httpd->put('page.html', qq(<!--#include virtual="/a/heavy?id=part" -->\n));
    # Whoever is gone has a backend that does not answer.
    $httpd->allow_in_log(Admission::Crowd::casualties(), qr/\[proxy(?:_http)?:error\]/,
                         qr/\[include:error\]/);
    $httpd->start;

    my $watch = $httpd->watch;
    my $crowd = crowd_at($httpd, clients => 12, patience => 0.4,
                         paths => [ map { "/$_/heavy?ignore=1&stream=1&until=never" } qw(a b) ]);
    # httpd needs three seconds to end a program that ignores it, and a moment more.
    wait_for { $limit < grep { /^start / } $httpd->record } 'some run in the place of others';
    my $seen = $crowd->go_home;
    cmp_ok $seen->{left}, '>', 40, "clients left: $seen->{left}";
    wait_for { !$httpd->live_programs_now } 'all programs end';
    cmp_ok $watch->most, '<=', $limit, "there were never more than $limit programs";
    $httpd->zone_becomes('all', 'no request is counted that does not exist', Active => 0, Queued => 0);

    like $httpd->get('/page.html')->{body}, qr/heavy/, 'a part of a page takes a free permit';
    my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=go');
    $httpd->zone_becomes('all', 'one permit is taken', Active => 1);
    unlike $httpd->get('/page.html')->{body}, qr/heavy/,
        '... and does not wait for the one that its page holds';
    $httpd->serves('go', 'the running request gets its response', $hold);
});

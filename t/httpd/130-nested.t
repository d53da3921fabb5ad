# Requests inside requests, at limit 1: none may wait for itself, or for one
# that waits for it.

use AdmissionTest;

my $include = '<!--#include virtual="/cgi-bin/%s/x?id=%s" -->';

# url => [what its answer must show, does it wait while zone a is full]
my %nested = (
    '/pages/two.shtml'    => [ qr/heavy one.*heavy two/s, 1 ],
    '/pages/other.shtml'  => [ qr/heavy other/,           0 ],
    '/counted/two.shtml'  => [ qr/heavy one.*heavy two/s, 1 ],
    '/free.shtml'         => [ qr/heavy free/,            1 ],
    '/dir/'               => [ qr/heavy/,                 1 ],
    '/rewritten'          => [ qr/heavy/,                 1 ],
    '/pages/rewritten'    => [ qr/heavy/,                 1 ],
    '/pages/x.action'     => [ qr/heavy/,                 1 ],
    '/cgi-bin/a/x?loc=/cgi-bin/a/y?id=same'  => [ qr/heavy same/,  1 ],
    '/cgi-bin/a/x?loc=/cgi-bin/b/y?id=other' => [ qr/heavy other/, 1 ],
    '/cgi-bin/b/x?loc=/cgi-bin/a/y?id=back'  => [ qr/heavy back/,  1 ],
    '/cgi-bin/a/x?loc=/static.txt'           => [ qr/static/,      1 ],
);
my @waits = grep { $nested{$_}[1] } sort keys %nested;

for_each_combo(sub {
    my $httpd = new_httpd(workers => 32);

    $httpd->configure(<<"CONF" . join '',
ErrorDocument 503 /cgi-bin/a/error?id=error
DirectoryIndex index.cgi
AddOutputFilter INCLUDES .shtml
AddHandler run-action .action
Action run-action /cgi-bin/a/action
RewriteEngine On
RewriteRule ^/rewritten\$ /cgi-bin/a/x [PT]
AdmissionQueue ${\ scalar @waits} timeout=25s
CONF
        # Pages that may exec would count themselves, see 117-includes.t.
        section("Directory $httpd->{dir}/docs", 'Options -Includes +IncludesNOEXEC'),
        section("Directory $httpd->{dir}/docs/pages", 'RewriteEngine On',
            'RewriteRule ^rewritten$ /cgi-bin/a/x'),
        section('LocationMatch ^/(?:cgi-bin/a|pages|dir)/', 'MaxConcurrent 1', 'AdmissionZone a'),
        location('/counted/', 'MaxConcurrent 1', 'AdmissionZone a', 'AdmissionHandlers all'),
        location('/cgi-bin/b/', 'MaxConcurrent 1', 'AdmissionZone b'));
    mkdir "$httpd->{dir}/docs/$_" for qw(pages counted);
    $httpd->put("$_/two.shtml",
                sprintf("$include $include", 'a', 'one', 'a', 'two'))
        for qw(pages counted);
    $httpd->put('pages/other.shtml', sprintf $include, 'b', 'other');
    $httpd->put('free.shtml', sprintf $include, 'a', 'free');
    $httpd->put('pages/x.action', '');
    $httpd->put_heavy('dir/index.cgi');
    $httpd->expect_rejections('a', 'full');
    $httpd->start;

    my $at_rest = sub {
        my ($when) = @_;
        $httpd->zone_becomes($_, "$when, zone $_ is at rest", Active => 0, Queued => 0) for qw(a b);
    };

    for my $url (sort keys %nested) {
        $at_rest->('before the next');
        like $httpd->get($url)->{body}, $nested{$url}[0], "$url runs, nested";
    }
    $at_rest->('after each alone');

    my $hold = $httpd->ask('/cgi-bin/a/x?id=hold&until=go');
    $httpd->zone_becomes('a', 'zone a is full', Active => 1);
    my @waiting;
    for my $url (@waits) {
        push @waiting, $httpd->ask($url);
        $httpd->zone_becomes('a', "$url waits", Queued => scalar @waiting);
    }
    like $httpd->get('/pages/other.shtml')->{body}, qr/heavy other/,
        'a page of zone a that includes from zone b does not wait for a';
    my $rejected = $httpd->get('/cgi-bin/a/x');
    is $rejected->{status}, 503, 'an ErrorDocument in the full zone does not wait';
    unlike $rejected->{body}, qr/heavy error/, 'nor does it run beyond the limit';
    $httpd->zone_becomes('a', 'each rejected client counts once', Active => 1, RejectedFull => 1);

    $httpd->zone_becomes('b', 'zone b is at rest', Active => 0, Queued => 0);
    $httpd->serves('go', 'the running request gets its response', $hold);
    my @answers = answers(@waiting);
    like $answers[$_]{body}, $nested{ $waits[$_] }[0],
        "$waits[$_] waited, then ran"
        for 0 .. $#waits;
});

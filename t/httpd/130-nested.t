# Requests inside requests, and programs that lead on to another zone, at limit 1: none may wait
# for itself, or for one that waits for it.

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

my %other = (c => 'd', d => 'c');
my $crossing = join '', map {
    location("/cgi-bin/$_/", 'MaxConcurrent 1', "AdmissionZone $_",
             'AdmissionQueue 100 timeout=1h')
} sort keys %other;

# The most programs of a zone that were alive at once, by their own record.
sub most_of($zone, @record) {
    my ($now, $most) = (0, 0);

    for (@record) {
        my ($event) = /^(start|end) $zone-/ or next;
        $now += $event eq 'start' ? 1 : -1;
        $most = $now if $now > $most;
    }
    return $most;
}

# So many pairs of clients cross each other at the same time. The permit of a program that has
# ended is given back before its target waits.
sub all_cross($httpd, $pairs) {
    my $watch = $httpd->watch;
    my @clients = map {
        my $n = $_;
        map { $httpd->ask("/cgi-bin/$_/x?id=$_-first-$n&ms=5&loc=/cgi-bin/$other{$_}/y"
                          . "?id=$other{$_}-second-$n&ms=5") } sort keys %other;
    } 1 .. $pairs;

    is_deeply statuses(answers(@clients)), { 200 => 2 * $pairs },
        "$pairs pairs cross two zones both ways: every request is served";
    cmp_ok $watch->most, '<=', 2, '... no more programs than the two limits allow';
    for my $zone (sort keys %other) {
        cmp_ok most_of($zone, $httpd->record), '<=', 1, "... one of zone $zone";
        $httpd->zone_becomes($zone, '... which admitted each request once and rejected none',
                             Active => 0, Queued => 0, Admitted => 2 * $pairs, RejectedReserve => 0);
    }
}

for_each_combo(sub {
    my $httpd = new_httpd(workers => 32);

    $httpd->configure(<<"CONF" . join '', $crossing,
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
    $httpd->put("$_/two.shtml",
                sprintf("$include $include", 'a', 'one', 'a', 'two'))
        for qw(pages counted);
    $httpd->put('pages/other.shtml', sprintf $include, 'b', 'other');
    $httpd->put('free.shtml', sprintf $include, 'a', 'free');
    $httpd->put('pages/x.action', '');
    $httpd->put_heavy('dir/index.cgi');
    $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue
    $httpd->expect_rejections('a', 'full')->start;

    for my $url (sort keys %nested) {
        like $httpd->get($url)->{body}, $nested{$url}[0], "$url runs, nested";
        $httpd->zone_becomes($_, "... zone $_ is at rest", Active => 0, Queued => 0) for qw(a b);
    }

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
    all_cross($httpd, 8);
});

# So many that the threads of whole children block behind a redirect, while others of
# these children get permits and wait for a thread.
for_each_parking_combo(sub {
    all_cross(start_httpd(workers => 150, conf => stock_conf() . $crossing), 75);
});

# Of clients who want the same cacheable page at once only those run the program
# that need not wait. The others are answered from mod_cache.

use AdmissionTest;

my ($zone, $limit, $clients) = ('/cgi-bin/', 1, 12);
my @servers = (
    # configuration, request, how many run the program
    [ '', [], $limit ],
    [ "CacheLock On\nCacheLockPath cache/locks\n", [], $limit ],
    # POST is not answered from a cache, and CacheQuickHandler Off asks it once.
    [ '', [ method => 'POST', body => 'x' ], $clients ],
    [ "CacheQuickHandler Off\n", [], $clients ],
);

for_each_combo(sub {
    needs_modules(qw(cache cache_disk));
    for (@servers) {
        my ($more, $request, $runs) = @$_;
        note "$more @$request";
        my $httpd = new_httpd(modules => [qw(cache cache_disk)]);
        $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue
        mkdir "$httpd->{dir}/cache";
        chmod 0777, "$httpd->{dir}/cache";
        $httpd->configure(<<"CONF" . location($zone, "MaxConcurrent $limit", 'AdmissionQueue 50'));
CacheRoot $httpd->{dir}/cache
CacheEnable disk /cgi-bin/
CacheIgnoreQueryString On
CacheIgnoreNoLastMod On
CacheDefaultExpire 60
$more
CONF
        $httpd->start;

        my $ask = sub { $httpd->ask("${zone}page?id=$_[0]&until=go", @$request) };
        my @asked = map { $ask->("first$_") } 1 .. $limit;
        $httpd->zone_becomes($zone, 'the first ones run', Active => $limit);
        push @asked, map { $ask->("other$_") } 1 .. $clients - $limit;
        $httpd->zone_becomes($zone, 'the others wait', Queued => $clients - $limit);
        $httpd->open_gate('go');
        my @answers = answers(@asked);
        is_deeply statuses(@answers), { 200 => $clients }, 'all requests get their response';
        $httpd->zone_becomes($zone, 'no permit is left', Active => 0, Queued => 0,
                             Admitted => $clients, AdmittedAfterWait => $clients - $limit);
        is scalar(grep { /^start/ } $httpd->record), $runs, "the program ran as often as expected";
        is scalar(grep { length $_->{body} } @answers), $clients, 'all got a page';
        is scalar(grep { defined $_->{headers}{age} } @answers), $clients - $runs,
            'those that did not run it got one with an age';
        is $httpd->logged('other3')->{status}, 'queued', 'the access log shows that it waited';
        $httpd->stop;
    }
}, 'event+cgid', 'prefork+cgi');

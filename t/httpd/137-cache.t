# Of clients who want the same cacheable page at once only those run the program
# that need not wait. The others are answered from mod_cache.

use AdmissionTest;

my ($limit, $clients) = (1, 12);

sub start_caching {
    my ($more) = @_;
    my $httpd = new_httpd(modules => [qw(cache cache_disk)]);
    $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue

    mkdir "$httpd->{dir}/cache";
    chmod 0777, "$httpd->{dir}/cache";
    $httpd->configure(<<"CONF" .
CacheRoot $httpd->{dir}/cache
CacheEnable disk /cgi-bin/
CacheIgnoreQueryString On
CacheIgnoreNoLastMod On
CacheDefaultExpire 60
$more
CONF
        location('/cgi-bin/', "MaxConcurrent $limit", 'AdmissionQueue 50'));
    return $httpd->start;
}

# Asks for one page in so many places at once. @return the answers.
sub ask_for_one_page {
    my ($httpd, %request) = @_;
    my @first = map { $httpd->ask("/cgi-bin/page?id=first$_&until=go", %request) } 1 .. $limit;

    $httpd->zone_becomes('/cgi-bin/', 'the first ones run', Active => $limit);
    my @others = map { $httpd->ask("/cgi-bin/page?id=other$_&until=go", %request) }
                     1 .. $clients - $limit;
    $httpd->zone_becomes('/cgi-bin/', 'the others wait', Queued => $clients - $limit);
    $httpd->open_gate('go');
    my @answers = answers(@first, @others);
    is_deeply statuses(@answers), { 200 => $clients }, 'all requests get their response';
    $httpd->zone_becomes('/cgi-bin/', 'no permit is left', Active => 0, Queued => 0,
                         Admitted => $clients, AdmittedAfterWait => $clients - $limit);
    return @answers;
}

sub runs { my ($httpd) = @_; return scalar grep { /^start (?:first|other)/ } $httpd->record }

for_each_combo(sub {
    needs_modules(qw(cache cache_disk));
    for my $lock ('', "CacheLock On\nCacheLockPath cache/locks\n") {
        my $httpd = start_caching($lock);
        my @answers = ask_for_one_page($httpd);
        is runs($httpd), $limit, 'the program ran as often as the limit'
            . ($lock ? ', also with CacheLock' : '');
        is scalar(grep { length $_->{body} } @answers), $clients, 'all got a page';
        is scalar(grep { defined $_->{headers}{age} } @answers), $clients - $limit,
            'waiting requests got one with an age';
        is $httpd->logged('other3')->{status}, 'queued', 'the access log shows that it waited';
        $httpd->stop;
    }

    # POST is not answered from a cache, and CacheQuickHandler Off asks it once.
    my $httpd = start_caching('');
    ask_for_one_page($httpd, method => 'POST', body => 'x');
    is runs($httpd), $clients, 'each POST runs the program';
    $httpd->stop;
    $httpd = start_caching('CacheQuickHandler Off');
    ask_for_one_page($httpd);
    is runs($httpd), $clients, 'and so does each request without the quick handler';
}, 'event+cgid', 'prefork+cgi');

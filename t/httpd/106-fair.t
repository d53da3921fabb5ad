# Where AdmissionFair tells requests apart keys take turns: who comes once is not
# served behind who comes often, and no key fills the queue.

use AdmissionTest;

my $waiters = 6;

sub key { my ($key) = @_; return headers => ["X-Key: $key"] }

# What ?json says of the keys of a zone, by name.
sub keys_of {
    my ($httpd, $zone) = @_;
    my ($it) = grep { $_->{name} =~ /\Q:$zone\E\z/ } @{ $httpd->json('/admission?json')->{zones} };
    return { map { $_->{name} => "$_->{held}+$_->{waiting}" } @{ $it->{keys} // [] } };
}

sub visitor_comes_second {
    my ($httpd) = @_;
    my @clients = $httpd->ask('/cgi-bin/heavy?id=crawler-0&until=turn', key('crawler'));

    $httpd->zone_becomes('/cgi-bin/', 'the crawler runs', Active => 1);
    for my $n (1 .. $waiters) {
        push @clients, $httpd->ask("/cgi-bin/heavy?id=crawler-$n&ms=5", key('crawler'));
        $httpd->zone_becomes('/cgi-bin/', "$n of its requests wait", Queued => $n);
    }
    push @clients, $httpd->ask('/cgi-bin/heavy?id=visitor&ms=5', key('visitor'));
    $httpd->zone_becomes('/cgi-bin/', 'a visitor comes last', Queued => $waiters + 1);
    is_deeply keys_of($httpd, '/cgi-bin/'), { crawler => "1+$waiters", visitor => '0+1' },
        'each key is shown';
    $httpd->serves('turn', 'all requests get their response', @clients);
    my @started = map { /^start (\S+)/ ? $1 : () } $httpd->record;
    is_in_order $httpd, '/cgi-bin/', \@started,
        [ 'crawler-0', 'visitor', map { "crawler-$_" } 1 .. $waiters ],
        'the visitor is next, the crawler is served in order';
    wait_for { !%{ keys_of($httpd, '/cgi-bin/') } } 'no key is left';
}

sub nobody_fills_the_queue {
    my ($httpd) = @_;
    my @clients = $httpd->ask('/cgi-bin/small/heavy?until=share', key('crawler'));

    $httpd->zone_becomes('/cgi-bin/small/', 'the crawler runs', Active => 1);
    push @clients, map { $httpd->ask('/cgi-bin/small/heavy', key('crawler')) } 1, 2;
    $httpd->zone_becomes('/cgi-bin/small/', 'it has half of the queue', Queued => 2);
    $httpd->expect_in_log(qr/ADM0202.*its key has no more slots in the queue/);
    my $rejected = $httpd->get('/cgi-bin/small/heavy', key('crawler'));
    is $rejected->{status}, 503, '... and not more';
    like $rejected->{headers}{'retry-after'}, qr/^\d+$/, '... with a Retry-After';
    push @clients, $httpd->ask('/cgi-bin/small/heavy', key('visitor'));
    $httpd->zone_becomes('/cgi-bin/small/', 'another key gets a queue slot', Queued => 3, RejectedShare => 1);
    $httpd->serves('share', 'requests in the queue were served', @clients);
}

sub no_key_holds_more_than_its_max {
    my ($httpd) = @_;
    my @clients = $httpd->ask('/cgi-bin/max/heavy?until=max', key('one'));

    $httpd->zone_becomes('/cgi-bin/max/', 'one runs', Active => 1);
    push @clients, $httpd->ask('/cgi-bin/max/heavy', key('one'));
    $httpd->zone_becomes('/cgi-bin/max/', 'its next one waits', Active => 1, Queued => 1);
    is $httpd->get('/cgi-bin/max/heavy', key('two'))->{status}, 200, 'another key runs';
    $httpd->zone_becomes('/cgi-bin/max/', 'the first key still waits', Active => 1, Queued => 1);
    $httpd->serves('max', 'and gets its response', @clients);
}

for_each_combo(sub {
    my $httpd = start_httpd(workers => 40, conf => join '',
        location('/admission', 'SetHandler admission-status'),
        qq(AdmissionFair "%{HTTP:X-Key}"\n),
        location('/cgi-bin/', 'MaxConcurrent 1'),
        location('/cgi-bin/small/', 'MaxConcurrent 1', 'AdmissionQueue 4'),
        location('/cgi-bin/max/', 'MaxConcurrent 3', 'AdmissionFair "%{HTTP:X-Key}" max=1'));
    $httpd->allow_in_log(qr/ADM0105/);    # its default queue where nobody is parked

    visitor_comes_second($httpd);
    nobody_fills_the_queue($httpd);
    no_key_holds_more_than_its_max($httpd);
});

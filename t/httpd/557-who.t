# ?json&who=ZONE and the page of a zone: which requests hold its permits and which wait, with
# their keys, priorities and costs; and what is shown of a dry run.

use AdmissionTest;

my ($ZONE, $KEYS, $DRY) = map { "test.example:/cgi-bin/$_" } '', 'keys/', 'keys/dry/';

sub who { my ($httpd, $zone) = @_; return @{ $httpd->json("/admission?json&who=$zone")->{zones}[0]{requests} } }

sub uris { return sort map { $_->{uri} } @_ }

sub from { return headers => [ map { "X-Key: $_" } @_ ] }

sub page { my ($httpd, $zone) = @_; return $httpd->get("/admission?zone=$zone")->{body} }

sub shows_keys_and_a_dry_run($httpd) {
    my @clients = $httpd->ask('/cgi-bin/keys/heavy?until=keys', from('<b>&'));
    $httpd->zone_becomes('/cgi-bin/keys/', 'a dear one runs', Active => 2);
    push @clients, $httpd->ask('/cgi-bin/keys/heavy?until=keys', from('a'));
    $httpd->zone_becomes('/cgi-bin/keys/', 'a cheap one runs', Active => 3);
    push @clients, $httpd->ask('/cgi-bin/keys/heavy', from('first'));
    $httpd->zone_becomes('/cgi-bin/keys/', 'one waits', Active => 3, Queued => 1);

    is_deeply [ sort map { join ' ', @{$_}{qw(state key priority cost)} } who($httpd, $KEYS) ],
        [ 'running <b>& normal 2', 'running a normal 1', 'waiting first high 1' ],
        'what they asked for';
    my $page = page($httpd, $KEYS);
    like $page, qr{<th scope="row">&lt;b&gt;&amp;</th><td>2</td><td>0</td>}, 'a key and its permits';
    like $page, qr{<th scope="row">first</th><td>0</td><td>1</td>}, 'a key that waits';
    like $page, qr{<td class="text">&lt;b&gt;&amp;</td><td class="text">2 permits</td>},
        'a request with two permits';
    like $page, qr{<td class="text">first</td><td class="text">high</td>}, 'who comes first';
    unlike $page, qr{<b>&}, 'a key is never markup';

    push @clients, map { $httpd->ask('/cgi-bin/keys/dry/heavy?until=keys', from('a')) } 1 .. 3;
    $httpd->zone_becomes('/cgi-bin/keys/dry/', 'a dry run lets all run', Active => 3);
    $page = page($httpd, $DRY);
    like $page, qr/With limit 1 and queue 1, of 3 requests 1 would have waited, \S+ m?s on average, /,
        'how many would have waited';
    like $page, qr/and 1 would have been rejected: full 1, late 0/, '... or been rejected';
    unlike $page, qr/Keys with the most/, 'it has no keys';
    $httpd->serves('keys', 'all are served', @clients);
}

for_each_combo(sub {
    my $conf = location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 10 timeout=300s')
        . location('/cgi-bin/keys/', 'MaxConcurrent 3', 'AdmissionQueue 5 timeout=300s', 'AdmissionFair "%{HTTP:X-Key}"',
                   q(AdmissionPriority high "%{HTTP:X-Key} == 'first'"),
                   'AdmissionCost 2 "%{HTTP:X-Key} =~ /b/"')
        . location('/cgi-bin/keys/dry/', 'MaxConcurrent 1', 'AdmissionQueue 1', 'AdmissionFair off',
                   'AdmissionDryRun On');
    my $httpd = start_httpd(conf => "ExtendedStatus On\n$conf");
    is_deeply [ who($httpd, $ZONE) ], [], 'no request at first';

    my $long = 'x' x 100;
    my @asked = map { $httpd->ask("/cgi-bin/heavy?until=go&n=$_") } 1 .. 2;
    $httpd->zone_becomes('/cgi-bin/', 'two run', Active => 2);
    push @asked, map { $httpd->ask("/cgi-bin/heavy?$_") }
        'q="<b>\\', "\xe4\xb8\xad$long", "caf\xe9", "%41$long", "a%00b";
    $httpd->zone_becomes('/cgi-bin/', 'and some wait', Active => 2, Queued => 5);

    wait_for { $httpd->live_programs_now == 2 && 2 == grep { $_->{pid} } who($httpd, $ZONE) }
        'the programs of running requests are known';
    my @all = who($httpd, $ZONE);
    my @running = grep { $_->{state} eq 'running' } @all;
    my @waiting = grep { $_->{state} eq 'waiting' } @all;
    is_deeply [ uris(@running) ], [ map { "/cgi-bin/heavy?until=go&n=$_" } 1, 2 ], 'who runs';
    is scalar @waiting, 5, 'who waits';
    is_deeply [ grep { $_->{client} ne '127.0.0.1' || $_->{host} ne 'test.example'
                       || $_->{method} ne 'GET' || $_->{ageMs} !~ /^\d+$/ } @all ], [],
        'client, host, method and age';
    my %uri = map { $_ => 1 } uris(@waiting);
    ok $uri{'/cgi-bin/heavy?q="<b>\\'}, 'markup and quotes are text';
    ok $uri{"/cgi-bin/heavy?caf\x{e9}"}, 'what is not UTF-8 is read as ISO-8859-1';
    ok $uri{'/cgi-bin/heavy?a%00b'}, 'an escape stays one';
    is_deeply [ sort { $a <=> $b } map { length } grep { /\.\.\.$/ } keys %uri ], [ 61, 63 ],
        'what is too long ends with dots';
    ok((grep { /^\/cgi-bin\/heavy\?\x{4e2d}x+\.\.\.$/ } keys %uri), '... in UTF-8');

    my @programs = grep { $_->{pid} } @running;
    is_deeply [ sort map { $_->{pid} } @programs ], [ sort $httpd->live_programs_now ],
        'the pids of the programs';
    is_deeply [ grep { $_->{rssKb} < 100 || $_->{cpuMs} < 0 } @programs ], [], 'what they use';
    is_deeply [ grep { $_->{pid} } @waiting ], [], 'a waiting request has none';
    $httpd->serves('go', 'all are served', @asked);
    is_deeply [ who($httpd, $ZONE) ], [], 'no request at last';

    shows_keys_and_a_dry_run($httpd);

    $httpd->configure("ExtendedStatus Off\n$conf");
    $httpd->restart;
    my @one = $httpd->fill('/cgi-bin/', 'end', 1);
    my ($unknown) = who($httpd, $ZONE);
    is_deeply [ sort grep { !/^(?:pid|cpuMs|rssKb)$/ } keys %$unknown ], [ 'ageMs', 'state' ],
        'without ExtendedStatus it says nothing of itself';
    $httpd->serves('end', '... and is served', @one);
}, 'prefork+cgi', 'event+cgid');

# What is shown of a zone with keys, priorities and costs, and of a dry run.

use AdmissionTest;

my $ZONE = 'test.example:/cgi-bin/';
my $DRY = 'test.example:/cgi-bin/dry/';

sub from { return headers => [ map { "X-Key: $_" } @_ ] }

sub page { my ($httpd, $zone) = @_; return $httpd->get("/admission?zone=$zone")->{body} }

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 20, conf =>
        "ExtendedStatus On\n"
        . location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 3', 'AdmissionQueue 5', 'AdmissionFair "%{HTTP:X-Key}"',
                   q(AdmissionPriority high "%{HTTP:X-Key} == 'first'"),
                   'AdmissionCost 2 "%{HTTP:X-Key} =~ /b/"')
        . location('/cgi-bin/dry/', 'MaxConcurrent 1', 'AdmissionQueue 1', 'AdmissionFair off',
                   'AdmissionDryRun On'));
    my @clients = $httpd->ask('/cgi-bin/heavy?until=go', from('<b>&'));
    $httpd->zone_becomes('/cgi-bin/', 'a dear one runs', Active => 2);
    push @clients, $httpd->ask('/cgi-bin/heavy?until=go', from('a'));
    $httpd->zone_becomes('/cgi-bin/', 'a cheap one runs', Active => 3);
    push @clients, $httpd->ask('/cgi-bin/heavy', from('first'));
    $httpd->zone_becomes('/cgi-bin/', 'one waits', Active => 3, Queued => 1);

    my $facts = $httpd->json("/admission?json&who=$ZONE");
    is_deeply [ sort map { join ' ', @{$_}{qw(state key priority cost)} }
                     @{ $facts->{zones}[0]{requests} } ],
        [ 'running <b>& normal 2', 'running a normal 1', 'waiting first high 1' ],
        'what they asked for';
    my $page = page($httpd, $ZONE);
    like $page, qr{<th scope="row">&lt;b&gt;&amp;</th><td>2</td><td>0</td>}, 'a key and its permits';
    like $page, qr{<th scope="row">first</th><td>0</td><td>1</td>}, 'a key that waits';
    like $page, qr{<td class="text">&lt;b&gt;&amp;</td><td class="text">2 permits</td>},
        'a request with two permits';
    like $page, qr{<td class="text">first</td><td class="text">high</td>}, 'who comes first';
    unlike $page, qr{<b>&}, 'a key is never markup';

    push @clients, map { $httpd->ask('/cgi-bin/dry/heavy?until=go', from('a')) } 1 .. 3;
    $httpd->zone_becomes('/cgi-bin/dry/', 'a dry run lets all run', Active => 3);
    $page = page($httpd, $DRY);
    like $page, qr/With limit 1 and queue 1, of 3 requests 1 would have waited, \S+ m?s on average, /,
        'how many would have waited';
    like $page, qr/and 1 would have been rejected: full 1, late 0/, '... or been rejected';
    unlike $page, qr/Keys with the most/, 'it has no keys';
    $httpd->open_gate('go');
    is_deeply statuses(answers(@clients)), { 200 => 6 }, 'all are served';
}, 'prefork+cgi', 'event+cgid');

# ?json&who=ZONE: which requests hold the permits of a zone, and which wait.

use AdmissionTest;

my $ZONE = 'test.example:/cgi-bin/';

sub who {
    my ($httpd) = @_;
    return @{ $httpd->json("/admission?json&who=$ZONE")->{zones}[0]{requests} };
}

sub uris { return sort map { $_->{uri} } @_ }

for_each_combo(sub {
    my ($combo) = @_;
    my $conf =
        location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 10');
    my $httpd = start_httpd(combo => $combo, conf => "ExtendedStatus On\n$conf");
    is_deeply [ who($httpd) ], [], 'no request at first';

    my $long = 'x' x 100;
    my @asked = map { $httpd->ask("/cgi-bin/heavy?until=go&n=$_") } 1 .. 2;
    $httpd->zone_becomes('/cgi-bin/', 'two run', Active => 2);
    push @asked, map { $httpd->ask("/cgi-bin/heavy?$_") }
        'q="<b>\\', "\xe4\xb8\xad$long", "caf\xe9", "%41$long", "a%00b";
    $httpd->zone_becomes('/cgi-bin/', 'and some wait', Active => 2, Queued => 5);

    wait_for { $httpd->live_programs_now == 2 && 2 == grep { $_->{pid} } who($httpd) }
        'the programs of running requests are known';
    my @all = who($httpd);
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
    is $httpd->get("/admission?who=$ZONE")->{status}, 400, 'who= is for JSON, not for the page';
    is $httpd->get('/admission?json&who=nobody')->{status}, 404, 'no such zone';
    $httpd->open_gate('go');
    is_deeply statuses(answers(@asked)), { 200 => 7 }, 'all are served';
    is_deeply [ who($httpd) ], [], 'no request at last';

    $httpd->configure("ExtendedStatus Off\n$conf");
    $httpd->restart;
    my $one = $httpd->ask('/cgi-bin/heavy?until=end');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    my ($unknown) = who($httpd);
    is_deeply [ sort grep { !/^(?:pid|cpuMs|rssKb)$/ } keys %$unknown ], [ 'ageMs', 'state' ],
        'without ExtendedStatus it says nothing of itself';
    $httpd->open_gate('end');
    is_deeply statuses(answers($one)), { 200 => 1 }, '... and is served';
}, 'prefork+cgi', 'event+cgid');

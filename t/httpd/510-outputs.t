# admission-status: the page, JSON and Prometheus show the same facts as ?auto.

use AdmissionTest;
use JSON::PP;

# An assertion, where promtool is installed.
sub promtool_accepts {
    my ($metrics) = @_;

    SKIP: {
        skip 'promtool is not installed', 1 if system 'command -v promtool >/dev/null';
        open my $promtool, '|-', 'promtool check metrics 2>&1' or die "promtool: $!\n";
        print $promtool $metrics;
        ok close($promtool), 'promtool accepts them';
    }
}

# Each of these queries, with a sentence that says why.
sub refuses {
    my ($httpd, $status, $why, @queries) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    for my $query (@queries) {
        my $answer = $httpd->get("/admission?$query");
        is_deeply [ @$answer{qw(status body)} ], [ $status, "$why\n" ], substr "?$query", 0, 60;
    }
}

# The zones of ?json&QUERY.
sub json_of {
    my ($httpd, $query) = @_;
    my $answer = $httpd->get("/admission?json&$query");
    is $answer->{status}, 200, "?json&$query";
    return decode_json($answer->{body})->{zones};
}

for_each_combo(sub {
    my $name = 'test.example:/cgi-bin/';
    my $httpd = start_httpd(workers => 40, conf =>
        location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 3')
        . location('/never-used', 'MaxConcurrent 1', 'AdmissionQueue 0'));
    my @line = $httpd->fill('/cgi-bin/', 'go', 1);
    push @line, map { $httpd->ask('/cgi-bin/heavy?ms=10') } 1, 2;
    $httpd->zone_becomes('/cgi-bin/', 'two wait', Queued => 2);

    my $json = $httpd->json('/admission?json');
    is $json->{version}, 2, 'JSON has a version';
    ok !exists $json->{zones}[0]{history}, 'no history without a request for it';
    my ($with_history) = @{ json_of($httpd, "history=$name") };
    is scalar @{ $with_history->{history}{$_} }, 600, "ten minutes of history: $_"
        for qw(active queued);
    is $with_history->{history}{queued}[-1], 2, 'up to now';
    is $with_history->{queued}, 2, 'in addition to the other facts';

    my $metrics = $httpd->get('/admission?prometheus');
    like $metrics->{headers}{'content-type'}, qr{text/plain; version=0\.0\.4}, 'Prometheus';
    like $metrics->{body}, qr/^admission_queued\{zone="\Q$name\E"\} 2$/m, '... with the facts';
    unlike $metrics->{body}, qr/_bucket/, 'no histograms before a request has ended';
    promtool_accepts($metrics->{body});

    my $page = $httpd->get('/admission');
    like $page->{body}, qr{<td class="state s\d">waiting</td><td>1 / 1.*?</td><td>2 / 3},
        'the page says where requests wait';
    like $page->{body}, qr{never-used</a></th><td class="state s\d">never used<},
        'and which zone no request has entered';
    $page->{one} = $httpd->get("/admission?zone=$name")->{body};
    like $page->{one}, qr/2 requests are waiting, the oldest for [\d.]+ m?s\. None were rejected/,
        'the page of a zone says it in a sentence';
    unlike $page->{body}, qr{data-field="Engine}, 'and nothing of an engine where there is none';
    unlike $page->{body}, qr{https?://|//}, 'it loads nothing from elsewhere';
    like $page->{headers}{'content-security-policy'},
        qr/default-src 'none'.*form-action 'self'/, 'and says so';
    unlike $page->{body}, qr/http-equiv/, '... nor comes again by itself';
    unlike $page->{one}, qr/<form class="order"/, '... orders are taken elsewhere';
    is $httpd->get("/admission?$_")->{status}, 200, "its $_ is there" for qw(style script);
    is $httpd->get("/admission?$_")->{status}, 404, "nothing else is: $_"
        for 'other', 'all', 'refresh=5', "zone=$name&refresh=5";

    my $used = 'test.example:/never-used';
    is_deeply [ map { $_->{name} } @{ json_of($httpd, "zone=$used") } ], [ $used ],
        'JSON of one zone';
    is_deeply [ map { $_->{name} } @{ json_of($httpd, 'zone=test.example%3a%2Fnever%2dused') } ],
        [ $used ], '... however its name is encoded';
    my $of_one = $httpd->get("/admission?zone=$used&prometheus")->{body};
    is_deeply [ $of_one =~ /^admission_limit\{zone="(.*?)"\}/mg ], [ $used ],
        'Prometheus of one zone';
    is_deeply [ $httpd->get("/admission?zone=$used")->{body} =~ /<h2>(.*?)<\/h2>/g ],
        [ $used, 'Workers and children' ], 'the page of one zone';
    like $httpd->get("/admission?zone=$used")->{body}, qr/Not used since httpd started/,
        '... which reports that no request has entered';
    like $httpd->get('/server-status')->{body},
        qr{<a href="/admission\?zone=test.example%3a%2fnever-used">\Q$used\E</a>}i,
        'server-status leads there';
    is_deeply [ $httpd->get('/admission?filter=VER%2dus')->{body} =~ m{\?zone=[^"]*">(.*?)</a>}g ],
        [ $used ], 'the page of zones with a text in the name';
    is_deeply [ map { scalar @{ $_->{history}{active} } } @{ json_of($httpd, "history=$used") } ],
        [ 600 ], 'a zone that was never used has a history';
    refuses($httpd, 404, "No zone is called '$_->[1]'.", $_->[0])
        for [ 'json&zone=no/such', 'no/such' ], [ 'json&history=no%0Asuch', "no\nsuch" ],
            [ 'json&who=none', 'none' ], [ 'prometheus&zone=', '' ], [ 'zone=%C3%BC', "\xc3\xbc" ],
            [ 'json&zone=%ff', "\xc3\xbf" ], [ 'json&zone=' . 'x' x 4000, 'x' x 4000 ];
    refuses($httpd, 404, "There is no output 'auto': "
            . 'use json, prometheus, ready, zone=NAME or filter=TEXT.', 'auto');
    refuses($httpd, 400, 'zone=, history= and who= name one zone, and once, encoded as in a URL.',
            'json&zone=%zz', "json&zone=$used&zone=$used", "json&zone=$used&history=$used");
    refuses($httpd, 400, 'history= and who= belong to json: ?json&history=NAME.',
            "history=$used", "prometheus&history=$used", "who=$used");
    refuses($httpd, 400, 'filter= is given once, and encoded as in a URL.', 'filter=%zz');
    refuses($httpd, 400, 'filter= belongs to the page of all zones.',
            "zone=$used&filter=x", 'json&filter=x');
    refuses($httpd, 400, 'A response has one format: json, prometheus, ready, or the page.',
            'json&prometheus');

    $httpd->serves('go', 'all end well', @line);
    $httpd->zone_becomes('/cgi-bin/', 'and have ended', Active => 0);
    my @times = $httpd->get('/admission')->{body} =~ m{<td class="more">([^<>]*\d[^<>]*) / ([^<>]*\d[^<>]*)</td>}g;
    is scalar @times, 4, 'the page has p50 and p95 of both, of the zone that was used' or diag "@times";
    isnt $times[2], $times[3], '... which differ: one program ran for longer than the others' or diag "@times";
    $metrics = $httpd->get('/admission?prometheus')->{body};
    like $metrics, qr/^admission_wait_duration_seconds_bucket\{.*le="\+Inf"\} 2$/m, 'histograms';
    like $metrics, qr/^admission_service_duration_seconds_bucket\{.*le="0\.001"\} 0$/m,
        '... of both kinds';
    unlike $metrics, qr/_bucket\{zone="\Q$used\E"/, '... but not of a zone that was never used';
    promtool_accepts($metrics);
}, 'prefork+cgi', 'event+cgid');

# Names that are UTF-8 stay as they are; others are read as ISO-8859-1. What
# begins like UTF-8 and is too long, half of a pair or beyond the last character
# is not.
my %utf8_of = (
    "caf\xe9"             => "caf\xc3\xa9",
    "caf\xc3\xa9"         => "caf\xc3\xa9",
    "\xe2\x82\xac"        => "\xe2\x82\xac",
    "\xf0\x9f\x9a\xa6"    => "\xf0\x9f\x9a\xa6",
    "a\xe2\x82"           => "a\xc3\xa2\xc2\x82",
    "\xc0\xbc"            => "\xc3\x80\xc2\xbc",
    "\xe0\x81\x81"        => "\xc3\xa0\xc2\x81\xc2\x81",
    "\xed\xa0\x80"        => "\xc3\xad\xc2\xa0\xc2\x80",
    "\xf0\x81\x81\x81"    => "\xc3\xb0\xc2\x81\xc2\x81\xc2\x81",
    "\xf4\x90\x80\x80"    => "\xc3\xb4\xc2\x90\xc2\x80\xc2\x80",
    "\xff"                => "\xc3\xbf",
);
for_each_combo(sub {
    my $number = 0;
    # The two that are one word in both are told apart by their ends.
    my %names = map { ("$_-" . $number => "$utf8_of{$_}-" . $number++) } sort keys %utf8_of;
    my $httpd = start_httpd(conf => join '', "AdmissionQueue 0\n",
        "<Location /admission>\nSetHandler admission-status\n</Location>\n",
        map { /-(\d+)$/; "<Location /$1>\nMaxConcurrent 1\nAdmissionZone \"$_\"\n</Location>\n" }
            sort keys %names);
    my ($json, $metrics, $page) =
        map { $httpd->get("/admission$_")->{body} } '?json', '?prometheus', '';

    is_deeply [ sort map { my $name = $_->{name}; utf8::encode($name); $name }
                         @{ decode_json($json)->{zones} } ],
        [ sort values %names ], 'JSON is UTF-8';
    is_deeply [ sort $metrics =~ /^admission_limit\{zone="(.*?)"\}/mg ],
        [ sort values %names ], 'Prometheus too';
    ok utf8::decode(my $whole = $metrics), '... all of it';
    promtool_accepts($metrics);
    is_deeply [ sort $page =~ m{\?zone=[^"]*">(.*-\d+)</a>}g ], [ sort values %names ], 'so is the page';
    my @asked = map { s/([^\w-])/sprintf '%%%02X', ord $1/ger } sort keys %names, values %names;
    is_deeply [ grep { @{ json_of($httpd, "zone=$_") } != 1 } @asked ], [],
        'a zone is found by its name as written and as shown';
}, 'prefork+cgi');

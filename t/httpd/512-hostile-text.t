# What administrators and clients write comes out of every output as text: names of
# zones, URIs, hosts, users, keys. Nothing becomes markup, a second line or half a
# character.

use AdmissionTest;
use Encode ();
use JSON::PP ();

my $MARKUP = q(<img src=x onerror=alert(1)>'&);
my $NAME = qq(</script>$MARKUP\xe9 {{7*7}} +?#;%41);    # in ISO-8859-1
my $LONG = 'x' x 150_000;
my @HOW = qw(json&who=X json&history=X json&zone=X zone=X);

sub encoded { return $_[0] =~ s/(\W)/sprintf '%%%02X', ord $1/ger }

sub names_of {
    my ($httpd) = @_;
    return map { Encode::encode_utf8($_->{name}) } @{ $httpd->json('/control?json')->{zones} };
}

# Text in which clients could have put markup.
sub is_clean {
    my ($what, $body) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    unlike $body, qr/<img|<\/script>.*<\/script>|<b>/s, "$what: no markup";
    ok eval { Encode::decode('UTF-8', my $copy = $body, Encode::FB_CROAK); 1 }, '... in UTF-8';
}

for_each_combo(sub {
    my @limit = ('MaxConcurrent 1', 'AdmissionQueue 9');
    my $httpd = start_httpd(conf => "ExtendedStatus On\n"
        . location('/control', 'SetHandler admission-control')
        . location('/cgi-bin/', @limit, 'AdmissionFair "%{HTTP:X-Key}"', qq(AdmissionZone "$NAME"))
        . location(qq("/cgi-bin/$LONG\xc3\xa9"), @limit)
        . section(qq(LocationMatch "^/(a|\\"<b>|\xc3\xa9)\x01\xff\$"), @limit));
    my @names = names_of($httpd);
    $httpd->expect_in_log(qr/ADM0207/);
    is scalar @names, 3, 'three zones';
    my ($hostile) = grep { /7\*7/ } @names;
    is $hostile, Encode::encode_utf8($NAME), 'a name that is not UTF-8 is read as ISO-8859-1';
    my ($long) = grep { /xxx/ } @names;
    like $long, qr/^test\.example:\/cgi-bin\/x+\.\.\.[0-9a-f]{16}$/, 'a name of 150 KB is shortened';
    is length $long, 219, '... to as much as a URL holds';

    my @asked = map { my ($query, $key) = @$_;
                      $httpd->ask("/cgi-bin/heavy?until=go&$query", headers => ["X-Key: $key"]) }
        [ 'q="><img', 'key' ], [ q('onx='), $MARKUP ], [ '%3Cimg%0d%0a', "\xe9\xff" ],
        [ 'y' x 4000, 'z' x 4000 ], [ "\xe4\xb8\xad" x 40, "\xe4\xb8\xad" x 40 ],
        [ 'a', 'quoted"\\' ];
    wait_for { join(' ', @{ $httpd->status->{zone}{$NAME} }{qw(Active Queued)}) eq '1 5' }
        'one runs, five wait';

    for my $name (@names) {
        for my $how (@HOW) {
            my $answer = $httpd->get('/control?' . $how =~ s/X/encoded($name)/er);
            is $answer->{status}, 200, substr "$how, " . $name =~ s/[^ -~]/?/gr, 0, 60;
            is_clean('it', $answer->{body});
            next if $how !~ /json/;
            my $facts = eval { JSON::PP::decode_json($answer->{body}) } // {};
            is Encode::encode_utf8($facts->{zones}[0]{name} // ''), $name, '... is the zone';
        }
        is $httpd->order('/control', 'limit=2&zone=' . encoded($name))->{status}, 200, '... and takes orders';
    }
    for my $query ('auto&zone=' . encoded($NAME), 'zone=' . encoded($hostile) . '&auto') {
        my $auto = $httpd->get("/server-status?$query")->{body};
        is_deeply [ $auto =~ /^Admission\[\d+\]Name: (.*)$/mg ], [$NAME], "?$query shows one zone";
    }
    unlike $httpd->get('/server-status?auto&zone=none')->{body}, qr/^Admission\[/m, '... or none';
    # httpd's own part of the page has <b>.
    for my $page (map { $httpd->get("/server-status$_")->{body} } '', '?notable') {
        like $page, qr{>&lt;/script&gt;&lt;img src=x }, 'names are escaped in server-status';
        unlike $page, qr/<img|<\/script>/, '... everywhere';
    }
    is_clean("?$_", $httpd->get("/control?$_")->{body}) for '', 'json';
    cmp_ok length $httpd->get('/control')->{body}, '<', 10_000, 'the page is small';
    for my $query ('zone=' . encoded($MARKUP), 'filter=' . encoded($MARKUP), encoded($MARKUP),
                   'json&who=' . encoded($MARKUP), 'zone=%00', 'zone=%zz', 'filter=%e9"') {
        my $answer = $httpd->get("/control?$query");

        if ($answer->{headers}{'content-type'} =~ m{^text/plain}) {
            is $answer->{headers}{'x-content-type-options'}, 'nosniff', "?$query: plain text";
        }
        else {
            is_clean("?$query", $answer->{body});
        }
    }
    my @metrics = split /\n/, $httpd->get('/control?prometheus')->{body};
    my $labels = qr/\{(?:\w+="(?:[^"\\]|\\[n"\\])*",?)*\}/a;
    is_deeply [ grep { !/^(?:#.*|admission_\w+$labels? \S+)$/a } @metrics ], [], 'only metrics';
    for my $label (map { s/(["\\])/\\$1/gr } @names) {
        is scalar(grep { index($_, qq(admission_limit{zone="$label"} )) == 0 } @metrics), 1,
            '... with an escaped name';
    }
    my $who = $httpd->json('/control?json&who=' . encoded($hostile));
    my %key = map { $_->{key} => 1 } @{ $who->{zones}[0]{requests} };
    ok $key{ "\x{4e2d}" x 10 }, 'a key of 120 bytes ends with a whole character';
    is $httpd->get("/control?$_")->{headers}{'x-content-type-options'}, 'nosniff', "?$_ is what it says"
        for '', 'json', 'prometheus', 'style', 'script', 'zone=x';
    $httpd->serves('go', 'all are served', @asked);
    is_deeply [ grep { /[^\t -~]/ } $httpd->error_log ], [], 'the log has nothing raw';
}, 'prefork+cgi', 'event+cgid');

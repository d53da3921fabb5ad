# ?explain=URL names what applies to a URL and what does not, runs nothing, and counts
# nothing.

use AdmissionTest;
use JSON::PP;

my $probe = q(AdmissionExempt "%{REQUEST_METHOD} == 'GET'");
my $conf = join '',
    section('Directory DOCS', 'AllowOverride All', 'AddHandler cgi-script .php'),
    "MaxConcurrent 40\nAdmissionZone server\nAdmissionQueue 10\n",
    section('FilesMatch "\.php$"', 'MaxConcurrent 8', 'AdmissionZone files'),
    location('/index.php', 'MaxConcurrent 9', 'AdmissionZone index'),
    location('/search', 'MaxConcurrent 2', 'AdmissionZone search',
             'AdmissionQueue 5 timeout=3s target=500ms', 'AdmissionReject 429 retry-after=7',
             'AdmissionFair client max=2', q(AdmissionPriority low "-R '192.0.2.0/24'"),
             'AdmissionCost 2 "%{QUERY_STRING} =~ /all/"'),
    location('/health', $probe),
    location('/off', 'MaxConcurrent off'),
    location('/nowhere.txt', 'RewriteEngine Off'),
    location('/closed', 'Require all denied'),
    location('/admission', 'SetHandler admission-status'),
    virtual_host('test.example', 'DocumentRoot DOCS'),
    virtual_host('other.example', 'ServerAlias www.other.example', 'DocumentRoot DOCS',
                 location('/search', 'MaxConcurrent 3', 'AdmissionZone other')),
    section('IfModule mod_macro.c', section('Macro Probe $path', location('$path', $probe)),
            'Use Probe /probe');

my %explained = (
    '/search'    => { zone => 'search', limit => 2, counts => qr/^yes/, leadsTo => qr{^/index.php, handler cgi-script},
                      queue => '5, timeout 3 s, target 500 ms', rejectedWith => '429, Retry-After 7',
                      key => '127.0.0.1', keyMax => 2, priority => 'normal', cost => 1, handler => 'redirect-handler',
                      limitFrom => qr{MaxConcurrent 2 of /search \(\S+admission.conf:17\)}, now => '0 run, 0 wait',
                      notes => [ qr/MaxConcurrent 40 \(.*MaxConcurrent 2 .* decides/,
                                 qr/MaxConcurrent 8 of ~?Files.*MaxConcurrent 2 .* decides/,
                                 qr{MaxConcurrent 9 of /index.php .* belongs to /index.php}, qr/Expressions/ ] },
    '/search?all=1&client=x' => { cost => 2 },
    '/search%26client=192.0.2.7' => { zone => 'index' },
    '/search/x&client=192.0.2.7' => { key => '192.0.2.7', priority => 'low', request => 'GET from 192.0.2.7' },
    '/search&client=2001:db8::7' => { key => '2001:db8::/64' },
    '/search&host=other.example' => { zone => 'other', limit => 3, server => 'other.example' },
    'http://www.other.example:8080/search?q=1' => { zone => 'other', server => 'other.example' },
    '/page'      => { zone => 'index', limit => 9 },
    '/index.php' => { zone => 'index', limit => 9, handler => 'cgi-script' },
    '/static.txt' => { counts => qr/^no/, zone => 'none: it does not count',
                       notes => [ qr/MaxConcurrent 40 .*does not count/ ] },
    '/nowhere.txt' => { counts => qr/^no/, notes => [ qr/ErrorDocument 404/ ] },
    '/admission' => { without => qr/ErrorDocument 404/, handler => 'admission-status', leadsTo => undef, counts => qr/^no/, zone => 'none: it does not count' },
    '/health'    => { zone => 'index', exempt => qr/AdmissionExempt in \S+:\d+/ },
    (Admission::Config::is_installed('macro')
        ? ('/probe' => { exempt => qr/AdmissionExempt in macro 'probe'.*:\d+/ }) : ()),
    '/health&method=POST' => { exempt => undef, request => 'POST from 127.0.0.1' },
    '/off'       => { counts => qr/^no: its handler would count, but no limit/, zone => qr{^none: MaxConcurrent off of /off} },
    '/closed'    => { answer => qr/^403/, zone => undef },
);

my %refused = (
    'search'                     => qr/takes a path/,
    'ftp://test.example/'        => qr/takes a path/,
    ''                           => qr/takes a path/,
    '/x%0Ay'                     => qr/control characters/,
    '/' . 'x' x 5000             => qr/at most 4096/,
    '/x&host=foreign.example'    => qr/No server/,
    'http://foreign.example/x'   => qr/No server/,
    'http://other.example/&host=test.example' => qr/differ/,
    '/x&method=NONSENSE'         => qr/a method/,
    '/x&method=TRACE'            => qr/not TRACE/,
    '/x&client=localhost'        => qr/an address/,
    '/x&client=1.2.3'            => qr/an address/,
    '/x&explain=/y'              => qr/once/,
    '/x&zone=files'              => qr/as text/,
    '/x&prometheus'              => qr/as text/,
);

sub is_like {
    my ($is, $wanted, $what) = @_;
    return ref $wanted ? like($is, $wanted, $what) : is($is, $wanted, $what);
}

for_each_combo(sub {
    my @macro = grep { Admission::Config::is_installed($_) } 'macro';
    my $httpd = new_httpd(modules => \@macro, workers => 100);

    $httpd->configure($conf =~ s/DOCS/$httpd->{dir}\/docs/gr);
    $httpd->put('.htaccess', "RewriteEngine On\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule . /index.php [L]\n");
    $httpd->put_heavy('index.php');
    $httpd->expect_in_log(qr/AH01630/);
    $httpd->start;
    my $before = $httpd->get('/admission?json')->{body};
    my @record = $httpd->record;

    for my $query (sort keys %explained) {
        my $wanted = $explained{$query};
        my $answer = $httpd->get("/admission?json&explain=" . $query =~ s/\?(.)/%3F$1/r =~ s/all=1&client/all%3D1%26client/r);
        my $is = eval { decode_json($answer->{body}) } // {};

        is $answer->{status}, 200, "$query is explained" or diag $answer->{body};
        is_like $is->{$_}, $wanted->{$_}, "... $_" for sort grep { !/^(?:notes|without)\z/ } keys %$wanted;
        is_deeply [ grep { $wanted->{without} && /$wanted->{without}/ } @{ $is->{notes} } ], [], '... no other note';
        for my $note (@{ $wanted->{notes} // [] }) {
            ok scalar(grep { /$note/ } @{ $is->{notes} }), "... with the note $note"
                or diag explain $is->{notes};
        }
    }
    for my $query (sort keys %refused) {
        my $answer = $httpd->get("/admission?explain=$query");
        is $answer->{status}, 400, substr($query, 0, 40) . ' is refused';
        like $answer->{body}, $refused{$query}, '... with a sentence';
    }
    is $httpd->get('/admission?method=GET')->{status}, 404, 'no URL is no output';
    my $text = $httpd->get('/admission?explain=/search');
    like $text->{headers}{'content-type'}, qr{^text/plain}, 'without json it is text';
    like $text->{body}, qr/^zone +search$/m, '... one line per fact';
    unlike $httpd->get('/admission?explain=/x%250Azone%2520forged')->{body}, qr/^zone forged/m,
        '... of which a URL makes no other';
    is_deeply [ $httpd->record ], \@record, 'no program ran';
    my ($was, $is) = map { decode_json($_)->{zones} } $before, $httpd->get('/admission?json')->{body};
    # The rest is of the machine, such as its memory.
    my ($counted_before, $counted) = map {
        [ map { my $zone = $_; join ' ', map { "$_ $zone->{$_}" }
                grep { /^(?:name|active|queued|admitted|exempt|rejected|dryRun|unlimited|gone)/i } sort keys %$zone } @$_ ]
    } $was, $is;
    like $counted->[0], qr/admitted 0/, 'there are counters';
    is_deeply $counted, $counted_before, '... and nothing was counted';
}, 'prefork+cgi', 'event+cgid');

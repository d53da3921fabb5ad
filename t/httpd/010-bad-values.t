# A wrong value, or a directive in the wrong place, stops configtest with a message that names
# the directive, the value and what is allowed.

use AdmissionTest;
use Project;

my ($combo) = combos() or plan skip_all => 'no combination';
my $httpd = AdmissionTest::Httpd->new(combo => $combo);

# directive => what its message must state as allowed, then bad arguments. Brackets mark the
# wrong part, if it is not all of them. Behind an argument that users are likely to try: what
# explains it.
my %bad = (
    MaxConcurrent => [
        qr/number|off|for auto/,
        qw(0 -1 +4 4.5 0x4 1e3 12x ten on 99999999 99999999999999999999 ""),
        'auto [-1]', 'auto [x]', 'auto [65536]', 'auto 1 [0]',
        'auto 1 [max]', 'auto 1 [65536]', 'auto 1 [4-8]', '4 [5]', 'off [1]', 'autom', '[auto=4]',
        [ 'auto [5] 4' => qr/the minimum '5' is above the maximum '4'; .*auto \[min \[max\]\]/ ],
        [ 'auto [0]'   => qr/'0' is not a minimum for auto, a number from 1 to 65535/ ],
        [ '4 [8]'      => qr/unexpected argument '8' after '4'; .* are for auto/ ],
    ],
    AdmissionQueue => [
        qr/number|length|timeout=/,
        '-1', 'ten', '10x', '99999999999999999999', '""',
        '10 [timeout=soon]', '10 [timeout=-1s]', '10 [timeout=]',
        '10 [timeout=5parsecs]', '10 [timeout=1d]', '10 [timeout=30S]', '10 [target=0]',
        '10 [target=soon]', '10 [target=]', '10 timeout=5s [target=never]', '10 [target]', '10 [timout=5s]', '10 [20]',
        '10 target=1s [target=2s]', '10 timeout=5s [Timeout=6s]',
        '[timeout=5s]',
        [ 'off'             => qr/0 \(no queue\)/ ],
        [ '10 [timeout=5m]' => qr/in ms, s, min or h, such as timeout=30s/ ],
        [ '10 [t] timeout=1s' => qr/'t' is not timeout=time/ ],
        [ '10 [timeout=0]'  => qr/a length of 0 means no queue/ ],
    ],
    AdmissionExempt => [
        qr/expression|syntax|expected/i,
        q("[%{REMOTE_ADDR == ]"), q("[no such words]"),
    ],
    AdmissionReject => [
        qr/status|retry-after=|\d+ to \d+/,
        '99', '200', '301', '600', 'busy', '503x', '-503', '""', '401', '407',
        '503 [retry-after=soon]', '503 [retry-after=-5]', '503 [retry-after=]',
        '503 [retry=5]', '503 [429]', '503 [r]',
    ],
    AdmissionFair => [
        qr/client|max=number with a number from 1 to 65535$|after 'off'/m, 'clients', 'client/', 'client/0', 'client/33', 'client/24/0',
        'client/24/129', 'client/24/56/1', 'client/x', 'key', '""', '"%{nonsense:"',
        'client [max=0]', 'client [max=65536]', 'client [max=]', 'client [max=many]', 'client [5]',
        'off [max=5]',
    ],
    AdmissionPriority => [
        qr/high or low|expression/, '[middle] "true"', '[high]', 'high "[no such words]"', '""',
        q(low "true" [false]),
    ],
    AdmissionCost => [
        qr/number of permits|expression/, '[auto]', '[Auto] "true"', '0', '-1', 'many', '65536', '1.5', 'autom', '2 "[no such words]"',
        '""', q(2 "true" [false]),
    ],
    AdmissionDryRun => [ qr/On or Off/i, 'maybe', '1', '""' ],
    AdmissionReserve => [
        qr/number|percent/, '-1', '101%', '-1%', 'many', '5x', '25%%', '%',
        '99999999999999999999', '""',
    ],
    AdmissionRecycle => [
        qr/number|range|off/, '0', '-5', '5-', '9-5', '5-9-12', 'offf', 'on', '1000000001',
        '""', '5 [together=0]', '5 [together=65]', '5 [together]', '5 [9]',
        'off [together=1]', 'off [off]',
    ],
    AdmissionSpool => [
        qr/request=|response=/, 'on', 'off', '1M', '[request=]', '[request=1]', '[request=1023]',
        '[request=-1K]', '[request=1X]', '[request=1MB]', '[request=2T]', '[request=1025G]', '[requests=1M]',
        'request=1M [response=many]', 'request=1M [request=2M]', 'response=off [3]',
        '[request=99999999999999999999]', '""',
    ],
    AdmissionSpoolLimit => [
        qr/size|directory/, '0', '-1', 'off', '1X', '2T', 'many', '""', '1G [/no/such/directory]',
    ],
    AdmissionZone => [ qr/name/, '""', 'x [fleets]', '[' . 'x' x 256 . ']' ],
    AdmissionEngine => [ qr/redis:/, '127.0.0.1', 'http://127.0.0.1/' ],
    AdmissionFleet => [
        qr/lease=/, 'many', 'lease=', 'lease=2s', 'lease=25h', 'hold=0', 'hold=many',
        'fallback=local', 'lease=5s [keep]',
    ],
    AdmissionStateFile => [ qr{file path or 'off'|takes one argument}, '""' ],
    AdmissionHandlers => [ qr/dynamic|all|name/, '""' ],
);

sub refused($conf, $what, @patterns) {
    $httpd->configure($conf);
    my ($status, $output) = $httpd->configtest;
    my @missing = grep { $output !~ $_ } @patterns;
    ok $status != 0 && !@missing, "refused: $what"
        or diag $status ? "lacks @missing:\n$output" : 'was accepted';
}

sub accepted($conf, $what) {
    $httpd->configure($conf);
    my ($status, $output) = $httpd->configtest;
    is $status, 0, "accepted: $what" or diag $output;
}

# These belong to the server, the others work in a section.
sub in_place($line) {
    my $limit = $line =~ /^MaxConcurrent/ ? '' : "MaxConcurrent 4\n";
    return $line =~ /^Admission(?:Reserve|Recycle|StateFile|SpoolLimit|Engine|Fleet)/
        ? "$line\n" : location('/x', "$limit$line");
}

for my $directive (sort keys %bad) {
    my ($allowed, @arguments) = @{ $bad{$directive} };
    for (@arguments) {
        my ($argument, @explanation) = ref ? @$_ : $_;
        my ($wrong) = $argument =~ /\[(.*)\]/ ? $1 : $argument =~ /^"?(.*?)"?$/;
        (my $plain = $argument) =~ tr/[]//d;
        refused(in_place("$directive $plain"), "$directive $plain",
                qr/\Q$directive\E/, qr/\Q$wrong\E/, $allowed, @explanation);
    }
    refused(in_place($directive), "$directive without a value",
            qr/\Q$directive\E/) if $directive ne 'AdmissionDryRun';
}

refused(in_place(qq(AdmissionZone "x\ty")), 'AdmissionZone with a control character', qr/AdmissionZone.*without control/);
refused(in_place('MaxConcurrent auto 1 2 3'), 'MaxConcurrent auto 1 2 3', qr/MaxConcurrent takes/);

accepted(in_place($_), $_) for (
    'MaxConcurrent 1', 'MaxConcurrent off', 'MaxConcurrent OFF', 'MaxConcurrent auto',
    'MaxConcurrent Auto 1', 'MaxConcurrent auto 4 4', 'MaxConcurrent auto 1 65535',
    'AdmissionQueue 0', 'AdmissionQueue 10', 'AdmissionQueue 10 target=off', 'AdmissionQueue 10 timeout=5',
    'AdmissionQueue 10 timeout=500ms', 'AdmissionQueue 10 timeout=1min',
    'AdmissionHandlers dynamic', 'AdmissionHandlers all',
    'AdmissionHandlers cgi-script proxy:* fcgi*',
    'AdmissionZone heavy', 'AdmissionExempt "%{REMOTE_ADDR} == \'10.0.0.1\'"',
    'AdmissionReject 429', 'AdmissionReject 503 retry-after=off',
    'AdmissionReject 503 retry-after=auto',
    'AdmissionReject 429 retry-after=30',
    'AdmissionReject 429 retry-after=1min', 'AdmissionDryRun On',
    'AdmissionReserve 0', 'AdmissionReserve 5', 'AdmissionReserve 10%',
    'AdmissionRecycle 5', 'AdmissionRecycle 5-9 together=64', 'AdmissionRecycle Off',
    'AdmissionStateFile off', 'AdmissionStateFile /tmp/state',
    'AdmissionCost 1', q(AdmissionCost 2 "true"),
    'AdmissionSpool request=1024 response=1T', 'AdmissionSpool request=1K response=1024G',
    'AdmissionSpoolLimit 1k', 'AdmissionSpoolLimit 1t', 'AdmissionSpoolLimit 1M cgi',
    'AdmissionFleet lease=5s hold=auto fallback=reject', 'AdmissionFleet hold=90s',
);

# ---- places -----------------------------------------------------------------

my @in_sections = map { s/^(MaxConcurrent) off/$1 4/r } directives_of('ZONE_CONTEXT');
my @of_server = directives_of('RSRC_CONF');

for my $section ('Location /x', 'LocationMatch ^/x', 'Directory /x', 'Files x.cgi', 'VirtualHost *:1') {
    accepted(section($section, @in_sections), "every directive of a section in <$section>");
}
accepted(join("\n", @in_sections, ''), 'every directive of a section in the server');
accepted('LoadModule proxy_module ' . Admission::Config::modules_dir() . "/mod_proxy.so\n"
         . section('Proxy http://x/', @in_sections), 'every directive of a section in <Proxy>');

for my $section ('Location /x', 'Directory /x', 'Files x.cgi', 'VirtualHost *:1') {
    refused(section($section, $_), "$_ in <$section>", qr/\Q${\ (split)[0]}/) for @of_server;
}
cmp_ok scalar(@in_sections), '>', 9, '... as many as there are';
cmp_ok scalar(@of_server), '>', 5, '... of the server as well';
refused(location('/x', section('Limit GET', $_)), "$_ in <Limit>", qr/\Q${\ (split)[0]}/) for @in_sections;

# ---- zones without a usable name, or with two meanings ----------------------

for my $section (q(If "true"), q(If "%{REQUEST_URI} =~ m#^/x#")) {
    refused(section($section, 'MaxConcurrent 4'), "<$section> without AdmissionZone", qr/AdmissionZone/);
    accepted(section($section, 'MaxConcurrent 4', 'AdmissionZone x'), "<$section> with AdmissionZone");
}
refused(location('/a', 'AdmissionZone none') . location('/b', 'AdmissionZone good')
        . location('/c', 'MaxConcurrent 4', 'AdmissionZone good'),
        'AdmissionZone of a zone without a limit, before one that has one', qr/ADM0003: AdmissionZone: 'none'/);
my $regex = section('LocationMatch ^/x', 'MaxConcurrent 4');
accepted($regex, 'one <LocationMatch>');
accepted($regex x 2, 'two <LocationMatch> with the same regex are one zone');
accepted(section('LocationMatch ^/x', 'MaxConcurrent 4', 'AdmissionZone x') x 2,
         'two <LocationMatch> with the same regex and AdmissionZone');

# One zone of two sections, which start at lines 1 and 6: the limit and the queue of each.
for (['4', '10', '5', '10'], ['4', '10', '4', '11'], ['4', '10', '4', '10 timeout=7s'], ['4', '10', 'auto', '10'],
     ['auto 1 8', '10', 'auto 1 9', '10'], ['auto 1 8', '10', 'auto', '10'], ['auto 2', '10', 'auto 1', '10']) {
    my ($a, $b) = map { my ($path, $limit, $queue) = @$_;
                        location($path, "MaxConcurrent $limit", 'AdmissionZone pool', "AdmissionQueue $queue") }
                  [ '/a', @$_[0, 1] ], [ '/b', @$_[2, 3] ];
    refused($a . $b, "one zone with limit $$_[0], queue $$_[1] and limit $$_[2], queue $$_[3]", qr/pool/,
            qr/admission\.conf:[1-5]\b/, qr/admission\.conf:(?:[6-9]|10)\b/);
    accepted($_ x 2, 'one zone with the same numbers in two sections') for $a, $b;
}

# ---- one section with two numbers ---------------------------------------------

for (['4', '9'], ['4', 'off'], ['off', '4'], ['4', 'auto 1'], ['auto 2 8', 'auto 2 9'],
     ['auto 1', 'off'], ['auto 1', 'auto 1 4']) {
    my ($first, $second) = @$_;
    my $two = "MaxConcurrent $first\nAdmissionZone x\nMaxConcurrent $second\n";
    refused(location('/x', split /\n/, $two), "MaxConcurrent $first, then $second in one section",
            qr/MaxConcurrent: '$second' differs from '$first' in \S+admission\.conf:2;/);
    refused($two, '... and in the server', qr/'$second' differs from '$first'/);
}
accepted(location('/x', 'MaxConcurrent 4', 'MaxConcurrent 4'), 'the same number twice in one section');
accepted("MaxConcurrent 4\n" . location('/x', 'MaxConcurrent 9'), 'one number in the server, another in a section');

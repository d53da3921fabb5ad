# A wrong value, or a directive in the wrong place, stops configtest with a
# message that says which directive, which value and what is allowed.

use AdmissionTest;

my ($combo) = combos() or plan skip_all => 'no combination';
my $httpd = AdmissionTest::Httpd->new(combo => $combo);

# directive => what its message must say is allowed, then bad arguments. The
# wrong part of the arguments is in brackets where it is not all of them.
my %bad = (
    MaxConcurrent => [
        qr/number|off|for auto/,
        qw(0 -1 +4 4.5 0x4 1e3 12x ten on 99999999 99999999999999999999 ""),
        'auto [0]', 'auto [-1]', 'auto [x]', 'auto [65536]', 'auto 1 [0]',
        'auto 1 [max]', 'auto 1 [65536]', 'auto 1 [4-8]', '4 [5]', 'off [1]', 'autom', '[auto=4]',
    ],
    AdmissionQueue => [
        qr/number|length|timeout=/,
        '-1', 'ten', '10x', '99999999999999999999', '""',
        '10 [timeout=soon]', '10 [timeout=-1s]', '10 [timeout=]',
        '10 [timeout=5parsecs]', '10 [timeout=5m]', '10 [timeout=1d]', 'off', '10 [timeout=30S]', '10 [target=0]',
        '10 [target=soon]', '10 [target=]', '10 timeout=5s [target=never]', '10 [target]', '10 [timout=5s]', '10 [20]',
        '10 target=1s [target=2s]', '10 timeout=5s [Timeout=6s]',
        '[timeout=5s]',
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
    AdmissionZone => [ qr/name/, '""', 'x [fleets]' ],
    AdmissionEngine => [ qr/redis:/, '127.0.0.1', 'http://127.0.0.1/' ],
    AdmissionFleet => [
        qr/lease=/, 'many', 'lease=', 'lease=2s', 'lease=25h', 'hold=0', 'hold=many',
        'fallback=local', 'lease=5s [keep]',
    ],
    AdmissionStateFile => [ qr{file path or 'off'|takes one argument}, '""' ],
    AdmissionHandlers => [ qr/dynamic|all|name/, '""' ],
);

sub refused {
    my ($conf, $what, @patterns) = @_;
    $httpd->configure($conf);
    my ($status, $output) = $httpd->configtest;
    my @missing = grep { $output !~ $_ } @patterns;
    ok $status != 0 && !@missing, "refused: $what"
        or diag $status ? "lacks @missing:\n$output" : 'was accepted';
}

sub accepted {
    my ($conf, $what) = @_;
    $httpd->configure($conf);
    my ($status, $output) = $httpd->configtest;
    is $status, 0, "accepted: $what" or diag $output;
}

# These belong to the server, the others work in a section.
sub in_place {
    my ($line) = @_;
    my $limit = $line =~ /^MaxConcurrent/ ? '' : "MaxConcurrent 4\n";
    return $line =~ /^Admission(?:Reserve|Recycle|StateFile|SpoolLimit|Engine|Fleet)/
        ? "$line\n" : "<Location /x>\n$limit$line\n</Location>\n";
}

for my $directive (sort keys %bad) {
    my ($allowed, @arguments) = @{ $bad{$directive} };
    for my $argument (@arguments) {
        my ($wrong) = $argument =~ /\[(.*)\]/ ? $1 : $argument =~ /^"?(.*?)"?$/;
        (my $plain = $argument) =~ tr/[]//d;
        refused(in_place("$directive $plain"), "$directive $plain",
                qr/\Q$directive\E/, qr/\Q$wrong\E/, $allowed);
    }
    refused(in_place($directive), "$directive without a value",
            qr/\Q$directive\E/) if $directive ne 'AdmissionDryRun';
}

# What is allowed is told in full where it is easily guessed wrong.
refused(in_place("AdmissionQueue $$_[0]"), "AdmissionQueue $$_[0], told why", $$_[1]) for (
    [ 'off', qr/0 \(no queue\)/ ], [ '10 timeout=5m', qr/in ms, s, min or h, such as timeout=30s/ ],
    [ '10 timeout=0', qr/a length of 0 means no queue/ ],
);
refused(in_place("MaxConcurrent $$_[0]"), "MaxConcurrent $$_[0], told why", $$_[1]) for (
    [ 'auto 5 4', qr/the minimum '5' is above the maximum '4'; .*auto \[min \[max\]\]/ ],
    [ 'auto 0',   qr/'0' is not a minimum for auto, a number from 1 to 65535/ ],
    [ '4 8',      qr/unexpected argument '8' after '4'; .* are for auto/ ],
    [ 'auto 1 2 3', qr/MaxConcurrent takes/ ],
);

accepted(in_place($_), $_) for (
    'MaxConcurrent 1', 'MaxConcurrent off', 'MaxConcurrent OFF', 'MaxConcurrent auto',
    'MaxConcurrent Auto 1', 'MaxConcurrent auto 4 4', 'MaxConcurrent auto 1 65535',
    'AdmissionQueue 0', 'AdmissionQueue 10', 'AdmissionQueue 10 timeout=5',
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
    'AdmissionSpoolLimit 1k', 'AdmissionSpoolLimit 1t',
    'AdmissionFleet lease=5s hold=auto fallback=reject', 'AdmissionFleet hold=90s',
);

# ---- places -----------------------------------------------------------------

my @in_sections = (
    'MaxConcurrent 4', 'AdmissionQueue 10', 'AdmissionHandlers all',
    'AdmissionZone heavy', q(AdmissionExempt "true"), 'AdmissionReject 429',
    'AdmissionDryRun On',
);

for my $section ('Location /x', 'LocationMatch ^/x', 'Directory /x',
                 'Files x.cgi', 'VirtualHost *:1') {
    my ($end) = $section =~ /^(\w+)/;
    accepted(join("\n", "<$section>", @in_sections, "</$end>", ''),
             "every directive of a section in <$section>");
}
accepted(join("\n", @in_sections, ''), 'every one of them in the server');
accepted("LoadModule proxy_module "
         . Admission::Config::modules_dir() . "/mod_proxy.so\n"
         . join("\n", '<Proxy http://x/>', @in_sections, "</Proxy>\n"),
         'every one of them in <Proxy>');

for my $section ('Location /x', 'Directory /x', 'Files x.cgi',
                 'VirtualHost *:1') {
    my ($end) = $section =~ /^(\w+)/;
    refused("<$section>\nAdmissionReserve 5\n</$end>\n",
            "AdmissionReserve in <$section>", qr/AdmissionReserve/);
}
refused("<Location /x>\n<Limit GET>\n$_\n</Limit>\n</Location>\n",
        "$_ in <Limit>", qr/\Q${\ (split)[0]}/) for @in_sections;

# ---- zones without a usable name, or with two meanings ----------------------

for my $section (q(If "true"), q(If "%{REQUEST_URI} =~ m#^/x#")) {
    refused("<$section>\nMaxConcurrent 4\n</If>\n",
            "<$section> without AdmissionZone", qr/AdmissionZone/);
    accepted("<$section>\nMaxConcurrent 4\nAdmissionZone x\n</If>\n",
             "<$section> with AdmissionZone");
}
my $regex = "<LocationMatch ^/x>\nMaxConcurrent 4\n%s</LocationMatch>\n";
accepted(sprintf($regex, ''), 'a regex used once');
accepted(sprintf($regex, '') x 2, 'a regex used twice is one zone');
accepted(sprintf($regex, "AdmissionZone x\n") x 2, 'a regex used twice with AdmissionZone');

my $shared = "<Location /%s>\nMaxConcurrent %d\nAdmissionZone pool\n"
           . "AdmissionQueue %s\n</Location>\n";
accepted(sprintf($shared, 'a', 4, 10) . sprintf($shared, 'b', 4, 10),
         'one zone in two sections with the same numbers');
for (['limits', 5, '10'], ['lengths', 4, '11'],
     ['timeouts', 4, '10 timeout=7s']) {
    my ($what, $limit, $queue) = @$_;
    # Both places: the sections start at lines 1 and 6.
    refused(sprintf($shared, 'a', 4, 10)
            . sprintf($shared, 'b', $limit, $queue),
            "one zone with two $what", qr/pool/,
            qr/admission\.conf:[1-5]\b/, qr/admission\.conf:(?:[6-9]|10)\b/);
}

for (['4', 'auto'], ['auto 1 8', 'auto 1 9'], ['auto 1 8', 'auto'], ['auto 2', 'auto 1']) {
    my ($first, $second) = @$_;
    my $pool = "<Location /%s>\nMaxConcurrent %s\nAdmissionZone pool\n</Location>\n";
    refused(sprintf($pool, 'a', $first) . sprintf($pool, 'b', $second),
            "one zone with $first and $second", qr/pool/,
            qr/admission\.conf:2\b/, qr/admission\.conf:6\b/);
    accepted(sprintf($pool, 'a', $second) . sprintf($pool, 'b', $second),
             "one zone with $second twice");
}

# ---- one section with two numbers ---------------------------------------------

for (['4', '9'], ['4', 'off'], ['off', '4'], ['4', 'auto 1'], ['auto 2 8', 'auto 2 9'],
     ['auto 1', 'off'], ['auto 1', 'auto 1 4']) {
    my ($first, $second) = @$_;
    my $two = "MaxConcurrent $first\nAdmissionZone x\nMaxConcurrent $second\n";
    refused("<Location /x>\n$two</Location>\n",
            "MaxConcurrent $first, then $second in one section",
            qr/MaxConcurrent: '$second' differs from '$first' in \S+admission\.conf:2;/);
    refused($two, '... and outside of any', qr/'$second' differs from '$first'/);
}
accepted("<Location /x>\nMaxConcurrent 4\nMaxConcurrent 4\n</Location>\n", 'the same number twice');
accepted("MaxConcurrent 4\n<Location /x>\nMaxConcurrent 9\n</Location>\n",
         'another number in a section inside');

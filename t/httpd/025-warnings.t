# Settings that cannot work, or that what the server does besides can weaken, are warned about
# at start; the server comes up.

use AdmissionTest;

sub zone($limit, $queue, @more) {
    return location('/x', "MaxConcurrent $limit", "AdmissionQueue $queue", @more);
}

for_each_combo(sub ($combo) {
    my $httpd = start_httpd(workers => 20, conf => join '',
        "AdmissionParking Off\n",
        location('/cgi-bin/', 'MaxConcurrent 4', 'AdmissionQueue 50'),
        location('/cgi-bin/high/', 'MaxConcurrent 21', 'AdmissionQueue 0'));
    $httpd->expect_in_log(
        qr/admission:warn.*zone test\.example:\/cgi-bin\/ .*\b54\b.*worker/i,
        qr/admission:warn.*zone test\.example:\/cgi-bin\/high\/ .*\b21\b.*MaxRequestWorkers.*\b20\b/i);
    is $httpd->get($_)->{status}, 200, "$_ runs" for '/cgi-bin/heavy', '/cgi-bin/high/heavy';
    my $is_threaded = $combo->{mpm} ne 'prefork';
    is scalar(grep { /admission:warn.*mod_cgi\b/ } $httpd->error_log), $combo->{cgi} eq 'cgi' && $is_threaded ? 1 : 0,
        'a warning about mod_cgi under a threaded MPM, and only there';
});

# What is warned of at start is warned of by configtest, too.
for_each_combo(sub ($combo) {
    my @cases = (
        [ 'a good zone', zone(4, 10) ],
        [ 'a limit above MaxRequestWorkers', zone(500, 0), qr/ADM0103.*\b500\b.*\b20\b/ ],
        [ 'a limit above what the reserve leaves', zone(16, 0),
          qr/ADM0104.*\b16\b.*\b15 of 20\b/ ],
        [ 'a queue without a limit', "AdmissionQueue 10\n",
          qr/ADM0006: AdmissionQueue in \S+admission\.conf:1 .*MaxConcurrent/ ],
        [ 'handlers without a limit', location('/x', 'AdmissionHandlers all'),
          qr/ADM0006: AdmissionHandlers in \S+admission\.conf:2 / ],
        [ 'a queue and no limit but off', "MaxConcurrent off\nAdmissionQueue 10\n", qr/ADM0006/ ],
        [ 'a minimum beyond the workers', zone('auto 5000', 0),
          qr/ADM0103: .*MaxConcurrent auto 5000 exceeds MaxRequestWorkers \d+ and can never be reached/ ],
        [ 'a maximum beyond the workers', location('/x', 'MaxConcurrent auto 1 5000') ],
        [ 'a target beyond the timeout', zone(4, '9 timeout=2s target=2500ms'),
          qr/ADM0121: AdmissionQueue in \S+admission\.conf:3: .*target of 2500 ms.*timeout of 2000 ms/ ],
        [ 'a target beyond the default timeout, in a section without a limit',
          zone(4, 9) . location('/x/y', 'AdmissionQueue 9 target=31'),
          qr/ADM0121: AdmissionQueue in \S+admission\.conf:6: .*30000 ms/ ],
        [ 'a target as long as the timeout', zone(4, '9 timeout=2s target=2s') ],
        [ 'a key that may hold more than there is', zone(4, 9, 'AdmissionFair client max=5'),
          qr/ADM0122: zone test\.example:\/x \(.*\): AdmissionFair max=5 .*MaxConcurrent 4\b/ ],
        [ 'a key that may hold all', zone(4, 9, 'AdmissionFair client max=4') ],
        [ 'a key that may hold more than some zones', "AdmissionFair client max=5\n" . zone(4, 9) ],
        map({ [ "$_ without a limit", "$_\n", qr/ADM0006: ${\ (split)[0]} in / ] }
            'AdmissionCost 2', 'AdmissionFair client', 'AdmissionPriority low true',
            'AdmissionSpool request=1M'),
    );
    push @cases, [ 'a queue beyond parking', "AsyncRequestWorkerFactor 2\n" . zone(4, 5000),
                    qr/ADM0302: .*AdmissionQueue 5000\b/ ]
        if $combo->{mpm} eq 'event';
    my $httpd = new_httpd();
    for (@cases) {
        my ($what, $conf, $warning) = @$_;
        $httpd->configure($conf);
        my ($status, $output) = $httpd->configtest;
        my @warnings = $output =~ /^.*admission:warn.*$/mg;
        is $status, 0, "$what: configtest accepts it";
        is scalar @warnings, $warning ? 1 : 0, '... with ' . ($warning ? 'one warning' : 'no warning')
            or diag $output;
        like $warnings[0], $warning, '... with the expected text' if $warning;
    }
}, 'prefork+cgi', 'event+cgid');

# Assertion: a server of this configuration logs these lines about it, and no others. How many
# requests it can park depends on how many files may be open.
sub logs($what, $lines, $conf, @options) {
    my $httpd = new_httpd(conf => $conf, @options);

    $httpd->allow_in_log(qr/ADM01(?:05|15)|ADM0302|ADM0401/)->start;
    lines_are([ grep { /ADM011[3-9]|ADM0126|ADM0401/ } $httpd->error_log ], $lines, $what);
    $httpd->stop;
}

# The directive that comes last counts: what "off" has ended is not warned of.
for_each_combo(sub {
    my $together = "AdmissionRecycle 5 together=2\n";
    my $warning = qr/admission:warn.*ADM0401: AdmissionRecycle: together=2/;
    logs('together= without an effect', [$warning], $together);
    logs('together=, and off', [], "${together}AdmissionRecycle off\n");
}, 'event+cgid');

# 29 instead of 15: a notice of the threads that mod_http2 is given for waiting streams.
sub instead($now, $default) {
    my $text = "H2MaxWorkers is not set; using $now instead of mod_http2's default of $default,";
    return qr/:notice\].*ADM0126: $text/;
}

for_each_combo(sub {
    my $long = qr/:warn\].*ADM0115:/;
    needs_modules('http2');
    logs(@$_, http2 => 1) for (
        # Of 16 threads of mod_http2 the reserve takes 4.
        [ 'a queue that fits a number that is set', [], "H2MaxWorkers 16\n" . zone(2, 10) ],
        [ 'a queue that does not', [qr{$long zone test\.example:/x .*\b12\b.*\b11\b.*H2MaxWorkers}],
          "H2MaxWorkers 15\n" . zone(2, 10) ],
        # Ten workers a child: mod_http2 would have 15 threads.
        [ 'no number of threads', [ instead(29, 15) ], zone(2, 10) ],
        [ 'another minimum', [ instead(35, 21) ], "H2MinWorkers 14\n" . zone(2, 10) ],
        [ 'as many as may be', [ instead(512, 15) ], zone(2, 495) ],
        [ 'a queue beyond that', [ qr/$long .*\b498\b.*\b497\b.*H2MaxWorkers/, instead(512, 15) ],
          zone(2, 496) ],
        [ 'no zone', [], '' ],
    );
    logs('without its protocol', [], "H2MaxWorkers 15\n" . zone(2, 10), modules => ['http2']);
}, 'event+cgid', 'worker+cgid');

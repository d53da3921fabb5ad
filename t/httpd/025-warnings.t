# Settings that cannot work are warned about at start; the server comes up.

use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
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
for_each_combo(sub {
    my ($combo) = @_;
    my $zone = sub {
        my ($limit, $queue, @more) = @_;
        return location('/x', "MaxConcurrent $limit", "AdmissionQueue $queue", @more);
    };
    my @cases = (
        [ 'a good zone', $zone->(4, 10) ],
        [ 'a limit above MaxRequestWorkers', $zone->(500, 0), qr/ADM0103.*\b500\b.*\b20\b/ ],
        [ 'a limit above what the reserve leaves', $zone->(16, 0),
          qr/ADM0104.*\b16\b.*\b15 of 20\b/ ],
        [ 'a queue without a limit', "AdmissionQueue 10\n",
          qr/ADM0006: AdmissionQueue in \S+admission\.conf:1 .*MaxConcurrent/ ],
        [ 'handlers without a limit', location('/x', 'AdmissionHandlers all'),
          qr/ADM0006: AdmissionHandlers in \S+admission\.conf:2 / ],
        [ 'a queue and no limit but off', "MaxConcurrent off\nAdmissionQueue 10\n", qr/ADM0006/ ],
        [ 'a minimum beyond the workers', $zone->('auto 5000', 0),
          qr/ADM0103: .*MaxConcurrent auto 5000 exceeds MaxRequestWorkers \d+ and can never be reached/ ],
        [ 'a maximum beyond the workers', location('/x', 'MaxConcurrent auto 1 5000') ],
        [ 'a target beyond the timeout', $zone->(4, '9 timeout=2s target=2500ms'),
          qr/ADM0121: AdmissionQueue in \S+admission\.conf:3: .*target of 2500 ms.*timeout of 2000 ms/ ],
        [ 'a target beyond the default timeout, in a section without a limit',
          $zone->(4, 9) . location('/x/y', 'AdmissionQueue 9 target=31'),
          qr/ADM0121: AdmissionQueue in \S+admission\.conf:6: .*30000 ms/ ],
        [ 'a target as long as the timeout', $zone->(4, '9 timeout=2s target=2s') ],
        [ 'a key that may hold more than there is', $zone->(4, 9, 'AdmissionFair client max=5'),
          qr/ADM0122: zone test\.example:\/x \(.*\): AdmissionFair max=5 .*MaxConcurrent 4\b/ ],
        [ 'a key that may hold all', $zone->(4, 9, 'AdmissionFair client max=4') ],
        [ 'a key that may hold more than some zones have', "AdmissionFair client max=5\n" . $zone->(4, 9) ],
        [ 'keys without a limit', "AdmissionFair client\n", qr/ADM0006: AdmissionFair in / ],
        [ 'priorities without a limit', "AdmissionPriority low true\n", qr/ADM0006: AdmissionPriority in / ],
        [ 'costs without a limit', "AdmissionCost 2\n", qr/ADM0006: AdmissionCost in / ],
        [ 'spooling without a limit', "AdmissionSpool request=1M\n", qr/ADM0006: AdmissionSpool in / ],
    );
    push @cases, [ 'a queue beyond parking', "AsyncRequestWorkerFactor 2\n" . $zone->(4, 5000),
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

# The directive that comes last counts: what "off" has ended is not warned of.
for_each_combo(sub {
    for my $off ('', "AdmissionRecycle off\n") {
        my $httpd = start_httpd(conf => "AdmissionRecycle 5 together=2\n$off");
        my @lines = grep { /ADM0401/ } $httpd->error_log;
        is scalar @lines, $off ? 0 : 1, 'together= without an effect' . ($off && ', and off');
        $httpd->expect_in_log(qr/admission:warn.*AdmissionRecycle: together=2/) if !$off;
        $httpd->stop;
    }
}, 'event+cgid');

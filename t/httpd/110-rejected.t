# Who finds the line full is rejected, and told when to come back.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 2
</Location>
<Location /cgi-bin/at-once/>
    MaxConcurrent 1
    AdmissionQueue 0
</Location>
<Location /cgi-bin/at-once/busy/>
    AdmissionReject 429 retry-after=off
</Location>
<Location /cgi-bin/at-once/fixed/>
    AdmissionReject 503 retry-after=2min
</Location>
CONF

    my @zones = map { "test.example:$_" } '/cgi-bin/', '/cgi-bin/at-once/';
    $httpd->expect_rejections($_, 'full') for @zones;

    my @clients = $httpd->ask('/cgi-bin/heavy?id=0&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    for my $n (1, 2) {
        push @clients, $httpd->ask("/cgi-bin/heavy?id=$n");
        $httpd->zone_becomes('/cgi-bin/', "$n in line", Queued => $n);
    }

    my $rejected = $httpd->get('/cgi-bin/heavy?id=3');
    is $rejected->{status}, 503, 'the line is full: 503';
    like $rejected->{headers}{'retry-after'} // '(none)', qr/^\d+$/,
        'Retry-After is a whole number';
    cmp_ok $rejected->{headers}{'retry-after'} // 0, '>=', 1,
        'of at least a second';
    cmp_ok $rejected->{headers}{'retry-after'} // 999, '<=', 120,
        'and at most two minutes';
    is $httpd->get('/cgi-bin/heavy?id=3', method => 'POST',
                   body => 'x' x 100_000)
        ->{status}, 503, 'a POST is rejected as well';
    $httpd->zone_becomes('/cgi-bin/', 'both are counted', RejectedFull => 2,
                         Active => 1, Queued => 2, RejectedTimeout => 0);
    wait_for { $httpd->get('/cgi-bin/heavy?id=3')->{headers}{'retry-after'} >= 3 }
        'before any has ended the one that runs tells how long they take';

    my $hold = $httpd->ask('/cgi-bin/at-once/heavy?id=h&until=go');
    $httpd->zone_becomes('/cgi-bin/at-once/', 'one runs in the other zone',
                         Active => 1, QueueLength => 0);
    is $httpd->get('/cgi-bin/at-once/heavy?id=3')->{status}, 503,
        'AdmissionQueue 0 rejects at once';
    my $busy = $httpd->get('/cgi-bin/at-once/busy/heavy?id=3');
    is $busy->{status}, 429, 'AdmissionReject chooses the status';
    is $busy->{headers}{'retry-after'}, undef,
        'retry-after=off leaves the header out';
    my $fixed = $httpd->get('/cgi-bin/at-once/fixed/heavy?id=3');
    is $fixed->{headers}{'retry-after'}, 120,
        'a fixed retry-after is sent in seconds';

    $httpd->open_gate('go');
    is_deeply statuses(answers(@clients, $hold)), { 200 => 4 },
        'who was in, is answered';
    is scalar(grep { $_ eq 'start 3' } $httpd->record), 0,
        'no program ran for a rejected request';
    $httpd->zone_becomes($_, "$_ is at rest", Active => 0, Queued => 0)
        for @zones;
    for my $zone (@zones) {
        my @lines = grep { /:warn.*\Q$zone\E: .*reject/ } $httpd->error_log;
        is scalar @lines, 1,
            "the error log has one line about $zone, not one a request";
        like $lines[0] // '', qr/\b1 of 1\b/, 'with the numbers';
    }
    $httpd->stop;
});

done_testing;

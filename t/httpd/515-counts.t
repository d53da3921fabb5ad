# Everything that becomes of requests, counted from outside by those who sent them
# and by the access log: all outputs say the same.

use AdmissionTest;
use AdmissionTest::Outputs;
use List::Util qw(sum0);

my ($ZONE, $WIDE) = map { "test.example:$_" } '/cgi-bin/', '/cgi-bin/wide/';

# { status => number } of the zone's lines in the access log.
sub logged_statuses {
    my ($httpd, $zone) = @_;
    my %count;
    $count{$_}++ for map { / zone=\Q$zone\E status=(\S+)/ } $httpd->access_log;
    return \%count;
}

# Assertions: every output shows these numbers of the zone, and the access log
# has as many lines of each.
sub all_say {
    my ($httpd, $zone, %expected) = @_;
    my $outputs = read_outputs($httpd, $zone);

    for my $output (sort keys %$outputs) {
        # The page leaves out what is 0.
        my $nothing = $output eq 'the page' ? 0 : undef;
        my %shown = map { $_ => $outputs->{$output}{zone}{$_} // $nothing } keys %expected;
        is_deeply \%shown, \%expected, "$output of $zone";
    }
    my %lines = (admitted => $expected{Admitted} - $expected{AdmittedAfterWait},
                 queued => $expected{AdmittedAfterWait}, exempt => $expected{Exempt},
                 full => $expected{RejectedFull}, timeout => $expected{RejectedTimeout},
                 reserve => $expected{RejectedReserve}, gone => $expected{Gone});
    delete @lines{ grep { !$lines{$_} } keys %lines };
    my $logged;
    $httpd->soon(sub {
        $logged = logged_statuses($httpd, $zone);
        sum0(values %$logged) >= sum0(values %lines);
    });
    is_deeply $logged, \%lines, "the access log of $zone";
}

# The numbers of a histogram, in both outputs that have them.
sub durations_are_counted {
    my ($httpd, $kind, $number) = @_;
    my ($zone) = grep { $_->{name} eq $ZONE } @{ $httpd->json('/admission?json')->{zones} };
    my $metrics = $httpd->get('/admission?prometheus')->{body};
    my $metric = "admission_${kind}_duration_seconds";
    my @buckets = $metrics =~ /^${metric}_bucket\{zone="\Q$ZONE\E",le="[^"]+"\} (\d+)$/mg;
    my ($count) = $metrics =~ /^${metric}_count\{zone="\Q$ZONE\E"\} (\d+)$/m;
    my $sum = 0;

    is $zone->{$kind}{count}, $number, "JSON: $kind is counted";
    is sum0(@{ $zone->{$kind}{below2PowNMs} }), $number, '... in buckets';
    is $count, $number, "Prometheus: $kind is counted";
    is_deeply \@buckets, [ map { $sum += $_ } @{ $zone->{$kind}{below2PowNMs} } ],
        '... in cumulative buckets';
}

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf =>
        "AdmissionReserve 10\n"
        . location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 3',
                   'AdmissionExempt "%{QUERY_STRING} =~ /exempt/"')
        . location('/cgi-bin/hasty/', 'AdmissionQueue 3 timeout=100ms')
        . location('/cgi-bin/wide/', 'MaxConcurrent 12', 'AdmissionQueue 0'));
    $httpd->expect_in_log(qr/ADM0104: .*wide/);
    $httpd->expect_rejections($ZONE, $_) for qw(full long);
    $httpd->expect_rejections($WIDE, 'reserve');
    my $is_empty = sub {
        $httpd->zone_becomes($ZONE, 'no request runs or waits', Active => 0, Queued => 0);
    };

    # All at once: how many find what is up to chance, and counted.
    my @all = answers(map { $httpd->ask('/cgi-bin/heavy?ms=20') } 1 .. 30);
    my $statuses = statuses(@all);
    my $ran = $statuses->{200};
    is $ran + $statuses->{503}, 30, 'all are answered';
    $is_empty->();
    my $waited = $httpd->zone($ZONE)->{AdmittedAfterWait};
    # Where waiting requests hold workers, some can find the rest of these reserved.
    my $reserved = $httpd->zone($ZONE)->{RejectedReserve};

    my @hold = $httpd->fill('/cgi-bin/', 'go', 2);
    is_deeply statuses(answers(map { $httpd->ask('/cgi-bin/hasty/heavy') } 1 .. 3)),
        { 503 => 3 }, 'three wait too long';
    my @leave = map { $httpd->ask('/cgi-bin/heavy', keep => 1) } 1, 2;
    $httpd->zone_becomes($ZONE, 'two wait', Queued => 2);
    $_->leave for @leave;
    $httpd->zone_becomes($ZONE, '... and leave', Queued => 0);
    is_deeply statuses(map { $httpd->get('/cgi-bin/heavy?exempt') } 1 .. 4), { 200 => 4 },
        'four are exempt';
    push @hold, $httpd->ask('/cgi-bin/heavy');
    $httpd->zone_becomes($ZONE, 'one waits for its turn', Queued => 1);
    $httpd->serves('go', 'the others end well', @hold);
    $is_empty->();
    cmp_ok $waited, '<=', $ran - 2, 'the first two had not waited';

    my @wide = $httpd->fill('/cgi-bin/wide/', 'end', 10);
    is_deeply statuses(map { $httpd->get('/cgi-bin/wide/heavy') } 1, 2), { 503 => 2 },
        'two find the rest reserved';
    $httpd->serves('end', 'the ten end well', @wide);
    $httpd->zone_becomes($WIDE, 'no request runs', Active => 0);

    all_say($httpd, $ZONE, Active => 0, Queued => 0, QueuedMax => 3,
            Admitted => $ran + 3, AdmittedAfterWait => $waited + 1, Exempt => 4,
            RejectedFull => $statuses->{503} - $reserved, RejectedTimeout => 3,
            RejectedReserve => $reserved, Gone => 2);
    all_say($httpd, $WIDE, Active => 0, Queued => 0, QueuedMax => 0, Admitted => 10,
            AdmittedAfterWait => 0, Exempt => 0, RejectedFull => 0, RejectedTimeout => 0,
            RejectedReserve => 2, Gone => 0);
    durations_are_counted($httpd, 'wait', $waited + 1);
    durations_are_counted($httpd, 'service', $ran + 3);
});

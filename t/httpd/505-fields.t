# Everything that becomes of requests, counted from outside by those who sent them and by the
# access log: server-status shows the same. The other outputs have every field of the tables, no
# other one, and its values. Only ?prometheus and the page leave out what tells nothing of a
# zone, and the page what is 0.

use AdmissionTest;
use AdmissionTest::Outputs;
use Fields;
use List::Util qw(sum0);

my ($ZONE, $WIDE) = map { "test.example:$_" } '/cgi-bin/', '/cgi-bin/wide/';
my %fields = map { $_ => [ fields_of($_) ] } qw(server zone);

# A number, or the word for it.
sub is_zero { return $_[0] =~ /^(?:0|open|fixed|off|none)\z/ }

# All outputs of one moment: the agent looks at the machine's memory now and then, and
# others use that meanwhile.
sub outputs_of_a_moment {
    my ($httpd, $zone) = @_;
    my ($outputs, $next) = map { read_outputs($httpd, $zone) } 1 .. 2;

    for (my $n = 0; $n < 20 && !eq_hash($outputs->{'?auto'}, $next->{'?auto'}); $n++) {
        ($outputs, $next) = ($next, read_outputs($httpd, $zone));
    }
    return $outputs;
}

# Assertions: every output has the fields that it is to have, and if the zone is at
# rest with the same values. Where it is not, what was 0 may have changed until the page came.
sub all_agree {
    my ($httpd, $zone, $is_at_rest) = @_;
    my $outputs = $is_at_rest ? outputs_of_a_moment($httpd, $zone) : read_outputs($httpd, $zone);

    for my $output (sort keys %$outputs) {
        for my $what (sort keys %fields) {
            my ($shown, %auto) = ($outputs->{$output}{$what}, %{ $outputs->{'?auto'}{$what} });
            my $is_short = $output =~ ($what eq 'zone' ? qr/Prometheus|the page/ : qr/the page/);
            my @names = map { $_->{name} }
                grep { !$is_short || tells_of($_, \%auto) }
                grep { $output ne 'the page' || !is_zero($auto{ $_->{name} })
                       || !$is_at_rest && exists $shown->{ $_->{name} } } @{ $fields{$what} };

            is_deeply [ sort keys %$shown ], [ sort @names ],
                "$output of $zone has the fields of the $what and no other";
            is_deeply $shown, { map { $_ => $auto{$_} } @names }, '... with the values of ?auto'
                if $is_at_rest;
        }
    }
}

# Assertions: ?auto shows these numbers of the zone, and so do the other outputs; the access log
# has as many lines of each.
sub all_say {
    my ($httpd, $zone, %expected) = @_;
    my $shown = $httpd->zone($zone);
    is_deeply +{ map { $_ => $shown->{$_} } keys %expected }, \%expected, "the numbers of $zone";
    all_agree($httpd, $zone, 1);

    my %lines = (admitted => $expected{Admitted} - $expected{AdmittedAfterWait},
                 queued => $expected{AdmittedAfterWait}, exempt => $expected{Exempt},
                 full => $expected{RejectedFull}, timeout => $expected{RejectedTimeout},
                 reserve => $expected{RejectedReserve}, gone => $expected{Gone});
    delete @lines{ grep { !$lines{$_} } keys %lines };
    my %logged;
    $httpd->soon(sub {
        %logged = ();
        $logged{$_}++ for map { / zone=\Q$zone\E status=(\S+)/ } $httpd->access_log;
        sum0(values %logged) >= sum0(values %lines);
    });
    is_deeply \%logged, \%lines, "the access log of $zone";
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
    my $httpd = new_httpd(conf => "AdmissionReserve 10\n"
        . location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 3',
                   'AdmissionExempt "%{QUERY_STRING} =~ /exempt/"')
        . location('/cgi-bin/hasty/', 'AdmissionQueue 3 timeout=100ms')
        . location('/cgi-bin/wide/', 'MaxConcurrent 12', 'AdmissionQueue 0')
        . location('/found/', 'MaxConcurrent auto')
        . location('/dry/', 'MaxConcurrent 1', 'AdmissionQueue 5', 'AdmissionDryRun On'))
        ->alone->start;
    $httpd->expect_in_log(qr/ADM0104: .*wide/)->allow_in_log(qr/ADM0302: .*found/);
    $httpd->expect_rejections($ZONE, $_) for qw(full long);
    $httpd->expect_rejections($WIDE, 'reserve');
    my $is_empty = sub {
        $httpd->zone_becomes($ZONE, 'it is empty', Active => 0, Queued => 0, OldestWaitMs => 0);
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
    push @hold, $httpd->ask('/cgi-bin/heavy?ms=20');
    $httpd->zone_becomes($ZONE, 'one waits for its turn', Queued => 1);
    my $status;
    wait_for { ($status = $httpd->status)->{zone}{$ZONE}{OldestWaitMs} >= 200 } '... for 0.2 s';
    is $status->{AdmissionBlocked} + $status->{AdmissionParked}, 1, '... blocked or parked';
    $httpd->serves('go', 'the others end well', @hold);
    $is_empty->();
    cmp_ok $waited, '<=', $ran - 2, 'the first two had not waited';

    my @wide = $httpd->fill('/cgi-bin/wide/', 'end', 10);
    is_deeply statuses(map { $httpd->get('/cgi-bin/wide/heavy') } 1, 2), { 503 => 2 },
        'two find the rest reserved';
    $httpd->serves('end', 'the ten end well', @wide);
    $httpd->zone_becomes($WIDE, 'no request runs', Active => 0);

    $status = $httpd->status;
    my %zones = %{ $status->{zone} };
    is_deeply [ @$status{qw(AdmissionZones AdmissionReserve)} ], [ 4, 10 ], 'zones and reserve';
    is_deeply [ @{ $zones{'test.example:/found/'} }{qw(QueueLength QueueTimeoutMs)} ],
        [ 100, 30_000 ], 'the default queue';
    is_deeply [ grep { /^Admission/ && $status->{$_} !~ /^\d+$/ } keys %$status ],
        ['AdmissionEngineState'], 'what is of the server is whole numbers';
    for my $zone (values %zones) {
        is_deeply [ sort grep { $zone->{$_} !~ /^\d+$/ } keys %$zone ],
            [qw(FleetState LimitMode LimitReason Mode Name)], "... and of the zone $zone->{Name}";
    }
    cmp_ok $zones{$ZONE}{WaitMaxMs}, '>=', 200, 'the longest wait';
    cmp_ok $zones{$ZONE}{WaitMeanMs}, '<=', $zones{$ZONE}{WaitMaxMs}, 'the mean is not above it';
    cmp_ok $zones{$ZONE}{ServiceMeanMs}, '>=', 20, 'the mean service time';
    all_say($httpd, $ZONE, Active => 0, Queued => 0, QueuedMax => 3,
            Admitted => $ran + 3, AdmittedAfterWait => $waited + 1, Exempt => 4,
            RejectedFull => $statuses->{503} - $reserved, RejectedTimeout => 3,
            RejectedReserve => $reserved, Gone => 2);
    all_say($httpd, $WIDE, Active => 0, Queued => 0, QueuedMax => 0, Admitted => 10,
            AdmittedAfterWait => 0, Exempt => 0, RejectedFull => 0, RejectedTimeout => 0,
            RejectedReserve => 2, Gone => 0);
    # What an automatic limit shows changes by itself.
    all_agree($httpd, "test.example:/$_/", 0) for qw(found dry);
    durations_are_counted($httpd, 'wait', $waited + 1);
    durations_are_counted($httpd, 'service', $ran + 3);

    my $rejected = $statuses->{503} + 3;
    like $httpd->get("/server-status$_")->{body},
        qr{>\Q$ZONE\E</a>: limit 2, 0 running, 0 waiting, $rejected rejected</dd>},
        "server-status$_ has a line for the zone" for '', '?notable';
    my %label = $httpd->get('/admission?zone=test.example:/found/')->{body}
        =~ m{<div data-field="(\w+)"[^>]*><dt>([^<]*)}g;
    is_deeply [ @label{qw(QueueTimeoutMs MemoryBudgetMB Limit)} ],
        [ 'Queue timeout', 'Memory budget', 'Limit' ], 'the page has the units with the numbers';
});

# Requests that run whatever the count is: exempt ones, and all in a dry run.

use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => join '',
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 1',
            q(AdmissionExempt "%{HTTP:X-Urgent} == 'yes'")),
        location('/cgi-bin/dry/', 'MaxConcurrent 1', 'AdmissionQueue 1', 'AdmissionDryRun On'),
        location('/cgi-bin/broken/', 'MaxConcurrent 1', 'AdmissionQueue 1',
            q{AdmissionExempt "file('/nowhere/at-all') == 'yes'"}));
    # httpd itself has a line for each.
    $httpd->expect_in_log(qr/ADM0204/, qr/Evaluation of expression .* failed/);
    is_deeply statuses(map { $httpd->get('/cgi-bin/broken/heavy') } 1 .. 5), { 200 => 5 },
        'where the expression fails';
    $httpd->zone_becomes('/cgi-bin/broken/', '... no request is exempt', Exempt => 0, Admitted => 5);
    is scalar(grep { /ADM0204/ } $httpd->error_log), 1, '... and the error log reports it once';
    $httpd->expect_rejections('test.example:/cgi-bin/', 'full');

    my @hold = $httpd->ask('/cgi-bin/heavy?id=a&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'the zone is full', Active => 1);
    push @hold, $httpd->ask('/cgi-bin/heavy?id=b');
    $httpd->zone_becomes('/cgi-bin/', 'and one waits', Queued => 1);
    is $httpd->get('/cgi-bin/heavy?id=c',
                   headers => ['X-Urgent: yes'])->{status}, 200,
        'an exempt request runs immediately';
    is $httpd->get('/cgi-bin/heavy?id=d',
                   headers => ['X-Urgent: no'])->{status}, 503,
        'one for which the expression is false does not';
    $httpd->zone_becomes('/cgi-bin/', 'it is counted apart', Exempt => 1,
                         Active => 1, Queued => 1, Admitted => 1);

    for my $n (1 .. 4) {
        push @hold, $httpd->ask("/cgi-bin/dry/heavy?id=dry$n&until=go");
        wait_for { grep { $_ eq "start dry$n" } $httpd->record }
            "dry run: number $n runs at once";
    }

    $httpd->open_gate('go');
    is_deeply statuses(answers(@hold)), { 200 => 6 }, 'all end well';

    my %log;
    wait_for {
        %log = map { /id=(\w+)\S* zone=(\S+) status=(\S+)/
                         ? ($1 => [ $2, $3 ]) : () } $httpd->access_log;
        keys %log == 8;
    } 'the access log has them all';
    my ($zone, $dry) = map { "test.example:$_" } '/cgi-bin/', '/cgi-bin/dry/';
    is_deeply $log{c}, [ $zone, 'exempt' ], 'it names the exempt request';
    is_deeply $log{dry1}, [ $dry, 'admitted' ], 'a request that would have been admitted';
    is_deeply $log{dry2}, [ $dry, 'dry-queued' ], 'a request that would have waited';
    is_deeply $log{$_}, [ $dry, 'dry-full' ], "$_ would have been rejected" for qw(dry3 dry4);
    $httpd->zone_becomes('/cgi-bin/dry/', 'the status shows it', DryRun => 1, Active => 0, Queued => 0,
                         Admitted => 4, DryQueued => 1, RejectedFull => 2);
    $httpd->zone_becomes('/cgi-bin/', 'the other zone is at rest', Active => 0, Queued => 0, RejectedFull => 1);
    $httpd->stop;
});

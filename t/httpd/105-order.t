# The line is served in order of arrival, over all children.

use AdmissionTest;

my $waiters = 8;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', "AdmissionQueue $waiters"));

    my @clients = $httpd->ask('/cgi-bin/heavy?id=0&until=go');
    wait_for { 1 == $httpd->record } 'the first runs';
    for my $n (1 .. $waiters) {
        push @clients, $httpd->ask("/cgi-bin/heavy?id=$n&ms=5");
        $httpd->zone_becomes('/cgi-bin/', "number $n stands in line", Queued => $n, Active => 1);
    }
    is_deeply [ $httpd->record ], ['start 0'], 'no request has overtaken';

    $httpd->open_gate('go');
    is_deeply statuses(answers(@clients)), { 200 => 1 + $waiters }, 'all are answered';
    is_in_order($httpd, '/cgi-bin/', [ $httpd->record ],
        [ map { ("start $_", "end $_") } 0 .. $waiters ],
        'one after the other, in order of arrival');
    $httpd->zone_becomes('/cgi-bin/', 'the counts tell the story',
                         Active => 0, Queued => 0, QueuedMax => $waiters,
                         Admitted => 1 + $waiters,
                         AdmittedAfterWait => $waiters);
    $httpd->stop;
});

# A hard restart and a stop with a full line: quick, and nothing is left over.
# (httpd warns about children that are slow to stop, which fails the test.)

use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'));
    my $fill = sub {
        my ($name) = @_;
        my @clients = $httpd->ask("/cgi-bin/heavy?id=$name&early=1&until=$name");
        wait_for { $clients[0]->has_begun } 'one runs';
        push @clients, map { $httpd->ask("/cgi-bin/heavy?id=waiter&ms=60000") } 1 .. 5;
        $httpd->zone_becomes('/cgi-bin/', 'five wait', Queued => 5);
        return @clients;
    };

    my @cut_off = $fill->('restarted');
    $httpd->open_gate_soon('restarted');
    $httpd->restart;
    $httpd->zone_becomes('/cgi-bin/',
                         'after a restart no request runs or waits',
                         Active => 0, Queued => 0);
    is scalar(answers(@cut_off)), 6, 'all clients have been let go';
    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'the next request runs';

    @cut_off = $fill->('stopped');
    $httpd->open_gate_soon('stopped');
    $httpd->stop;
    answers(@cut_off);
    is_deeply [ grep { /waiter/ } $httpd->record ], [],
        'no program was started for waiting requests';
});

# Programs end when their child has just been told to stop, and permits come back while
# requests wait that have not noticed it: none of them begins, or it would look for mod_cgid's
# daemon for ten seconds. (httpd warns about children that are slow to stop, which fails the
# test.) A child that is told closes its socket first; until then, requests begin.

use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    for my $parking ('On', 'Off') {
        my $httpd = start_httpd(combo => $combo, workers => 50, conf =>
            "AdmissionParking $parking\n"
            . location('/cgi-bin/', 'MaxConcurrent 4', 'AdmissionQueue 30'));
        my @clients = map { $httpd->ask("/cgi-bin/heavy?id=$_&early=1&until=go") } 1 .. 4;
        wait_for { 4 == grep { $_->has_begun } @clients } "parking $parking: four run";
        push @clients, map { $httpd->ask('/cgi-bin/heavy?id=waiter&ms=60000') } 1 .. 26;
        $httpd->zone_becomes('/cgi-bin/', 'all others wait', Queued => 26);
        my @children = $httpd->children;
        $httpd->open_gate_soon('go', 0.03, sub { !$httpd->accepts(@children) });
        $httpd->stop;
        answers(@clients);
        is_deeply [ grep { /waiter/ } $httpd->record ], [], 'none of them was started';
    }
}, 'worker+cgid', 'event+cgid');

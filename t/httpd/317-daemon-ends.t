# mod_cgid's daemon ends at each graceful, while programs that it has started run. A
# permit is back with its program, and nothing was reclaimed: nobody has died.

use AdmissionTest;

my ($limit, $zone) = (4, '/cgi-bin/');

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, places => 8, conf =>
        "LogLevel admission:trace1\n"
        . location($zone, "MaxConcurrent $limit", 'AdmissionQueue 20'));
    my $watch = $httpd->watch;
    my @first = map { $httpd->ask("${zone}heavy?id=first$_&until=go") } 1 .. $limit;
    my ($daemon) = $httpd->daemons;

    wait_for { $httpd->live_programs_now == $limit } 'programs run';
    my @next = map { $httpd->ask("${zone}heavy?id=next$_&ms=20") } 1 .. $limit;
    $httpd->zone_becomes($zone, 'others wait', Queued => $limit);
    $httpd->graceful;
    wait_for { !grep { $_ == $daemon } $httpd->daemons } 'their daemon ends';
    is $httpd->live_programs_now, $limit, 'they run on';
    is $httpd->zone($zone)->{Active}, $limit, 'and have their permits';

    $httpd->serves('go', 'all are answered', @first, @next);
    $httpd->zone_becomes($zone, 'all permits are back', Active => 0, Orphans => 0);
    is $httpd->zone($zone)->{Reclaimed}, 0, 'none was reclaimed';
    # A program closes its output a moment before it has ended.
    cmp_ok scalar(grep { /the permit is kept/ } $httpd->error_log), '<', $limit,
        'they are known to have ended, and keep no permits';
    is $watch->most, $limit, "there were never more than $limit programs";
}, 'event+cgid', 'worker+cgid');

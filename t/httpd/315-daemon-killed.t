# mod_cgid's daemon dies, and the programs it has just started live on: nobody
# told httpd their pids, so that it cannot end them when their requests end. They
# keep their permits all the same.

use AdmissionTest;

my ($limit, $rounds, $most_rounds) = (8, 2, 8);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 80, conf =>
        location('/cgi-bin/', "MaxConcurrent $limit", 'AdmissionQueue 20'));
    my $zone = '/cgi-bin/';
    my $watch = $httpd->watch;
    my $left = 0;

    # The daemon may be quick enough to say all pids: then the round tells nothing.
    for (my $n = 1; $n <= $rounds || (!$left && $n <= $most_rounds); $n++) {
        my ($daemon) = $httpd->daemons;

        # It finds all requests at once, and the first program kills it before
        # it can say what the pids of all are.
        kill STOP => $daemon;
        my @first = map { $httpd->ask('/cgi-bin/heavy?kill=1&ms=1500') } 1 .. $limit;
        $httpd->zone_becomes($zone, 'all permits are given', Active => $limit);
        kill CONT => $daemon;
        wait_for { $httpd->live_programs_now
                   && !grep { $_ == $daemon } $httpd->daemons }
            'the first program kills its daemon';
        wait_for { $httpd->daemons } 'httpd starts another one';
        $left += grep { $_->has_begun } @first;

        my @next = map { $httpd->ask("/cgi-bin/heavy?ms=50") } 1 .. 2 * $limit;
        is_deeply statuses(answers(@next)), { 200 => 2 * $limit },
            'others run in the permits that are left';
        $httpd->zone_becomes($zone, 'all permits are back', Active => 0, Queued => 0);
    }
    cmp_ok $left, '>', 0, "requests that ended before their programs: $left";
    cmp_ok $watch->most, '<=', $limit, "there were never more than $limit programs";
    $httpd->allow_in_log(qr/\[cgid:error\]/);
}, 'event+cgid');

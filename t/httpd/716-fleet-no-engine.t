# A server that starts while the engine is away, with fallback=reject: requests that come
# during the first lease are rejected when it ends, not at the end of their own timeout.

use AdmissionTest;

engine_or_skip();

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = new_httpd(combo => $combo, workers => 40, conf =>
        fleet_zone('redis://127.0.0.1:1', 'fallback=reject', 2, 'AdmissionQueue 10 timeout=10min'));
    $httpd->allow_in_log(qr/ADM0105/, qr/ADM0142/);
    $httpd->expect_in_log(qr/ADM0141/, qr/ADM0202: zone db: .*lease/);
    $httpd->start;
    my @early = map { $httpd->ask('/cgi-bin/heavy') } 1 .. 8;
    # All that wait have the queue's timeout of ten minutes, so only the lease ends their wait.
    wait_for { $httpd->zone('db')->{RejectedFleet} == 8 } 'the first lease ends: all are rejected', 60;
    is_deeply statuses(answers(@early)), { 503 => 8 }, '... and are told so';
    my $zone = $httpd->zone('db');
    note "$zone->{QueuedTotal} of them waited" if exists $zone->{QueuedTotal};
    is $zone->{RejectedTimeout}, 0, '... not for the time that they had';
    is $zone->{Queued}, 0, 'the queue is empty';
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'a later one is rejected, too';
    is $httpd->zone('db')->{RejectedFleet}, 9, '... for the same reason';
}, 'event+cgid', 'prefork+cgi');

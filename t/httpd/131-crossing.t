# Programs that lead on to another zone, both ways at once, at limit 1 each. The
# permit of a program that has ended is given back before its target waits, so
# everybody is served, and nobody waits for somebody who waits for him.

use AdmissionTest;
use AdmissionTest::Parking;

my %other = (a => 'b', b => 'a');

# The most programs of a zone that were alive at once, by their own record.
sub most_of {
    my ($zone, @record) = @_;
    my ($now, $most) = (0, 0);

    for (@record) {
        my ($event) = /^(start|end) $zone-/ or next;
        $now += $event eq 'start' ? 1 : -1;
        $most = $now if $now > $most;
    }
    return $most;
}

my $two_zones =
    location('/cgi-bin/a/', 'MaxConcurrent 1', 'AdmissionZone a', 'AdmissionQueue 100 timeout=300s')
    . location('/cgi-bin/b/', 'MaxConcurrent 1', 'AdmissionZone b', 'AdmissionQueue 100 timeout=300s');

# Two clients that cross each other.
sub cross {
    my ($httpd, $n) = @_;

    return map {
        my $to = $other{$_};
        $httpd->ask("/cgi-bin/$_/x?id=$_-first-$n&ms=5"
                    . "&loc=/cgi-bin/$to/y?id=$to-second-$n&ms=5")
    } qw(a b);
}

# So many pairs of clients at the same time.
sub all_cross {
    my ($httpd, $pairs) = @_;
    my $watch = $httpd->watch;

    is_deeply statuses(answers(map { cross($httpd, $_) } 1 .. $pairs)), { 200 => 2 * $pairs },
        "$pairs pairs cross two zones both ways: every request is served";
    cmp_ok $watch->most, '<=', 2, '... no more programs than the two limits allow';
    for my $zone (qw(a b)) {
        cmp_ok most_of($zone, $httpd->record), '<=', 1, "... one of zone $zone";
        $httpd->zone_becomes($zone, '... which admitted each request once and rejected none', Active => 0, Queued => 0,
                             Admitted => 2 * $pairs, RejectedReserve => 0);
    }
}

for_each_combo(sub {
    # No worker is left for a full queue.
    all_cross(start_httpd(workers => 32, conf => "AdmissionReserve 1\n$two_zones")
                  ->allow_in_log(qr/ADM0105: /), 8);
});

# So many that the threads of whole children block behind a redirect, while others of
# these children get permits and wait for a thread.
for_each_parking_combo(sub {
    all_cross(start_httpd(workers => 150, conf => stock_conf() . $two_zones), 75);
});

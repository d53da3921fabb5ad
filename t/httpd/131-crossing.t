# Programs that lead on to another zone, both ways at once, at limit 1 each. The
# permit of a program that has ended is given back before its target waits, so
# everybody is served, and nobody waits for somebody who waits for him.

use AdmissionTest;
use AdmissionTest::Parking;

my $pairs = 8;
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
    location('/cgi-bin/a/', 'MaxConcurrent 1', 'AdmissionZone a')
    . location('/cgi-bin/b/', 'MaxConcurrent 1', 'AdmissionZone b');

# Two clients that cross each other.
sub cross {
    my ($httpd, $n) = @_;

    return map {
        my $to = $other{$_};
        $httpd->ask("/cgi-bin/$_/x?id=$_-first-$n&ms=5"
                    . "&loc=/cgi-bin/$to/y?id=$to-second-$n&ms=5")
    } qw(a b);
}

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 4 * $pairs,
                            conf => "AdmissionReserve 1\n$two_zones");
    $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue
    my $watch = $httpd->watch;
    my @clients = map { cross($httpd, $_) } 1 .. $pairs;
    is_deeply statuses(answers(@clients)), { 200 => 2 * $pairs },
        'crossing two zones both ways, every request is served';
    cmp_ok $watch->most, '<=', 2, 'no more programs than the two limits allow';
    for my $zone (qw(a b)) {
        cmp_ok most_of($zone, $httpd->record), '<=', 1, "... one of zone $zone";
        $httpd->zone_becomes($zone, "zone $zone served each client once", Active => 0,
                             Queued => 0, Admitted => 2 * $pairs);
    }
    $httpd->stop;
});

# So many that the threads of whole children block behind a redirect, while others of
# these children get permits and wait for a thread.
for_each_parking_combo(sub {
    my ($combo) = @_;
    my $many = 75;
    my $httpd = start_httpd(combo => $combo, workers => 150, conf => stock_conf() . $two_zones);

    is_deeply statuses(answers(map { cross($httpd, $_) } 1 .. $many)), { 200 => 2 * $many },
        'with the defaults of distributions every request is served, too';
    for my $zone (qw(a b)) {
        $httpd->zone_becomes($zone, "zone $zone rejected nobody", Active => 0, Queued => 0,
                             Admitted => 2 * $many, RejectedReserve => 0);
    }
    $httpd->stop;
});

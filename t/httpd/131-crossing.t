# Programs that lead on to another zone, both ways at once, at limit 1 each. The
# permit of a program that has ended is given back before its target waits, so
# everybody is served, and nobody waits for somebody who waits for him.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

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

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 4 * $pairs, conf => <<'CONF');
AdmissionReserve 1
<Location /cgi-bin/a/>
    MaxConcurrent 1
    AdmissionZone a
</Location>
<Location /cgi-bin/b/>
    MaxConcurrent 1
    AdmissionZone b
</Location>
CONF
    $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue
    my $leads_on = sub {
        my ($from, $n) = @_;
        my $to = $other{$from};
        return "/cgi-bin/$from/x?id=$from-first-$n&ms=5"
               . "&loc=/cgi-bin/$to/y?id=$to-second-$n&ms=5";
    };

    my $watch = $httpd->watch;
    my @clients = map { my $n = $_; map { $httpd->ask($leads_on->($_, $n)) } qw(a b) }
                  1 .. $pairs;
    is_deeply statuses(answers(@clients)), { 200 => 2 * $pairs },
        'crossing two zones both ways, everybody is served';
    cmp_ok $watch->most, '<=', 2, 'no more programs than the two limits allow';
    for my $zone (qw(a b)) {
        cmp_ok most_of($zone, $httpd->record), '<=', 1, "... one of zone $zone";
        $httpd->zone_becomes($zone, "zone $zone served each client once", Active => 0,
                             Queued => 0, Admitted => 2 * $pairs);
    }
    $httpd->stop;
});

done_testing;

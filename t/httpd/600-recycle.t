# AdmissionRecycle: children end one after the other, and none of it shows.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

sub recycled { return $_[0]->status->{AdmissionChildrenRecycled} }

# Asks for small things, each on a connection of its own, until so many children
# were recycled. @return how many answers were not 200.
sub ask_until_recycled {
    my ($httpd, $enough) = @_;
    my $failed = 0;

    wait_for {
        $failed += grep { $_->{status} != 200 }
                   answers(map { $httpd->ask('/') } 1 .. 8);
        recycled($httpd) >= $enough;
    } "$enough children are recycled", 30;
    return $failed;
}

for_each_combo(sub {
    my ($combo) = @_;
    my $is_prefork = $combo->{mpm} eq 'prefork';
    my $httpd = start_httpd(combo => $combo, workers => $is_prefork ? 8 : 50,
                            conf => <<'CONF');
AdmissionRecycle 10
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 2
</Location>
CONF

    is ask_until_recycled($httpd, 2), 0, 'no request fails, and min = max works';
    my $status = $httpd->status;
    cmp_ok $status->{AdmissionChildrenAway}, '<=', 1, 'at most one is away'
        if $is_prefork;
    ok recycled($httpd) >= 2, 'the status counts them';
    $httpd->stop;

    my $off = start_httpd(combo => $combo, workers => 8 * ($is_prefork ? 1 : 5),
                          conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 2
</Location>
CONF
    answers(map { $off->ask('/') } 1 .. 8) for 1 .. 10;
    is recycled($off), 0, 'without the directive nobody ends';
    $off->stop;
}, 'prefork+cgi', 'event+cgid');

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 50, conf => <<'CONF');
AdmissionRecycle 1000-2000 together=2
CONF
    $httpd->expect_in_log(qr/AdmissionRecycle: together=2 has no effect/);
    $httpd->stop;
}, 'worker+cgid', 'event+cgid');

done_testing;

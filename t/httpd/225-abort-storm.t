# Forty impatient clients at a streaming program that ignores SIGTERM and
# SIGPIPE: each program lives until httpd loses patience and kills it, and the
# next one starts only then.

use AdmissionTest;
use AdmissionTest::Storm;
use Time::HiRes qw(sleep time);

my $seconds = 4;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_storm_httpd(combo => $combo);
    my $watch = $httpd->watch;
    my $crowd = crowd_at($httpd, clients => 40, patience => 0.3,
                         programs => ['ignore=1&stream=1&until=never']);
    sleep $seconds;
    my $seen = $crowd->go_home;
    cmp_ok $seen->{left}, '>', 40 * $seconds, "clients left: $seen->{left}";

    is_calm_soon($httpd, programs_end($httpd));
    is $watch->most, $LIMIT, "there were never more than $LIMIT programs";
    cmp_ok scalar(grep { /^start / } $httpd->record), '>', $LIMIT,
        'some ran in the place of others';
    $httpd->stop;
});

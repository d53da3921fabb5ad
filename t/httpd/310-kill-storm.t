# kill -9 of children, and of mod_cgid's daemon, again and again under load.
# The programs that they leave behind go on and are counted until they end.

use AdmissionTest;
use AdmissionTest::Storm;
use List::Util qw(shuffle);
use Time::HiRes qw(sleep time);

my ($kills, $pause) = (10, 0.4);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_storm_httpd(combo => $combo);
    my $watch = $httpd->watch;
    my $crowd = crowd_at($httpd, clients => 20, patience => 2,
                         programs => ['ms=300', 'ms=300&stream=1000',
                                      'ms=600&ignore=1&stream=1000']);
    my ($killed, $served) = (0, 0);
    for (my $n = 1; $n <= $kills || $killed < $kills; $n++) {
        sleep $pause;
        # On a slow machine nobody would ever be served.
        $served ||= $httpd->soon(sub { grep { m{^200 /cgi-bin/} } $httpd->access_log }, 5);
        my @children = shuffle $httpd->children;
        my @victims = splice @children, 0, 1 + @children / 8;
        push @victims, $httpd->daemons if $n % 3 == 0;
        $killed += kill KILL => @victims;
    }
    my $seen = $crowd->go_home;
    cmp_ok $killed, '>=', $kills, "processes killed: $killed";
    cmp_ok $seen->{200}, '>', 0, "clients served meanwhile: $seen->{200}";

    is_calm_soon($httpd, programs_end($httpd));
    is $watch->most, $LIMIT, "there were never more than $LIMIT programs";
});

# One graceful restart after the other under load: the programs of old and new
# children share the limit, and mod_cgid's daemons come and go.

use AdmissionTest;
use AdmissionTest::Storm;
use Time::HiRes qw(sleep time);

my ($reloads, $pause) = (8, 0.5);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_storm_httpd(combo => $combo);
    my $watch = $httpd->watch;
    my $crowd = crowd_at($httpd, clients => 20, patience => 2,
                         programs => ['ms=100', 'ms=300&stream=1000',
                                      'ms=400&ignore=1&stream=1000']);
    for (1 .. $reloads) {
        sleep $pause;
        kill USR1 => $httpd->{pid};
    }
    sleep $pause;
    my $seen = $crowd->go_home;
    cmp_ok $seen->{200}, '>', 0, "clients served meanwhile: $seen->{200}";
    if ($httpd->is_left_alone) {
        note 'no child is left, and the parent starts none';
        kill USR1 => $httpd->{pid};
    }

    is_calm_soon($httpd, programs_end($httpd));
    is $watch->most, $LIMIT, "there were never more than $LIMIT programs";
    cmp_ok $httpd->status->{ParentServerMPMGeneration}, '>', $reloads / 2,
        'the server was reloaded again and again';
});

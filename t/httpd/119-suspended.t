# A handler that returns SUSPENDED has not done its work yet: its permit comes back
# with the end of its request, at once or after a wait.

use AdmissionTest;
use Admission::Program qw(build_module);

for_each_combo(sub {
    my $module = build_module('mod_answers');
    my $httpd = start_httpd(conf => join '',
        "LoadModule answers_module $module\n",
        location('/later', 'SetHandler later', 'MaxConcurrent 1', 'AdmissionQueue 10', 'AdmissionZone z'));
    # Its module is not one of httpd's.
    $httpd->expect_in_log(qr/ADM0153: zone z .*mod_answers\.c might serve/);
    my $gate = sub { return "$httpd->{dir}/docs/gate$_[0]" };
    my @asked;

    for (1 .. 3) {
        push @asked, $httpd->ask('/later?' . $gate->($_));
        $httpd->zone_becomes('z', "one of $_ runs", Active => 1, Queued => $_ - 1);
    }
    for (1 .. 3) {
        $httpd->put("gate$_", '');
        $httpd->zone_becomes('z', "$_ has ended, and one more runs", Active => $_ < 3 ? 1 : 0,
                             Queued => $_ < 3 ? 2 - $_ : 0, AdmittedAfterWait => $_ < 3 ? $_ : 2);
    }
    $httpd->access_log_becomes('all were answered', qr{^200 .*/later}, 3);
    # Their connections stay open: up to httpd 2.4 nobody ends them.
    $httpd->end;
}, 'event+cgid', 'event+cgid+completion');

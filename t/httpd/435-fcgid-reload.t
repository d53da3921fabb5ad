# mod_fcgid's handler never returns in a child of an older configuration: a request
# that waits there over a reload is rejected, and its permit is free again. The test's
# module serves in place of mod_fcgid.

use AdmissionTest;
use Admission::Program qw(build_module);

my $module = build_module('mod_answers');

for_each_combo(sub {
    my $httpd = new_httpd(places => 8); # of worker, after a reload
    $httpd->configure(
        "LoadModule answers_module $module\n"
        . location('/app', 'SetHandler fcgid-script', 'MaxConcurrent 1', 'AdmissionQueue 10',
                   'AdmissionZone z'));
    $httpd->expect_in_log(qr/ADM0153/, qr/ADM0216: request rejected: this child was started before the reload/);
    $httpd->start;
    my $gate = "$httpd->{dir}/heavy/go";
    my $runs = $httpd->ask("/app/x?$gate");
    $httpd->zone_becomes('z', 'one runs', Active => 1, Queued => 0);
    my @wait = map { $httpd->ask("/app/$_") } 1 .. 3;
    $httpd->zone_becomes('z', 'three wait', Active => 1, Queued => 3);

    $httpd->graceful;
    my $later = $httpd->ask('/app/later');
    $httpd->zone_becomes('z', 'a later one waits in a new child', Active => 1, Queued => 4);
    $httpd->serves('go', 'what ran before the reload is answered', $runs);
    my @answers = answers(@wait);
    is_deeply [ map { $_->{status} } @answers ], [ (503) x 3 ], 'what waited is rejected';
    is $answers[0]{headers}{'retry-after'}, 1, '... with Retry-After';
    is $later->answer->{status}, 200, 'what came after the reload is answered';
    $httpd->zone_becomes('z', 'all permits are back', Active => 0, Queued => 0);
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

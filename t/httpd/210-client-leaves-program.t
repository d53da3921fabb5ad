# Clients that leave while their program runs: a program that ignores SIGTERM
# and SIGPIPE lives on until httpd kills it, and holds its permit so long; any
# other ends at once.

use AdmissionTest;
use Time::HiRes qw(time);

my $limit = 3;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf =>
        location('/cgi-bin/', "MaxConcurrent $limit", 'AdmissionQueue 10'));
    $httpd->expect_in_log(qr/cgid:error.*sending SIGKILL/) if $combo->{cgi} eq 'cgid';

    my $polite = $httpd->ask('/cgi-bin/heavy?id=polite&stream=1&until=never');
    wait_for { $polite->has_begun } 'a program streams';
    $polite->abort;
    my $left_at = time;
    $httpd->zone_becomes('/cgi-bin/',
                         'its client disconnects: its permit is released',
                         Active => 0, Admitted => 1);
    cmp_ok time - $left_at, '<', 2, '... before httpd has to kill it';

    my $watch = $httpd->watch;
    my $stubborn = '/cgi-bin/heavy?ignore=1&stream=1&until=never';
    my @leaving = map { $httpd->ask("$stubborn&id=$_") } 1 .. $limit;
    wait_for { $limit == grep { $_->has_begun } @leaving }
        'stubborn programs stream';
    my @waiting = map { $httpd->ask("/cgi-bin/heavy?id=next$_&ms=50") }
                      1 .. 2 * $limit;
    $httpd->zone_becomes('/cgi-bin/', 'others wait', Active => $limit, Queued => 2 * $limit);

    $_->abort for @leaving;
    is_deeply statuses(answers(@waiting)), { 200 => 2 * $limit },
        'the others run when the programs are gone';
    is $watch->most, $limit, "there were never more than $limit programs";
    # The permits of two are enough for the others: httpd may just kill the third.
    wait_for { !$httpd->live_programs_now } 'none of them survives';
    $httpd->zone_becomes('/cgi-bin/', 'all permits are back', Active => 0,
                         Queued => 0, Gone => 0, Admitted => 1 + 3 * $limit);
    $httpd->stop;
});

# Even with the parent dead, children take back what a killed one held.

use AdmissionTest;
use Time::HiRes qw(time);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'));

    my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    my @waiting = map { $httpd->ask("/cgi-bin/heavy?id=next$_") } 1 .. 5;
    $httpd->zone_becomes('/cgi-bin/', 'others wait', Queued => 5);
    my $holder;
    wait_for { ($holder) = map { $httpd->parent_of($_) } $httpd->live_programs_now; $holder }
        'the one that runs has begun its program';

    kill KILL => $httpd->{pid};
    wait_for { $httpd->has_exited } 'the parent is killed';
    kill KILL => $holder, $httpd->live_programs_now;
    my $killed_at = time;
    wait_for { grep { /^start next/ } $httpd->record }
        'the holder of the permit and its program are killed: the next runs';
    cmp_ok time - $killed_at, '<', 2, '... within 2 seconds';
    is_deeply statuses(answers(@waiting)), { 200 => 5 }, 'all that waited are answered';

    wait_for { !$httpd->live_programs_now } 'no program is left';
    kill KILL => $httpd->processes;
    $httpd->finish;
}, 'prefork+cgi');

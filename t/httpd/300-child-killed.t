# kill -9 of children that hold permits or wait. Places in line are back within
# two seconds; a permit is back two seconds after nothing of its request lives
# any more, since the program of a killed child goes on.

use AdmissionTest;
use Time::HiRes qw(time);

for_each_combo(sub ($combo) {
    my $httpd = start_httpd(conf => location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 10'));
    my $zone = '/cgi-bin/';
    my $watch = $httpd->watch;
    my $fill = sub {
        my ($name) = @_;
        my $url = "/cgi-bin/heavy?until=$name&id=$name";
        my @clients = map { $httpd->ask("$url$_") } 1, 2;
        wait_for { 2 == $httpd->live_programs_now } 'two run';
        push @clients, map { $httpd->ask("$url$_") } 3 .. 5;
        $httpd->zone_becomes($zone, 'three wait', Active => 2, Queued => 3);
        return @clients;
    };

    # With mod_cgi the program's parent is the child that holds the permit.
    if ($combo->{cgi} eq 'cgi') {
        my @clients = $fill->('one');
        my ($program) = $httpd->live_programs_now;
        my $killed_at = time;
        kill KILL => $httpd->parent_of($program), $program;
        wait_for { $httpd->zone($zone)->{Reclaimed} >= 1 }
            'a child is killed, and its program: its permit is taken back';
        wait_for {
            my $is = $httpd->zone($zone);
            $is->{Active} == 2 || $is->{Queued} == 0;
        } 'the remaining requests run';
        in_two_seconds($killed_at);
        $httpd->open_gate('one');
        my $statuses = statuses(answers(@clients));
        is(($statuses->{200} // 0) + $statuses->{0}, 5,
           'each client is answered, or was with the killed child');
        $httpd->zone_becomes($zone, 'the zone is at rest', Active => 0, Queued => 0);
    }

    my @clients = $fill->('all');
    kill KILL => $httpd->children;
    wait_for { $httpd->status }
        'all children are killed, httpd starts new ones';
    my $new_at = time;
    $httpd->zone_becomes($zone, 'no request waits', Queued => 0);
    in_two_seconds($new_at);
    is_deeply statuses(answers(@clients)), { 0 => 5 }, 'their clients were cut off';

    # What runs now must leave room for the two programs left behind.
    my @next = map { $httpd->ask("/cgi-bin/heavy?id=next$_&ms=20") } 1 .. 4;
    $httpd->open_gate('all');
    my $opened_at = time;
    is_deeply statuses(answers(@next)), { 200 => 4 }, 'the next requests run';
    $httpd->zone_becomes($zone, 'nothing remains of dead children', Active => 0, Queued => 0);
    in_two_seconds($opened_at);
    is $watch->most, 2, 'there were never more than two programs';
});

# Even with the parent dead, children take back what a killed one held. On worker and event, some
# that wait were in that child; the next one was not.
for_each_combo(sub ($combo) {
    my $httpd = start_httpd(conf => location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'));
    my @hold = $httpd->fill('/cgi-bin/', 'go', 1);
    my @waiting = map { $httpd->ask("/cgi-bin/heavy?id=next$_") } 1 .. 5;
    $httpd->zone_becomes('/cgi-bin/', 'others wait', Queued => 5);
    my $holder;
    wait_for { ($holder) = map { $httpd->parent_of($_) } $httpd->live_programs_now; $holder }
        'the one that runs has begun its program';

    kill KILL => $httpd->{pid};
    wait_for { $httpd->has_exited } 'the parent is killed';
    kill KILL => $holder, $httpd->live_programs_now;
    my $killed_at = time;
    push @waiting, $httpd->ask('/cgi-bin/heavy?id=next6');
    wait_for { grep { /^start next/ } $httpd->record }
        'the holder of the permit and its program are killed: the next runs';
    cmp_ok time - $killed_at, '<', 2, '... within 2 seconds' if !is_machine_busy();
    my $statuses = statuses(answers(@waiting));
    is(($statuses->{200} // 0) + ($combo->{mpm} eq 'prefork' ? 0 : $statuses->{0} // 0), 6, 'all that waited are answered')
        or diag explain $statuses;

    wait_for { !$httpd->live_programs_now } 'no program is left';
    kill KILL => $httpd->processes;
    $httpd->finish;
}, 'prefork+cgi', 'worker+cgi', 'event+cgi');

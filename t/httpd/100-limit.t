# The main job: sixty clients want a program of which four may run at once.

use AdmissionTest;
use Time::HiRes qw(time);

my ($zone, $clients, $limit, $ms) = ('/cgi-bin/', 60, 4, 50);

for_each_combo(sub {
    my $httpd = start_httpd(workers => 100, conf =>
        location($zone, "MaxConcurrent $limit", "AdmissionQueue $clients"));
    my $watch = $httpd->watch;
    my $looks = "$httpd->{dir}/heavy/looks";

    # As many as may run do so until the observer has seen them: of those that come and
    # go it may see fewer at once, where a look takes as long as the next one to start.
    my @hold = $httpd->fill($zone, 'go', $limit);
    wait_for { $limit == $httpd->live_programs_now } 'all permits are used';
    my $seen = -s $looks;
    wait_for { -s $looks >= $seen + 2 } '... and the observer has looked';
    my @clients = map { $httpd->ask("/cgi-bin/heavy?ms=$ms&id=$_") } 1 .. $clients;
    $httpd->zone_becomes($zone, 'all clients wait', Active => $limit, Queued => $clients);
    my $start = time;
    $httpd->serves('go', '... and get their response', @hold, @clients);
    note sprintf '... in %.2f times requests x service / limit',
        (time - $start) / ($clients * $ms / 1000 / $limit);
    is $watch->most, $limit, "... $limit programs ran at once, never more";
    $httpd->zone_becomes($zone, 'all permits are back, each counted once',
                         Active => 0, Queued => 0, Admitted => $limit + $clients,
                         AdmittedAfterWait => $clients);
});

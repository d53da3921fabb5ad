# The main job: sixty clients want a program of which four may run at once.

use AdmissionTest;
use Time::HiRes qw(time);

my ($clients, $limit, $ms) = (60, 4, 50);

for_each_combo(sub {
    my $httpd = start_httpd(workers => 100, tls => 1,
                            conf => location('/cgi-bin/', "MaxConcurrent $limit", "AdmissionQueue $clients"));

    for my $how (qw(plain TLS)) {
        my $watch = $httpd->watch;
        my @hold = all_permits_are_used($httpd, "hold-$how");
        my $statuses = $how eq 'plain' ? plain_clients($httpd) : curl($httpd);
        $httpd->zone_becomes('/cgi-bin/', "$how: all clients wait", Active => $limit, Queued => $clients);
        my $start = time;
        $httpd->open_gate("hold-$how");
        is_deeply $statuses->(), { 200 => $clients }, '... and get their answer';
        note sprintf '... in %.2f times requests x service / limit', (time - $start) / ($clients * $ms / 1000 / $limit);
        is_deeply statuses(answers(@hold)), { 200 => $limit }, '... and so do the requests that ran before';
        is $watch->most, $limit, "... $limit programs ran at once, never more";
    }
    $httpd->zone_becomes('/cgi-bin/', 'all permits are back, each counted once',
                         Active => 0, Queued => 0, Admitted => 2 * ($limit + $clients),
                         AdmittedAfterWait => 2 * $clients);
});

done_testing;

# As many as may run do so until the observer has seen them: of those that come and
# go it may see fewer at once, where a look takes as long as the next one to start.
sub all_permits_are_used {
    my ($httpd, $gate) = @_;
    my $looks = "$httpd->{dir}/heavy/looks";

    my @hold = map { $httpd->ask("/cgi-bin/heavy?id=$gate&until=$gate") } 1 .. $limit;
    wait_for { $limit == $httpd->live_programs_now } 'all permits are used';
    my $seen = -s $looks;
    wait_for { -s $looks >= $seen + 2 } '... and the observer has looked';
    return @hold;
}

sub plain_clients {
    my ($httpd) = @_;
    my @clients = map { $httpd->ask("/cgi-bin/heavy?ms=$ms&id=$_") } 1 .. $clients;
    return sub { statuses(answers(@clients)) };
}

sub curl {
    my ($httpd) = @_;
    open my $curl, '-|', qw(curl -sk --no-progress-meter -Z --parallel-immediate --http1.1 -o /dev/null --parallel-max), $clients,
        '-w', '%{http_code}\n', $httpd->tls_url("/cgi-bin/heavy?ms=$ms&id=[1-$clients]") or die "curl: $!\n";
    return sub { chomp(my @statuses = <$curl>); statuses(map { { status => $_ } } @statuses) };
}

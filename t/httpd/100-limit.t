# The main job: sixty clients want a program of which four may run at once.

use AdmissionTest;
use Time::HiRes qw(time);

my ($clients, $limit, $ms) = (60, 4, 50);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 100, tls => 1,
                            conf => location('/cgi-bin/', "MaxConcurrent $limit", "AdmissionQueue $clients"));

    for my $plain_or_tls (qw(plain TLS)) {
        my $watch = $httpd->watch;
        all_permits_are_used($httpd, "hold-$plain_or_tls");
        my $start = time;
        my $statuses = $plain_or_tls eq 'plain' ? plain_statuses($httpd) : curl_statuses($httpd);
        my $factor = (time - $start) / ($clients * $ms / 1000 / $limit);

        is $watch->most, $limit, "$plain_or_tls: $limit programs ran at once, never more";
        is_deeply $statuses, { 200 => $clients },
            "$plain_or_tls: all $clients clients got their answer";
        note sprintf '%s: %.2f times requests x service / limit', $plain_or_tls, $factor;
    }

    $httpd->zone_becomes('/cgi-bin/', 'all permits are back, each counted once',
                         Active => 0, Queued => 0, Admitted => 2 * ($limit + $clients));
    cmp_ok $httpd->zone('/cgi-bin/')->{AdmittedAfterWait}, '>=', $clients, 'most of them waited';
    $httpd->stop;
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
    $httpd->open_gate($gate);
    is_deeply statuses(answers(@hold)), { 200 => $limit }, '... and get their response';
}

sub plain_statuses {
    my ($httpd) = @_;
    return statuses(answers(map { $httpd->ask("/cgi-bin/heavy?ms=$ms&id=$_") }
                                1 .. $clients));
}

sub curl_statuses {
    my ($httpd) = @_;
    my $url = $httpd->tls_url("/cgi-bin/heavy?ms=$ms&id=[1-$clients]");
    my @statuses = split ' ', `curl -sk -Z --parallel-immediate \\
        --parallel-max $clients --http1.1 -o /dev/null \\
        -w '%{http_code}\\n' '$url' 2>/dev/null`;
    return statuses(map { { status => $_ } } @statuses);
}

# Static pages beside a full line: waiting requests never take the last
# workers, and who finds no worker to wait in is told so.

use AdmissionTest;

my ($limit, $workers, $heavy) = (4, 40, 120);
my $reserve = $workers / 4;    # the default of 25 %

sub static_passes {
    my ($httpd) = @_;
    is_deeply statuses(map { $httpd->get('/static.txt') } 1 .. 100),
        { 200 => 100 },
        'a hundred static requests pass, one after the other';
    my @at_once = map { $httpd->ask('/static.txt') } 1 .. $reserve;
    is_deeply statuses(answers(@at_once)), { 200 => $reserve },
        'and as many concurrently as workers are reserved';
}

# Of the heavy requests so many are in, the others rejected for this reason.
sub sorted_out {
    my ($httpd, $in, $reason, @heavy) = @_;
    my $out = @heavy - $in;

    # The default line is longer than the workers that are left for it.
    $httpd->expect_in_log(qr/admission:warn.*\b100\b/);
    $httpd->expect_rejections('test.example:/', lc $reason);
    wait_for_answers($out, @heavy);
    $httpd->zone_becomes('/', "$in are in, the others rejected",
                         Active => $limit,
                         Queued => $in - $limit, "Rejected$reason" => $out);
    wait_for { $limit == $httpd->live_programs_now } 'the limit is reached';
    static_passes($httpd);

    $httpd->open_gate('go');
    my @answers = answers(@heavy);
    is_deeply statuses(@answers), { 200 => $in, 503 => $out },
        'admitted requests get their response, the others 503';
    is_deeply [ grep { ($_->{headers}{'retry-after'} // '') !~ /^\d+$/ }
                grep { $_->{status} == 503 } @answers ], [],
        'each of them with a whole number in Retry-After';
    $httpd->zone_becomes('/', 'the zone is at rest', Active => 0, Queued => 0);
}

sub start_with_parking {
    my ($combo, $parking) = @_;
    return start_httpd(combo => $combo, workers => $workers, conf => join '',
        "AdmissionParking $parking\n",
        location('/', "MaxConcurrent $limit"));
}

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_with_parking($combo, 'Off');
    is $httpd->status->{AdmissionReserve}, $reserve, 'a quarter of the workers is reserved';

    my $watch = $httpd->watch;
    my @heavy = map { $httpd->ask("/cgi-bin/heavy?id=$_&until=go") }
                    1 .. $heavy;
    sorted_out($httpd, $workers - $reserve, 'Reserve', @heavy);
    is $watch->most, $limit, 'the limit was kept';
    $httpd->stop;
});

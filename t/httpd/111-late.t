# Who would have to wait for longer than the target is rejected at once, with a time
# after which it would not be.

use AdmissionTest;

use Time::HiRes qw(time);

my $zone = '/cgi-bin/';

for_each_combo(sub {
    my $httpd = start_httpd(workers => 60, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 20 target=900ms')
        . location('/cgi-bin/dry/', 'MaxConcurrent 1', 'AdmissionQueue 20 target=900ms', 'AdmissionDryRun On'));

    # A program of 0.3 s teaches the zones what a request takes; on a busy machine
    # somewhat more.
    my (%places, %mean_ms);
    for my $of ($zone, "${zone}dry/") {
        is $httpd->get("${of}heavy?ms=300")->{status}, 200, "$of: a program of 0.3 s";
        $httpd->zone_becomes($of, 'it has ended', Active => 0);
        $mean_ms{$of} = $httpd->zone($of)->{ServiceMeanMs};
        $places{$of} = int(900 / ($mean_ms{$of} + 1)) || 1;
    }
    my $places = $places{$zone};

    $httpd->expect_rejections($zone, 'it would have had to wait too long');
    my @clients = $httpd->fill($zone, 'late', 1);
    push @clients, map { $httpd->ask('/cgi-bin/heavy') } 2 .. 20;
    $httpd->zone_becomes($zone, 'some wait, all others know', RejectedLate => 19 - $places, Queued => $places,
                         RejectedFull => 0);
    my (@told, @waiting);
    wait_for {
        @told = @waiting = ();
        push @{ $_->has_begun ? \@told : \@waiting }, $_ for @clients;
        @told == 19 - $places;
    } 'these requests have their response while the others wait';
    my @rejected = map { $_->answer } @told;
    is scalar(grep { $_->{headers}{'retry-after'} =~ /^[1-6]$/ } @rejected), 19 - $places,
        '... with a Retry-After that is shorter than the time to empty the queue';
    $httpd->open_gate('late');
    is_deeply statuses(@rejected, answers(@waiting)), { 200 => 1 + $places, 503 => 19 - $places },
        'the waiting request is served';

    $places = $places{"${zone}dry/"};
    my $begin = time;
    my @dry = map { $httpd->ask('/cgi-bin/dry/heavy?until=dry') } 1 .. 6;
    $httpd->zone_becomes('/cgi-bin/dry/', 'a dry run rejects no request', Active => 6);
    my $arrival_ms = 1000 * (time - $begin);
    $httpd->serves('dry', '... but counts', @dry);
    my $seen = $httpd->zone('/cgi-bin/dry/');
    # The longer the requests take to arrive, the more of the work before them would be done.
    cmp_ok $seen->{DryQueued}, '>=', $places, 'requests that would have waited';
    cmp_ok $seen->{DryQueued}, '<=', (900 + $arrival_ms) / $mean_ms{"${zone}dry/"}, '... no more than the target allows';
    is $seen->{RejectedLate}, 5 - $seen->{DryQueued}, '... or been late';
    cmp_ok $seen->{DryWaitMeanMs}, '>=', 300, '... and for how long';
});

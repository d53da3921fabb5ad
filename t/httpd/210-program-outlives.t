# Programs that are alive when their client has left, or when httpd has finished with the request:
# the permit is released when they are gone, not before. They start with no signal blocked: the
# threads of worker and event block most, so httpd's SIGTERM could not end programs of mod_cgi.

use AdmissionTest;

# A process of its own for each response, which ends with the response.
my $has_filters = Admission::Config::is_installed('ext_filter');
my $filter = $has_filters ? join '',
    "ExtFilterDefine cat cmd=/bin/cat\n",
    location('/cgi-bin/filtered/', 'SetOutputFilter cat') : '';
my $SIGTERM = 15;

# What a program does, its options, and the statuses of which its client gets one; a client
# without a status leaves. Where the timeout is short: the others may take longer to run.
my @programs = (
    [ 'streams',                           'stream=1&until=never' ],
    # Only a SIGTERM ends it.
    [ 'ignores SIGPIPE',                   'ignore=pipe&stream=1&until=never' ],
    [ 'ignores SIGTERM and SIGPIPE',       'ignore=1&stream=1&until=never' ],
    [ 'stalls longer than Timeout',        'early=1&until=never', 200, 0 ],
    [ 'sends no header in Timeout',        'until=never', 504 ],
    [ 'closes its outputs and works on',   'close=1&ms=500', 200 ],
    ([ 'does so behind a filter',          'close=1&ms=500&ignore=1', 200 ]) x $has_filters,
);

sub blocked_signals {
    my ($httpd, $pid) = @_;
    my ($mask) = $httpd->slurp("/proc/$pid/status") =~ /^SigBlk:\s*(\w+)$/m;
    return $mask;
}

# Several clients leave concurrently, one gets its status.
sub outlives {
    my ($httpd, $n, $what, $query, @statuses) = @_;
    my $host = $what =~ /Timeout/ ? 'http://impatient.example' : '';
    my ($path, $limit) = $what =~ /filter/ ? ('/cgi-bin/filtered/', 1)
        : @statuses ? ('/cgi-bin/', 1) : ('/cgi-bin/left/', 3);
    my $zone = @statuses ? '/cgi-bin/' : $path;
    my $watch = $httpd->watch;

    my @first = map { $httpd->ask("$host${path}heavy?id=odd$n&$query") } 1 .. $limit;
    wait_for { $limit == grep { $_ eq "start odd$n" } $httpd->record } "a program $what";
    is_deeply [ map { blocked_signals($httpd, $_) } $httpd->live_programs_now ],
        [ ('0' x 16) x $limit ], '... and has started with no signal blocked' if !@statuses;
    wait_for { $limit == grep { $_->has_begun } @first } '... and responds' if !@statuses;
    my @next = map { $httpd->ask("${zone}heavy?id=next$n&ms=20") } 1 .. 2 * $limit;
    if (@statuses) {
        my $status = $first[0]->answer->{status};
        ok scalar(grep { $_ == $status } @statuses), "its client gets @statuses" or diag $status;
    }
    else {
        $httpd->zone_becomes($zone, 'others wait', Active => $limit, Queued => 2 * $limit);
        $_->abort for @first;
        wait_for { grep { $_ eq "start next$n" } $httpd->record } 'its client leaves: another runs';
        wait_for { $limit == grep { $_ eq "term odd$n" } $httpd->record } "... httpd's SIGTERM ends it" if $query =~ /ignore=pipe/;
    }
    is_deeply statuses(answers(@next)), { 200 => 2 * $limit }, 'the next ones run';
    is $watch->most, $limit, "there were never more than $limit concurrent programs";
    # The permits of two are enough for the others: httpd may just kill the third.
    wait_for { !$httpd->live_programs_now } 'none of them survives';
    $httpd->zone_becomes($zone, 'the permits are back', Active => 0, Queued => 0, Gone => 0);
}

for_each_combo(sub ($combo) {
    my $httpd = start_httpd(modules => [ ('ext_filter') x $has_filters ], conf => $filter . join '',
        virtual_host('test.example'),
        virtual_host('impatient.example', 'Timeout 1'),
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'),
        location('/cgi-bin/left/', 'MaxConcurrent 3', 'AdmissionQueue 10'),
        location('/cgi-bin/free', 'MaxConcurrent off'));
    # httpd's own words about those that outlast a timeout; of the process that reads the response.
    $httpd->expect_in_log(qr/cgid?:(?:warn|error).*[Tt]im(?:eout|ed out)/,
                          qr/admission:error.*timeout.*ADM0213: /,
                          (qr/cgid:error.*sending SIGKILL/) x ($combo->{cgi} eq 'cgid'));
    outlives($httpd, $_, @{ $programs[$_] }) for 0 .. $#programs;
    $httpd->zone_becomes('/cgi-bin/left/', 'each was counted once', Admitted => 3 * 9);

    my $free = $httpd->ask('/cgi-bin/free?until=go');
    wait_for { $httpd->live_programs_now } 'a program runs that is not counted';
    my ($program) = $httpd->live_programs_now;
    my $mask = hex substr blocked_signals($httpd, $program), -8;
    is !!($mask >> $SIGTERM - 1 & 1), $combo->{cgi} eq 'cgi' && $combo->{mpm} ne 'prefork',
        'it is left as httpd starts it';
    $httpd->serves('go', 'it ends well', $free);
});

# A program that another process stops (SIGSTOP, a debugger) while httpd waits for its end: APR
# takes that for its end and forgets it. The permit does not. (mod_cgid ends it.)
for_each_combo(sub {
    my $httpd = start_httpd(conf => location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'));
    my $watch = $httpd->watch;

    # It has answered, and ignores that httpd tells it to end.
    my $client = $httpd->ask('/cgi-bin/heavy?id=stopped&close=1&ignore=1&until=never');
    wait_for { $client->has_begun } 'a program works on behind its answer';
    my ($program) = $httpd->live_programs_now;
    wait_for { !-l "/proc/$program/fd/1" } '... that it has ended';
    my $next = $httpd->ask('/cgi-bin/heavy?id=next&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'another request waits', Active => 1, Queued => 1);

    kill STOP => $program;
    wait_for { $client->has_begun; $client->{ended} } 'it is stopped, its request ends';
    $httpd->zone_becomes('/cgi-bin/', 'while the program is there, it has the permit',
                         Active => 1, Queued => 1);
    kill KILL => $program;
    wait_for { grep { $_ eq 'start next' } $httpd->record } 'then the next one runs';
    $httpd->serves('go', 'and is answered', $next);
    is $watch->most, 1, 'one at a time';
    $httpd->allow_in_log(qr/\[cgid:error\]/);
}, 'prefork+cgi', 'event+cgi');

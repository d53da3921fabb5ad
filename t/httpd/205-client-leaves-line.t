# The queue is served in order of arrival, over all children. A waiting client that goes
# away leaves it; its program never starts.

use AdmissionTest;
use Time::HiRes qw(time);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, tls => 1, workers => 40, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'));

    my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    my $first = $httpd->ask('/cgi-bin/heavy?id=first');
    $httpd->zone_becomes('/cgi-bin/', 'one waits', Queued => 1);

    my $tls_url = $httpd->tls_url('/cgi-bin/heavy?id=gone');
    my %leaves = (
        'closes'      => sub { $_[0]->leave },
        'resets'      => sub { $_[0]->abort },
        'half-closes' => sub { $_[0]->half_close },
        'dies, with unread pipelined requests'
                      => sub { $_[0]->ask('/cgi-bin/heavy?id=gone')->leave },
    );
    my $gone = 0;
    # How long it takes is no promise, and a busy machine may be late: one try of ten is not.
    my $leave_line = sub {
        my ($how, $come, $leave) = @_;
        my $took;
        for (1 .. 10) {
            my $client = $come->();
            $httpd->zone_becomes('/cgi-bin/', 'a second one waits', Queued => 2);
            my $since = time;
            $leave->($client);
            $httpd->zone_becomes('/cgi-bin/', "a client that $how leaves the line",
                                 Queued => 1, Gone => ++$gone, Active => 1);
            $took = time - $since;
            last if $took < 1;
        }
        cmp_ok $took, '<', 1, '... within a second';
    };
    for my $how (sort keys %leaves) {
        $leave_line->($how, sub { $httpd->ask('/cgi-bin/heavy?id=gone', keep => 1) }, $leaves{$how});
    }
    $leave_line->('dies over TLS', sub { start_program(qw(curl -sk --max-time 30), $tls_url) },
                  sub { kill KILL => $_[0]; waitpid $_[0], 0 });

    my @later;
    for my $n (1 .. 8) {
        push @later, $httpd->ask("/cgi-bin/heavy?id=$n&ms=5");
        $httpd->zone_becomes('/cgi-bin/', "number $n waits behind it", Queued => 1 + $n, Active => 1);
    }
    is_deeply [ $httpd->record ], ['start hold'], 'no request has overtaken';
    $httpd->open_gate('go');
    is_deeply statuses(answers($hold, $first, @later)), { 200 => 10 },
        'clients that stayed get their response';
    is_in_order $httpd, '/cgi-bin/', [ $httpd->record ],
        [ map { ("start $_", "end $_") } 'hold', 'first', 1 .. 8 ],
        'one after the other, in order of arrival; no program ran for clients that left';
    $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0, Queued => 0, QueuedMax => 9,
                         Admitted => 10, AdmittedAfterWait => 9);
    wait_for { $gone == grep { /id=gone\b.* status=gone / } $httpd->access_log }
        'the access log has gone';
    $httpd->stop;
});

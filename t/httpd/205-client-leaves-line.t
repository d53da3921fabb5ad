# A waiting client that goes away leaves the line; its program never starts.

use AdmissionTest;
use Time::HiRes qw(time);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, tls => 1, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'));

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

    my $last = $httpd->ask('/cgi-bin/heavy?id=last');
    $httpd->zone_becomes('/cgi-bin/', 'another request waits behind it', Queued => 2);
    $httpd->open_gate('go');
    is_deeply statuses(answers($hold, $first, $last)), { 200 => 3 },
        'clients that stayed get their response';
    is_in_order $httpd, '/cgi-bin/', [ $httpd->record ],
        [ map { ("start $_", "end $_") } qw(hold first last) ],
        'in order of arrival; no program ran for clients that left';
    $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0,
                         Queued => 0, Admitted => 3);
    wait_for { $gone == grep { /id=gone\b.* status=gone / } $httpd->access_log }
        'the access log has gone';
    $httpd->stop;
});

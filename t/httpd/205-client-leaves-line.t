# A waiting client that goes away leaves the line; its program never starts.

use FindBin;
use lib "$FindBin::Bin/../lib";
use AdmissionTest;
use Time::HiRes qw(time);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, tls => 1, conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 5
</Location>
CONF

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
    my $is_gone = sub {
        my ($how, $since) = @_;
        $httpd->zone_becomes('/cgi-bin/', "a client that $how leaves the line",
                             Queued => 1, Gone => ++$gone, Active => 1);
        cmp_ok time - $since, '<', 1, '... within a second';
    };
    for my $how (sort keys %leaves) {
        my $client = $httpd->ask('/cgi-bin/heavy?id=gone', keep => 1);
        $httpd->zone_becomes('/cgi-bin/', 'a second one waits', Queued => 2);
        my $since = time;
        $leaves{$how}->($client);
        $is_gone->($how, $since);
    }
    my $curl = start_program(qw(curl -sk --max-time 30), $tls_url);
    $httpd->zone_becomes('/cgi-bin/', 'one waits over TLS', Queued => 2);
    my $since = time;
    kill KILL => $curl;
    waitpid $curl, 0;
    $is_gone->('dies over TLS', $since);

    my $last = $httpd->ask('/cgi-bin/heavy?id=last');
    $httpd->zone_becomes('/cgi-bin/', 'another stands in line behind',
                         Queued => 2);
    $httpd->open_gate('go');
    is_deeply statuses(answers($hold, $first, $last)), { 200 => 3 },
        'those who stayed are answered';
    is_in_order $httpd, '/cgi-bin/', [ $httpd->record ],
        [ map { ("start $_", "end $_") } qw(hold first last) ],
        'in their order; no program ran for those who left';
    $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0,
                         Queued => 0, Admitted => 3);
    wait_for { $gone == grep { /id=gone\b.* status=gone / } $httpd->access_log }
        'the access log says gone';
    $httpd->stop;
});

done_testing;

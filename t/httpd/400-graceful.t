# graceful: old and new children share one count, one line and one limit. mod_cgid's daemon ends
# while programs that it has started run: nothing is reclaimed, as no process has died.

use AdmissionTest;

sub zone_of {
    my ($limit) = @_;
    return "LogLevel admission:trace1\n"
        . location('/cgi-bin/', "MaxConcurrent $limit", 'AdmissionQueue 8');
}

for_each_combo(sub {
    my $httpd = start_httpd(places => 8, conf => zone_of(2));
    my $zone = '/cgi-bin/';
    my $ask = sub { $httpd->ask("/cgi-bin/heavy?id=$_[0]&early=1&until=$_[1]") };

    my $watch = $httpd->watch;
    my %client = map { $_ => $ask->($_, $_) } qw(old1 old2);
    # Begun, not only admitted: mod_cgid forgets programs it is just starting.
    wait_for { 2 == grep { $_->has_begun } values %client } 'two run';
    $client{old3} = $ask->('old3', 'last');
    $httpd->zone_becomes($zone, 'one waits', Queued => 1);

    my ($daemon) = $httpd->daemons;
    $httpd->graceful;
    wait_for { !grep { $_ == $daemon } $httpd->daemons } 'their daemon ends' if $daemon;
    is $httpd->live_programs_now, 2, 'the programs continue';
    $httpd->zone_becomes($zone, 'counts and counters survive', Active => 2, Queued => 1,
                         Admitted => 2, QueuedMax => 1, Limit => 2);
    $client{new1} = $ask->('new1', 'last');
    $httpd->zone_becomes($zone, 'a new request waits for the old ones', Active => 2, Queued => 2);
    is $watch->most, 2, 'old and new together kept the limit';

    $httpd->graceful(zone_of(3));
    my ($third, $next, $admitted) = qw(old3 new1 4);
    wait_for { grep { $client{$_}->has_begun } $third, $next }
        'a higher limit lets one more run';
    if (!$client{$third}->has_begun) {
        cmp_ok $httpd->zone($zone)->{GrantsPassedOn}, '>', 0,
            '... not the first in the queue only if its permit was passed on';
        ($third, $next) = ($next, $third);
    }
    # Who asks mod_cgid's new daemon for a program before it can be reached may be
    # refused, and the next one runs.
    for (my $n = 2; $n < 5 && $client{$third}{buffer} =~ /^HTTP\S+ 503/; $n++) {
        ($third, $next) = ($next, "new$n");
        wait_for { $client{$third}->has_begun } '... or its successor';
        $client{$next} = $ask->($next, 'last');
        $admitted++;
    }
    $httpd->zone_becomes($zone, '... and no more', Limit => 3, Active => 3, Queued => 1);

    $httpd->graceful(zone_of(1));
    $httpd->zone_becomes($zone, 'a lower limit ends no request', Limit => 1,
                         Active => 3, Queued => 1);
    $httpd->serves("old$_", "$_ of the old ones ends", $client{"old$_"}) for 1, 2;
    $httpd->zone_becomes($zone, 'no request takes their slots', Active => 1, Queued => 1);
    is_deeply [ grep { /$next/ } $httpd->record ], [], 'the waiting request has not started';
    $httpd->serves('last', 'the last one of the old line and the new one end well', @client{$third, $next});
    $httpd->zone_becomes($zone, 'all is counted, nothing was reclaimed', Active => 0, Queued => 0,
                         Admitted => $admitted, Orphans => 0, Reclaimed => 0);
    # A program closes its output a moment before it has ended.
    cmp_ok scalar(grep { /the permit is kept/ } $httpd->error_log), '<', 4,
        'programs that have ended keep no permits';
    like join(', ', $httpd->record), qr/end $third, start $next/,
        'the new one started after the last of the old line had ended';

    $httpd->configure('');
    my $hold = $ask->('hold', 'removed');
    wait_for { $hold->has_begun } 'one runs while its zone is removed';
    $httpd->graceful;
    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'without the zone there is no limit';
    $httpd->serves('removed', 'the one in the removed zone ends well', $hold);
    wait_for { $httpd->status->{AdmissionZones} == 0 } 'then the zone is gone';

    $httpd->graceful(zone_of(1));
    is_deeply statuses(answers(map { $httpd->ask('/cgi-bin/heavy') } 1 .. 3)),
        { 200 => 3 }, 'the zone is restored';
    $httpd->zone_becomes($zone, 'and works', Limit => 1, Active => 0, Queued => 0);
});

# The shared memory has room for more zones than there are at start; a reload that needs more
# than that is warned of.
for_each_combo(sub {
    my $httpd = start_httpd(conf => zone_of(1));
    $httpd->allow_in_log(qr/ADM010[345]|ADM0302/);
    $httpd->expect_in_log(qr/admission:warn.*ADM0110: the zones can use \d+ tickets/);
    # 228 tickets each.
    $httpd->graceful(join '', map {
        location("/zone$_", 'MaxConcurrent 100', 'AdmissionQueue 0') } 1 .. 700);
}, 'event+cgid');

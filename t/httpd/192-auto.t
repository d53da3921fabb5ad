# MaxConcurrent auto: the limit grows while that pays, its state survives reloads,
# numbers and auto take each other's place, and without the agent it holds.

use AdmissionTest;
use Admission::Load;

my $ZONE = '/cgi-bin/';

sub conf($limit, @more) {
    return "LogLevel admission:info\n" . location($ZONE, "MaxConcurrent $limit", @more);
}

# Always so many requests are under way.
sub keep_busy($httpd, $clients) {
    return Admission::Load->start($httpd->{port}, 0, $clients, 600, '/cgi-bin/heavy?ms=200');
}

sub limit { return $_[0]->zone($ZONE)->{Limit} }

# Programs that sleep: every one more serves more, unless others take the processors.
sub grows_to { return limit($_[0]) == $_[1] || is_machine_busy() }

for_each_combo(sub {
    my $httpd = new_httpd(workers => 60, conf => conf('auto 1 6'))->alone->start;
    # Its default queue where nobody is parked; programs that a restart cuts off, or
    # that mod_cgid's new daemon does not know.
    $httpd->allow_in_log(qr/ADM0105/, qr/AH10246|AH01261/);
    $httpd->allow_in_log(qr/cgid:error.*End of script output before headers/)
        if Admission::Config::version() < 60;

    $httpd->zone_becomes($ZONE, 'it starts at the minimum', Limit => 1, LimitMode => 'auto',
                         LimitMin => 1, LimitMax => 6);
    my $busy = keep_busy($httpd, 20);
    wait_for { grows_to($httpd, 6) } 'it grows to the maximum';
    wait_for { $httpd->zone($ZONE)->{ProgramMB} > 0 } 'the size of the programs is known';
    cmp_ok $httpd->zone($ZONE)->{MemoryBudgetMB}, '>', 0, '... and the memory for them';

    $httpd->graceful(conf('auto 2 5'));
    wait_for { grows_to($httpd, 5) } 'after a reload the limit is the new maximum, not the minimum';
    is $httpd->zone($ZONE)->{LimitMax}, 5, '... and is shown';

    my $agent = $httpd->next_agent(0, 'an agent runs');
    kill STOP => $agent;
    my $before = limit($httpd);
    wait_for { $httpd->status->{AdmissionAgent} == 0 } 'the agent is stopped';
    is limit($httpd), $before, '... and the limit holds, as all surely fit';
    kill KILL => $agent;
    wait_for { $httpd->status->{AdmissionAgent} == 1 } 'it is killed: another one starts';
    cmp_ok limit($httpd), '>=', 2, '... and does not start below the minimum';
    $httpd->expect_in_log(qr/admission:warn.*ADM0133: admission-agent ended \(exit code or signal 9\)/);

    $httpd->graceful(conf(3));
    $httpd->zone_becomes($ZONE, 'a number applies immediately', Limit => 3, LimitMode => 'fixed',
                         LimitReason => 'none');
    my $lines = () = $httpd->error_log;
    $httpd->graceful(conf('auto 1 4'));
    # It may have left that number before anybody looks.
    wait_for { limit($httpd) >= 3
               || grep { /ADM0135: .*limit 3 -> / } splice @{ [ $httpd->error_log ] }, $lines }
        'auto starts with the number configured before';

    $busy->leave;
    $httpd->zone_becomes($ZONE, 'no request waits any more', Active => 0, Queued => 0);
    wait_for { $httpd->zone($ZONE)->{LimitReason} eq 'idle' } 'so nothing is learnt';
    ok scalar(grep { /ADM0135: zone \S+: limit 1 -> \d+ \(\w+\): \w/ } $httpd->error_log),
        'the log reports the limit that was found';
    ok -e "$httpd->{dir}/run/admission.state", 'the state file has its default place';
}, 'prefork+cgi', 'event+cgid');

# Nothing is limited, so nothing can be tried.
for_each_combo(sub {
    my $httpd = new_httpd(workers => 60, conf => conf('auto', 'AdmissionDryRun On'))->alone->start;
    my $busy = keep_busy($httpd, 8);

    wait_for { my $zone = $httpd->zone($ZONE);
               $zone->{LimitReason} eq 'estimate' && $zone->{Limit} <= 14
               && ($zone->{Limit} >= 6 || is_machine_busy()) }
        'a dry run: as many as run, and a quarter';
    $busy->leave;
}, 'event+cgid');

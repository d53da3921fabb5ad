# The threads of worker and event block most signals, and with mod_cgi a program
# would inherit that: httpd's SIGTERM could not end it. Those of counted requests
# begin with no signal blocked.

use AdmissionTest;

my $SIGTERM = 15;

sub blocked_signals {
    my ($httpd, $pid) = @_;
    my ($mask) = $httpd->slurp("/proc/$pid/status") =~ /^SigBlk:\s*(\w+)$/m;
    return $mask;
}

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf =>
        location('/cgi-bin/counted', 'MaxConcurrent 1', 'AdmissionQueue 0'));

    # Nothing but a SIGTERM ends it: it goes on when nobody reads any more.
    my $client = $httpd->ask('/cgi-bin/counted?ignore=pipe&stream=1&until=never');
    wait_for { $client->has_begun } 'a counted program runs';
    my ($program) = $httpd->live_programs_now;
    is blocked_signals($httpd, $program), '0' x 16, 'it began with no signal blocked';
    $client->abort;
    wait_for { !$httpd->live_programs_now } 'its client leaves: it ends';
    $httpd->zone_becomes('/cgi-bin/counted', 'its permit is back', Active => 0);

    my $free = $httpd->ask('/cgi-bin/free?until=go');
    wait_for { $httpd->live_programs_now } 'a program runs that is not counted';
    ($program) = $httpd->live_programs_now;
    my $mask = hex substr blocked_signals($httpd, $program), -8;
    is !!($mask >> $SIGTERM - 1 & 1),
        $combo->{cgi} eq 'cgi' && $combo->{mpm} ne 'prefork',
        'it is left as httpd starts it';
    $httpd->serves('go', 'it ends well', $free);
    $httpd->stop;
});

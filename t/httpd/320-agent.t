# The agent takes back what dead children held: it is there, runs as the children
# do, comes again when it is killed, is stood in for while it is stopped, and ends
# with its configuration.

use AdmissionTest;

# Inodes of the sockets that this process has open and that listen.
sub listening($pid) {
    my %listens = map { $_ => 1 } map { (split)[9] } grep { (split)[3] eq '0A' }
                  map { split /\n/, AdmissionTest::Httpd->slurp($_) }
                  '/proc/net/tcp', '/proc/net/tcp6';

    return grep { $listens{$_} } map { (readlink($_) // '') =~ /^socket:\[(\d+)\]/ }
           glob "/proc/$pid/fd/*";
}

sub user_of($pid) {
    my ($user) = AdmissionTest::Httpd->slurp("/proc/$pid/status") =~ /^Uid:\t(\d+)/m;

    return $user;
}

# A permit of a child that is killed with its program comes back.
sub survives_a_kill($httpd, $what) {
    my $hold = $httpd->ask('/cgi-bin/heavy?ms=60000');

    $httpd->zone_becomes('/cgi-bin/', "$what: one runs", Active => 1);
    wait_for { 1 == $httpd->live_programs_now } '... with its program';
    kill KILL => $httpd->children, $httpd->live_programs_now;
    $httpd->zone_becomes('/cgi-bin/', '... it is killed, and its permit is free', Active => 0);
    answers($hold);
}

for_each_combo(sub {
    my $httpd = start_httpd(conf => "LogLevel admission:debug\n"
        . location('/page', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'));
    my $agent = $httpd->next_agent(0, 'there is one agent');
    my ($child) = $httpd->children;

    # Each begins as the user of the parent.
    wait_for { user_of($agent) == user_of($child) && ($> || user_of($agent)) }
        'it runs as the children do';
    isnt user_of($agent), 0, '... and not as root';
    ok scalar(listening($httpd->{pid})), 'the parent listens';
    is_deeply [ listening($agent) ], [], 'the agent does not';
    survives_a_kill($httpd, 'with the agent');

    kill KILL => $agent;
    $agent = $httpd->next_agent($agent, 'it is killed: another one starts');
    survives_a_kill($httpd, 'with the next one');

    kill STOP => $agent;
    survives_a_kill($httpd, 'while it is stopped');
    wait_for { $httpd->get('/page')->{body} =~ /The agent is not running/ }
        'the page shows that the agent is not running';
    is $httpd->status->{AdmissionAgent}, 0, 'the status shows that the agent is not running';
    kill CONT => $agent;
    survives_a_kill($httpd, 'when it goes on');
    is_deeply [ $httpd->agents ], [$agent], 'it is still the same';
    is $httpd->status->{AdmissionAgent}, 1, 'the status shows that the agent is running';

    kill STOP => $agent;
    $httpd->graceful;
    $agent = $httpd->next_agent($agent, 'a stopped one does not outlive a reload');
    $httpd->graceful for 1 .. 3;
    $agent = $httpd->next_agent($agent, 'no agents pile up');
    is_deeply [ listening($agent) ], [], '... and the last does not listen';
    $httpd->expect_in_log(qr/admission:warn.*ADM0133: admission-agent ended \(exit code or signal 9\)/);
    # mod_cgid's daemon dies of SIGPIPE, or reads an error, if a child is killed that asks it for a pid.
    $httpd->allow_in_log(qr/cgid:error.*AH012(?:39|48)/);
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

# Loaded and not used: nothing to count, nothing to look after.
for_each_combo(sub {
    my $httpd = start_httpd();

    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'without a zone requests pass';
    is $httpd->status->{AdmissionZones}, 0, '... the status has none';
    is_deeply [ $httpd->agents ], [], '... and there is no agent';
}, 'event+cgid');

# httpd -X is a single process, which counts as well, and starts no other.
for_each_combo(sub {
    my $httpd = new_httpd(conf => location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'))
        ->behind('set -- -X "$@"; exec')->start;
    my @clients = $httpd->fill('/cgi-bin/', 'go', 1, 3);

    is_deeply [ $httpd->agents, $httpd->children ], [], 'httpd -X: no agent, and no child';
    $httpd->serves('go', '... all are served, one after the other', @clients);
    $httpd->zone_becomes('/cgi-bin/', '... and the permits are back', Active => 0, Admitted => 4);
}, 'worker+cgi', 'event+cgi');

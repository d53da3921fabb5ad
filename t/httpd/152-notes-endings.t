# The access log tells of those who never got a permit and were not rejected
# either: their client left, httpd stopped, or they ran without a limit.

use AdmissionTest;
use AdmissionTest::Zone;

my ($zone, $name) = ('/cgi-bin/', 'test.example:/cgi-bin/');

# All zones that there is room for: those that are no more keep their places for
# two more reloads. The first configuration decides how much room that is.
sub many_zones {
    return join '', map { zone("/none/$_", 1, 0) } 1 .. 16_383;
}

sub loads {
    my ($httpd) = @_;
    return scalar(() = $httpd->slurp('error.log') =~ /resuming normal operations/g);
}

my $first = join '',
    "ErrorDocument 503 /cgi-bin/free/error\n",
    location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 3 timeout=300s'),
    location('/cgi-bin/free/', 'MaxConcurrent off');

for_each_combo(sub {
    my $httpd = start_httpd(conf => $first);

    my ($hold) = $httpd->fill($zone, 'go', 1);
    my $leaves = $httpd->ask('/cgi-bin/heavy?id=leaves', keep => 1);
    wait_for { $httpd->zone($zone)->{OldestWaitMs} >= 20 } 'one waits for a while';
    $leaves->leave;
    $httpd->is_noted('leaves', code => 499, zone => $name, status => 'gone', queued => 0);
    cmp_ok $httpd->logged('leaves')->{wait}, '>=', 20, '... after its wait';
    $httpd->serves('go', 'the running request gets its response', $hold);

    my $last = $first . location('/cgi-bin/last/', 'MaxConcurrent 1', 'AdmissionQueue 0');
    $httpd->expect_in_log(qr/ADM0110: /, qr/ADM0102: .*the zone table is full/,
                          qr/ADM0203: .*no record in the shared memory/);
    # prefork's children serve before it says so. A configuration must not be replaced
    # while it is read.
    wait_for { loads($httpd) } 'it has started';
    # Nobody reads the status of all those zones.
    for my $conf ($first . many_zones(), $last) {
        my $before = loads($httpd);
        my @old = $httpd->children;
        $httpd->configure($conf);
        kill USR1 => $httpd->{pid};
        wait_for { loads($httpd) > $before && !$httpd->accepts(@old) } 'it is reloaded', 30;
    }
    wait_for { $httpd->status->{AdmissionZones} == 2 && $httpd->runs_programs } 'it serves', 30;
    is $httpd->get("/cgi-bin/last/x?id=last$_")->{status}, 200, 'a zone without a place' for 1, 2;
    $httpd->is_noted('last1', code => 200, zone => "${name}last/", status => 'unlimited', wait => 0, queued => 0);
    is $httpd->status->{AdmissionUnlimited}, 2, '... and the status has the number';
});

# prefork ends its children without asking them, and event drops connections
# before the log is written; worker waits for every answer. Without an error page: it
# is a program, mod_cgid's daemon ends too, and a child that waits for it is killed.
my $without_page = $first =~ s/^\s*ErrorDocument.*\n//mr;

for_each_combo(sub {
    my $httpd = start_httpd(conf => $without_page);

    my @line = $httpd->ask('/cgi-bin/heavy?id=hold&until=stop');
    $httpd->zone_becomes($zone, 'one runs', Active => 1);
    for my $n (0 .. 2) {
        push @line, $httpd->ask("/cgi-bin/heavy?id=waiter$n");
        $httpd->zone_becomes($zone, $n + 1 . ' wait', Queued => $n + 1);
    }
    $httpd->open_gate_when_stopping('stop');
    $httpd->restart;
    $httpd->is_noted("waiter$_", code => 503, zone => $name, status => 'stopped', queued => $_) for 0 .. 2;
    answers(@line);
    is_deeply [ grep { /waiter/ } $httpd->record ], [], 'no program was started for them';
}, 'worker+cgid');

# One line in the access log for several requests: those that internal redirects and error
# pages add to what the client asked for. It tells of the one that was rejected; if none was, of
# the one that waited; else of the first that was asked for a permit. And for one that httpd
# stops while it waits, or runs without a limit.

use AdmissionTest;

my $conf = join '',
    "ErrorDocument 503 /cgi-bin/page/error\n",
    location('/cgi-bin/page/', 'MaxConcurrent 10', 'AdmissionQueue 0'),
    location('/cgi-bin/zone/', 'MaxConcurrent 1', 'AdmissionQueue 3',
        'AdmissionExempt "%{QUERY_STRING} =~ /exempt/"'),
    location('/cgi-bin/narrow/', 'MaxConcurrent 1', 'AdmissionQueue 0'),
    "RewriteEngine On\n",
    location('/short', 'RewriteEngine On', 'RewriteRule ^ /cgi-bin/zone/rewritten');
my ($page, $zone, $narrow, $last) = map { "test.example:/cgi-bin/$_/" } qw(page zone narrow last);

sub tells_of_redirects {
    my ($httpd) = @_;

    # Admitted and led on to another zone: the first. Rewritten before a handler ran: the second.
    $httpd->get('/cgi-bin/zone/x?id=led-on&loc=/cgi-bin/page/x');
    $httpd->is_noted('led-on', code => 200, zone => $zone, status => 'admitted', wait => 0, queued => 0);
    $httpd->get('/short/x?id=rewritten');
    $httpd->is_noted('rewritten', zone => $zone, status => 'admitted');

    my @hold = map { $httpd->ask("/cgi-bin/$_/x?id=hold-$_&until=go") } qw(zone narrow);
    $httpd->zone_becomes("/cgi-bin/$_/", "one runs in $_", Active => 1) for qw(zone narrow);
    # Rejected, with an admitted error page; and admitted, led on and rejected there: the rejection.
    $httpd->get('/cgi-bin/narrow/x?id=with-page');
    $httpd->is_noted('with-page', code => 503, zone => $narrow, status => 'full', wait => 0, queued => 0);
    $httpd->get('/cgi-bin/page/x?id=rejected-there&loc=/cgi-bin/narrow/x');
    $httpd->is_noted('rejected-there', code => 503, zone => $narrow, status => 'full');

    my $leaves = $httpd->ask('/cgi-bin/zone/x?id=leaves', keep => 1);
    wait_for { $httpd->zone($zone)->{OldestWaitMs} >= 20 } 'one waits for a while';
    $leaves->leave;
    $httpd->is_noted('leaves', code => 499, zone => $zone, status => 'gone', queued => 0);
    cmp_ok $httpd->logged('leaves')->{wait}, '>=', 20, '... after its wait';

    my %waits = (patient => '/cgi-bin/zone/x?id=patient&loc=/cgi-bin/page/x',
                 detour => '/short/x?id=detour',
                 # Exempt itself, but not what it leads to.
                 exempt => '/cgi-bin/zone/x?id=exempt&loc=/cgi-bin/zone/y');
    my @ids = qw(patient detour exempt);
    for my $n (0 .. 2) {
        push @hold, $httpd->ask($waits{ $ids[$n] });
        $httpd->zone_becomes('/cgi-bin/zone/', "$ids[$n] waits", Queued => $n + 1);
    }
    $httpd->serves('go', 'waiting requests get their response', @hold);
    for my $n (0 .. 2) {
        $httpd->is_noted($ids[$n], zone => $zone, status => 'queued', queued => $n);
        cmp_ok $httpd->logged($ids[$n])->{wait}, '>=', 1, '... with its wait';
    }
}

sub loads { return scalar(() = $_[0]->slurp('error.log') =~ /resuming normal operations/g) }

# First all zones that there is room for, then a new one: those that are no more keep their
# places for two more reloads.
sub tells_of_no_limit {
    my ($httpd) = @_;
    my @one = ('MaxConcurrent 1', 'AdmissionQueue 0');
    my $many = join '', map { location("/none/$_", @one) } 1 .. 16_384 - 3;

    $httpd->expect_in_log(qr/ADM0110: /, qr/ADM0102: .*the zone table is full/,
                          qr/ADM0203: .*no record in the shared memory/);
    # prefork's children serve before it says so. A configuration must not be replaced
    # while it is read. Nobody reads the status of all those zones.
    wait_for { loads($httpd) } 'it has started';
    for my $more ($many, location('/cgi-bin/last/', @one)) {
        my $before = loads($httpd);
        my @old = $httpd->children;
        $httpd->configure($conf . $more);
        kill USR1 => $httpd->{pid};
        wait_for { loads($httpd) > $before && !$httpd->accepts(@old) } 'it is reloaded';
    }
    wait_for { $httpd->status->{AdmissionZones} == 4 && $httpd->runs_programs } 'it serves';
    is $httpd->get("/cgi-bin/last/x?id=last$_")->{status}, 200, 'a zone without a place' for 1, 2;
    $httpd->is_noted('last1', code => 200, zone => $last, status => 'unlimited', wait => 0, queued => 0);
    is $httpd->status->{AdmissionUnlimited}, 2, '... and the status has the number';
}

for_each_combo(sub {
    my $httpd = start_httpd(workers => 40, conf => $conf);
    $httpd->expect_rejections($narrow, 'full');
    tells_of_redirects($httpd);
    tells_of_no_limit($httpd);
});

# prefork ends its children without asking them, and event drops connections
# before the log is written; worker waits for every answer. Without an error page: it
# is a program, mod_cgid's daemon ends too, and a child that waits for it is killed.
for_each_combo(sub {
    my $httpd = start_httpd(conf => $conf =~ s/^ErrorDocument.*\n//r);
    my @line = $httpd->fill('/cgi-bin/zone/', 'stop', 1);

    push @line, $httpd->waits('/cgi-bin/zone/', map { "waiter$_" } 0 .. 2);
    $httpd->open_gate_when_stopping('stop');
    $httpd->restart;
    $httpd->is_noted("waiter$_", code => 503, zone => $zone, status => 'stopped', queued => $_)
        for 0 .. 2;
}, 'worker+cgid');

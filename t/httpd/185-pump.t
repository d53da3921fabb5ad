# The event MPM sends what is kept without a worker, also with TLS: more slow readers
# than there are threads stop nobody. An answer that is sent so ends like another: behind a
# redirect inside httpd, over a graceful restart, when its client leaves or takes nothing for
# Timeout, and when its child is killed.

use AdmissionTest;

my ($threads, $readers) = (6, 10);

# The first bytes of its answer have arrived, the rest comes when nobody reads.
sub pumped {
    my ($httpd, $name, $url, $transfers, $path) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $query = "id=$name&early=1&until=$name&bulk=$BULK";
    my $reader = slow_reader($httpd->$url(($path // '/cgi-bin/heavy') . "?$query"), '--http1.1')->stop_reading;

    $httpd->open_gate($name);
    server_becomes($httpd, "$name: the rest is sent without a worker", AdmissionTransfers => $transfers,
                   AdmissionRunning => 0);
    return $reader;
}

sub nothing_is_left {
    my ($httpd, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return server_becomes($httpd, "$what: nothing is left", AdmissionTransfers => 0, AdmissionSpooled => 0);
}

my $conf = location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 50');

for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(tls => 1, threads => $threads, replaces_killed => 1, conf => $conf);
    my ($child) = $httpd->children;
    $httpd->get('/cgi-bin/heavy');
    my $before = descriptors($child);
    my @readers = map { pumped($httpd, "reader$_", $_ % 2 ? 'url' : 'tls_url', $_) } 1 .. $readers;
    $httpd->zone_becomes('/cgi-bin/', 'clients that do not read hold no permit', Active => 0);
    cmp_ok $httpd->status->{AdmissionSpooled}, '>', 0, 'their responses are stored';
    is $httpd->get('/cgi-bin/heavy?id=next')->{status}, 200, 'other requests run';

    (shift @readers)->leave for 1, 2;
    server_becomes($httpd, 'two leave', AdmissionTransfers => $readers - 2);
    $_->read_on for @readers;
    is scalar(grep { $_->has_read_all } @readers), $readers - 2, 'the others get everything';
    nothing_is_left($httpd, 'read');
    wait_for { descriptors($child) <= $before } '... no descriptor either';

    my $reader = pumped($httpd, 'graceful', 'url', 1);
    my $late = slow_reader($httpd->tls_url("/cgi-bin/heavy?early=1&until=late&bulk=$BULK"), '--http1.1')->stop_reading;
    $httpd->graceful;
    $httpd->open_gate('late');
    $httpd->zone_becomes('/cgi-bin/', 'an old child has sent nothing yet, and holds no permit', Active => 0);
    server_becomes($httpd, '... a worker waits for the client, and counts', AdmissionRunning => 1);
    $_->read_on for $reader, $late;
    is scalar(grep { $_->has_read_all } $reader, $late), 2, 'over a graceful restart everything arrives';
    nothing_is_left($httpd, 'graceful');

    $reader = pumped($httpd, 'killed', 'tls_url', 1);
    kill KILL => $httpd->children;
    nothing_is_left($httpd, 'killed');
    $reader->leave;
    wait_for { $httpd->get('/cgi-bin/heavy')->{status} == 200 } 'another child serves';
}, 'event+cgid', 'event+cgid+completion');

# Where the client takes nothing for as long as Timeout says, its request ends with its
# line in the log.
for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(tls => 1, threads => $threads, conf => $conf . join '',
        "Timeout 8\n", location('/moved.cgi', 'MaxConcurrent 2'),
        section('Directory /', 'RewriteEngine On', 'RewriteRule /inside$ /cgi-bin/heavy [L]'));
    $httpd->put_script('moved.cgi', q(printf 'Location: /cgi-bin/heavy?%s\n\n' "$QUERY_STRING"));
    for my $path ('/inside', '/moved.cgi') {
        my $reader = pumped($httpd, "redirected$path" =~ s{/}{-}r, 'tls_url', 1, $path);
        $reader->read_on;
        ok $reader->has_read_all, "$path: behind a redirect everything arrives";
        nothing_is_left($httpd, 'redirected');
    }
    my @stuck = (pumped($httpd, 'stuck', 'url', 1), pumped($httpd, 'stuck-tls', 'tls_url', 2));
    nothing_is_left($httpd, 'Timeout');
    wait_for { 2 == grep { /id=stuck/ } $httpd->access_log } '... they are in the log';
    $_->leave for @stuck;
    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'others are served';
}, 'event+cgid', 'event+cgid+completion');

# How a pumped answer ends otherwise: behind a redirect inside httpd, when its client
# takes nothing for Timeout, when its child is killed, and over a graceful restart.

use AdmissionTest;
use AdmissionTest::Parking;
use Admission::Slow;

my $query = sub { my ($name) = @_; return "id=$name&early=1&until=$name&bulk=$BULK" };

sub pumped {
    my ($httpd, $name, $url, $path, $transfers) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $reader = slow_reader($httpd->$url($path . $query->($name)), '--http1.1')->stop_reading;

    $httpd->open_gate($name);
    server_becomes($httpd, "$name: the rest is sent without a worker", AdmissionTransfers => $transfers // 1,
                   AdmissionRunning => 0);
    return $reader;
}

sub nothing_is_left {
    my ($httpd, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    server_becomes($httpd, "$what: nothing is left", AdmissionTransfers => 0,
                   AdmissionSpooled => 0);
    return;
}

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = new_parking_httpd(combo => $combo, tls => 1, threads => 6, replaces_killed => 1,
                                  conf => join '',
        "AdmissionSpool request=1M response=16M\n",
        location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 5'));
    $httpd->start;
    my $reader = pumped($httpd, 'plain', 'url', '/cgi-bin/heavy?');
    $httpd->graceful;
    $reader->read_on;
    ok $reader->has_read_all, 'over a graceful restart everything arrives';
    nothing_is_left($httpd, 'graceful');

    $reader = pumped($httpd, 'killed', 'tls_url', '/cgi-bin/heavy?');
    kill KILL => $httpd->children;
    nothing_is_left($httpd, 'killed');
    $reader->leave;
    wait_for { $httpd->get('/cgi-bin/heavy')->{status} == 200 } 'another child serves';
    $httpd->stop;
}, 'event+cgid', 'event+cgid+completion');

# Where the client takes nothing for as long as Timeout says, its request ends with its
# line in the log.
for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = start_parking_httpd(combo => $combo, tls => 1, threads => 6, conf => <<"CONF" .
AdmissionSpool request=1M response=16M
Timeout 3
<Directory />
    RewriteEngine On
    RewriteRule /inside\$ /cgi-bin/heavy [L]
</Directory>
CONF
        location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 5'));
    my $reader = pumped($httpd, 'redirected', 'url', '/inside?');
    $reader->read_on;
    ok $reader->has_read_all, 'behind a redirect everything arrives';
    nothing_is_left($httpd, 'redirected');
    my @stuck = (pumped($httpd, 'stuck', 'url', '/cgi-bin/heavy?', 1),
                 pumped($httpd, 'stuck-tls', 'tls_url', '/cgi-bin/heavy?', 2));
    nothing_is_left($httpd, 'Timeout');
    wait_for { 2 == grep { /id=stuck/ } $httpd->access_log } '... they are in the log';
    $_->leave for @stuck;
    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'others are served';
    $httpd->stop;
}, 'event+cgid', 'event+cgid+completion');

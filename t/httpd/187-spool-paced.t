# mod_ratelimit makes the thread of a request sleep while it sends. That is no work: the
# program ends, its permit comes back, and the worker is counted until the end.

use FindBin;
use lib "$FindBin::Bin/../lib";
use AdmissionTest;
use AdmissionTest::Backend;
use Admission::Slow;

my $zone = '/cgi-bin/';

# Says something, is silent until the gate is open, and says the rest.
sub serve {
    my ($client, $gate) = @_;
    my $head = '';

    while ($head !~ /\r\n\r\n/) {
        sysread $client, $head, 4096, length $head or return;
    }
    print {$client} "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", 'x' x 30_000;
    $client->flush;
    select undef, undef, undef, 0.02 until -e $gate;
    print {$client} 'x' x 1_000_000;
    return;
}

sub backend_is_not_paced {
    my ($httpd, $gate) = @_;
    my $reader = slow_reader($httpd->url('/back/'), '--http1.1');

    wait_for { $reader->read_so_far } 'proxied: what the backend has said comes while it is silent';
    is $httpd->zone($zone)->{Active}, 1, '... with the permit';
    open my $opened, '>', $gate or die "$gate: $!\n";
    $httpd->zone_becomes($zone, '... which comes back when it has said everything', Active => 0);
    is $httpd->status->{AdmissionRunning}, 1, '... its worker is counted';
    $reader->leave;
    wait_for { !$httpd->status->{AdmissionRunning} } '... until it leaves';
    return;
}

for_each_combo(sub {
    my ($combo) = @_;
    my @proxy = grep { Admission::Config::is_installed($_) } qw(proxy proxy_http);
    my $gates = File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
    my ($backend, $port) = start_backend(sub { serve($_[0], "$gates/open") });
    plan skip_all => 'mod_ratelimit is not installed' if !Admission::Config::is_installed('ratelimit');
    my $has_streams = $combo->{mpm} ne 'prefork' && can_read_http2();
    my $httpd = start_httpd(combo => $combo, workers => 20, tls => 1, http2 => $has_streams,
                            modules => ['ratelimit', @proxy], conf => <<"CONF");
SetEnvIf Request_URI . rate-limit=20
SetEnvIf Request_URI /fast/ rate-limit=40000
<Location $zone>
    MaxConcurrent 1
    AdmissionQueue 5
    SetOutputFilter RATE_LIMIT
</Location>
<IfModule mod_proxy_http.c>
    ProxyPass /back/ http://127.0.0.1:$port/
    <Location /back/>
        MaxConcurrent 1
        AdmissionZone test.example:$zone
        SetOutputFilter RATE_LIMIT
    </Location>
</IfModule>
<Location ${zone}small/>
    AdmissionSpool response=64K
</Location>
CONF
    for (['plain', 'url', '--http1.1'], ['TLS', 'tls_url', '--http1.1'],
         $has_streams ? ['HTTP/2', 'tls_url', '--http2'] : ()) {
        my ($how, $url, @options) = @$_;
        # In two parts, with a pause between them.
        my $reader = slow_reader($httpd->$url("/cgi-bin/heavy?early=1&ms=30&bulk=1000000"), @options);
        wait_for { !$httpd->zone($zone)->{Active} && !$httpd->live_programs_now }
            "$how: the permit comes back while the answer is paced";
        my $status = $httpd->status;
        cmp_ok $status->{AdmissionSpooled}, '>', 800_000, '... nearly all is still kept'
            if $how ne 'HTTP/2';
        is $status->{AdmissionRunning}, 1, '... its worker is counted';
        my $small = $httpd->connect->ask('/cgi-bin/heavy?bulk=30000');
        wait_for { $small->has_begun } '... the next one runs';
        wait_for { !$httpd->zone($zone)->{Active} } '... a short one holds its permit no longer';
        $small->leave;
        $reader->leave;
        wait_for { my $s = $httpd->status; !$s->{AdmissionRunning} && !$s->{AdmissionSpooled} }
            '... nothing is left when they leave';

        $reader = slow_reader($httpd->$url("/cgi-bin/fast/heavy?early=1&ms=200&bulk=$BULK"), @options);
        ok $reader->has_read_all, "$how: everything arrives";
    }
    my $reader = slow_reader($httpd->url("/cgi-bin/small/heavy?bulk=1000000"), '--http1.1');
    $httpd->zone_becomes($zone, 'what there is no room for is read with the permit', Active => 1);
    $reader->leave;
    wait_for { !$httpd->status->{AdmissionRunning} } '... until it leaves';
    backend_is_not_paced($httpd, "$gates/open") if @proxy == 2;
    $httpd->stop;
});

done_testing;

# The event MPM sends what is kept without a worker, also with TLS: more slow readers
# than there are threads stop nobody.

use AdmissionTest;
use AdmissionTest::Parking;
use Admission::Slow;

my ($threads, $readers) = (6, 10);

# The first bytes have arrived, the rest comes when nobody reads.
sub stopped_reader {
    my ($httpd, $name, $url) = @_;
    my $reader = slow_reader("$url?id=$name&early=1&until=$name&bulk=$BULK", '--http1.1');
    $reader->stop_reading;
    $httpd->open_gate($name);
    return $reader;
}

for_each_parking_combo(sub {
    my ($combo) = @_;
    my $httpd = start_parking_httpd(combo => $combo, tls => 1, threads => $threads, conf => join '',
        "AdmissionSpool request=1M response=16M\n",
        location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 50'));
    my ($child) = $httpd->children;
    $httpd->get('/cgi-bin/heavy');
    my $before = descriptors($child);
    my @readers = map {
        (stopped_reader($httpd, "plain$_", $httpd->url('/cgi-bin/heavy')),
         stopped_reader($httpd, "tls$_", $httpd->tls_url('/cgi-bin/heavy')))
    } 1 .. $readers / 2;
    $httpd->zone_becomes('/cgi-bin/', 'clients that do not read hold no permit', Active => 0);
    server_becomes($httpd, 'nor a worker', AdmissionTransfers => $readers, AdmissionRunning => 0);
    cmp_ok $httpd->status->{AdmissionSpooled}, '>', 0, 'their answers are kept';
    is $httpd->get('/cgi-bin/heavy?id=next')->{status}, 200, 'other requests run';

    (shift @readers)->leave;
    (shift @readers)->leave;
    server_becomes($httpd, 'two leave', AdmissionTransfers => $readers - 2);
    $_->read_on for @readers;
    is scalar(grep { $_->has_read_all } @readers), $readers - 2, 'the others get everything';
    server_becomes($httpd, 'nothing is left', AdmissionTransfers => 0, AdmissionSpooled => 0);
    wait_for(sub { descriptors($child) <= $before }, '... no descriptor either');
    $httpd->stop;
}, 'event+cgid', 'event+cgid+completion');

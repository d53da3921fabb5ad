# httpd -t -D DUMP_ADMISSION prints every zone with its place and numbers.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;

my ($combo) = combos() or plan skip_all => 'no combination';

# The places tested below are lines of this text.
my $httpd = AdmissionTest::Httpd->new(combo => $combo, conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 4
    AdmissionQueue 20 timeout=5s
</Location>
<Location /reports>
    AdmissionZone reports
    MaxConcurrent 7
</Location>
<VirtualHost *:1>
    ServerName other.example
    <Location /cgi-bin/>
        MaxConcurrent 2
        AdmissionQueue 0
    </Location>
</VirtualHost>
CONF

my ($status, $output) = $httpd->configtest('-D', 'DUMP_ADMISSION');
is $status, 0, 'the configuration is fine' or diag $output;

my @zones = (
    # name, limit, queue, timeout, line of MaxConcurrent
    [ 'test.example:/cgi-bin/',  4, 20,  qr/5(?:s|000)/,   2 ],
    [ 'reports',                 7, 100, qr/30(?:s|000)/,  7 ],
    [ 'other.example:/cgi-bin/', 2, 0,   qr/30(?:s|000)/,  12 ],
);
for (@zones) {
    my ($name, $limit, $queue, $timeout, $place) = @$_;
    my ($line) = grep { /(?:^|\s)\Q$name\E(?:\s|$)/ } split /\n/, $output;
    ok defined $line, "$name has a line" or diag($output), next;
    like $line, qr/\blimit $limit\b/, "$name: limit";
    like $line, qr/\bqueue $queue\b/, "$name: length of the queue";
    like $line, qr/\btimeout\W$timeout/, "$name: timeout";
    like $line, qr/admission\.conf:$place\b/, "$name: where it is configured";
}

my (undef, $quiet) = $httpd->configtest;
unlike $quiet, qr/reports/, 'nothing is printed unless asked for';

done_testing;

# Which zone a request belongs to: sections in sections, off, virtual hosts.

use AdmissionTest;

my ($combo) = combos() or plan skip_all => 'no combination';
my @one = ('MaxConcurrent 1', 'AdmissionQueue 0');
my @pool = (@one, 'AdmissionZone pool');
my @vhost_alias = grep { Admission::Config::is_installed($_) } 'vhost_alias';
my $httpd = start_httpd(combo => $combo, modules => \@vhost_alias, conf => join '',
    "AdmissionQueue 7 timeout=9s\n",
    location('/cgi-bin/', 'MaxConcurrent 5', 'AdmissionReject 429'),
    location('/cgi-bin/inner/', @one),
    location('/cgi-bin/inner/free/', 'MaxConcurrent off'),
    location('/cgi-bin/inner/other-status/', 'AdmissionReject 507'),
    location('/cgi-bin/shared-a/', @pool),
    section('LocationMatch ^/cgi-bin/shared-b/', @pool),
    virtual_host('test.example'),
    virtual_host('many.example', 'ServerAlias *.many.example',
                 section('IfModule mod_vhost_alias.c', 'VirtualDocumentRoot /nowhere/%1'),
                 location('/cgi-bin/', @one, 'AdmissionQueue 5')),
    virtual_host('other.example', location('/cgi-bin/', 'MaxConcurrent 3'), location('/cgi-bin/shared-c/', @pool)));

$httpd->expect_rejections($_, 'full') for 'test.example:/cgi-bin/inner/', 'pool';

is_deeply [ sort keys %{ $httpd->status->{zone} } ],
    [ 'many.example:/cgi-bin/', 'other.example:/cgi-bin/', 'pool', 'test.example:/cgi-bin/',
      'test.example:/cgi-bin/inner/' ],
    'one zone per section with MaxConcurrent, one per name';

sub status_of { return $httpd->get(@_)->{status} }

my $hold = $httpd->ask('/cgi-bin/inner/x?until=inner');
$httpd->zone_becomes('/cgi-bin/inner/',
                     'a request of the inner section counts there',
                     Active => 1, Limit => 1, QueueLength => 0);
$httpd->zone_becomes('/cgi-bin/', 'and not in the outer one', Active => 0, Limit => 5);
is status_of('/cgi-bin/x'), 200, 'the outer zone still has room';
is status_of('/cgi-bin/inner/x'), 429,
    'the inner zone is full, and rejects as the outer section specifies';
is status_of('/cgi-bin/inner/other-status/x'), 507,
    'a section without MaxConcurrent is in the zone around it, with its own '
    . 'AdmissionReject';
is status_of('/cgi-bin/inner/free/x'), 200, 'MaxConcurrent off ends the limit';
$httpd->zone_becomes('/cgi-bin/', 'queue and timeout come from the server',
                     QueueLength => 7, QueueTimeoutMs => 9000);
$httpd->serves('inner', 'the request of the inner zone gets its response', $hold);

$hold = $httpd->ask('/cgi-bin/shared-a/x?until=shared');
$httpd->zone_becomes('pool', 'one runs in the shared zone', Active => 1);
is status_of('/cgi-bin/shared-b/x'), 429, 'another section of that name is full';
is status_of('/cgi-bin/shared-c/x'), 200, 'that URL of this host is in another zone';
is status_of('/cgi-bin/shared-c/x', host => 'other.example'), 429, 'a section of that name in another host is full';
is status_of('/cgi-bin/x', host => 'other.example'), 200, 'the other host has a zone of its own';
$httpd->zone_becomes('other.example:/cgi-bin/', 'which has counted it', Admitted => 1, Limit => 3);
$httpd->serves('shared', 'the request of the shared zone gets its response', $hold);

# mod_vhost_alias: one section for many hosts is one zone.
my @many = map { $httpd->ask('/cgi-bin/x?until=many', host => "$_.many.example") } qw(a b);
$httpd->zone_becomes('many.example:/cgi-bin/', 'hosts of one section share its zone', Active => 1, Queued => 1);
$httpd->serves('many', '... and are served', @many);

$httpd->stop;

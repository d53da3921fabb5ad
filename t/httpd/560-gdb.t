# The macros of tools/adm.gdb read the segment of a running child.

use FindBin;
use AdmissionTest;

plan skip_all => 'no gdb: install gdb' if !grep { -x "$_/gdb" } split /:/, $ENV{PATH};
plan skip_all => 'only root may look into another process' if $> != 0;

for_each_combo(sub {
    my $httpd = start_httpd(conf => location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5 timeout=300s'));
    my @asked = $httpd->fill('/cgi-bin/', 'hold', 1, 1);
    my ($pid) = $httpd->children;
    my $macros = ($ENV{ADMISSION_SRCDIR} // "$FindBin::Bin/../..") . '/tools/adm.gdb';
    my $said = `gdb -nx -batch -p $pid -x '$macros' -ex adm-zones -ex adm-tickets -ex adm-children 2>&1`;

    like $said, qr/^zone 1: limit 1 active 1 queued 1 orphans 0 first 2$/m, 'adm-zones';
    like $said, qr/^ticket 1: zone 1 state 2 child \d+ arrival 0 program \d+$/m, 'adm-tickets';
    like $said, qr/^ticket 2: zone 1 state 1 child \d+ arrival 1 program 0$/m, '... all of them';
    like $said, qr/^child \d+: pid $pid state 2 workers \d+ blocked \d+ parked \d+$/m,
        'adm-children';
    unlike $said, qr/^(?:No symbol|There is no member|Undefined)/m, 'no name is out of date'
        or diag $said;
    $httpd->serves('hold', 'both requests are served', @asked);
}, 'event+cgid');

# A directive of a capability that this build lacks is refused, and the message says why.
# `explain` has no directive: its output is not found.
use FindBin;
use lib "$FindBin::Bin/../lib";
use AdmissionTest;

my $left_out = $ENV{LEFT_OUT} or plan skip_all => 'LEFT_OUT names no capability';
my %lines = (
    explain => [],
    auto    => [ 'MaxConcurrent auto', 'MaxConcurrent auto 1 9', 'AdmissionStateFile off' ],
    fleet   => [ "AdmissionZone x fleet\nMaxConcurrent 4", 'AdmissionEngine redis://127.0.0.1/',
                 'AdmissionFleet lease=5s' ],
    recycle => ['AdmissionRecycle 5'],
    spool   => [ 'AdmissionSpool response=1M', 'AdmissionSpoolLimit 1M' ],
);
my ($combo) = combos() or plan skip_all => 'no combination';
my $httpd = AdmissionTest::Httpd->new(combo => $combo);

for my $line (@{ $lines{$left_out} }) {
    my ($directive) = $line =~ /^(\w+)/;

    $httpd->configure("$line\n");
    my ($status, $output) = $httpd->configtest;
    isnt $status, 0, "refused: $line";
    like $output, qr/\Q$directive\E: .*this build has no \Q$left_out\E/, 'and why';
}

if ($left_out eq 'explain') {
    $httpd->configure("<Location /admission>\nSetHandler admission-status\n</Location>\n");
    $httpd->start;
    is $httpd->get('/admission?explain=/')->{status}, 404, '?explain is not found';
    is $httpd->get('/admission?json')->{status}, 200, '... other outputs are';
    $httpd->stop;
}

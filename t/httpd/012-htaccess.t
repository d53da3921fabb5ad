# No directive works from .htaccess, whatever AllowOverride says: authors of
# pages must not open or name zones.

use AdmissionTest;

my ($combo) = combos() or plan skip_all => 'no combination';

my @lines = (
    'MaxConcurrent 4', 'AdmissionQueue 10', 'AdmissionHandlers all',
    'AdmissionZone heavy', q(AdmissionExempt "true"), 'AdmissionReject 429',
    'AdmissionDryRun On', 'AdmissionFair client', 'AdmissionPriority high "true"',
    'AdmissionCost 2', 'AdmissionSpool request=off', 'AdmissionReserve 5',
);
my @directives = map { (split)[0] } @lines;
# httpd itself refuses to list AdmissionReserve, which is the server's alone.
my @listed = grep { $_ ne 'AdmissionReserve' } @directives;
my %override = (all  => 'AllowOverride All',
                list => "AllowOverride None\nAllowOverrideList @listed");

my $httpd = AdmissionTest::Httpd->new(combo => $combo);
$httpd->configure(join '', map { "<Directory $httpd->{dir}/docs/$_>\n"
                                 . "$override{$_}\n</Directory>\n" }
                           sort keys %override);
$httpd->expect_in_log(map { qr/:alert\].*\.htaccess: \Q$_\E / } @directives);
$httpd->start;

for my $kind (sort keys %override) {
    mkdir "$httpd->{dir}/docs/$kind";
    $httpd->put("$kind/page.txt", "page\n");
    is $httpd->get("/$kind/page.txt")->{status}, 200, "$kind: the page is there without .htaccess";
    for my $line (@lines) {
        $httpd->put("$kind/.htaccess", "$line\n");
        is $httpd->get("/$kind/page.txt")->{status}, 500, "$kind: '$line' in .htaccess is refused";
    }
}
$httpd->stop;

# A flood of rejections fills neither the log nor the disk: one line a minute, a
# zone and a reason, whatever the number of children, and it tells how many.
#
# ADMISSION_FLOOD is the number of rejected requests of each zone, in thousands of them.

use AdmissionTest;
use Time::HiRes qw(time);

my $rounds = ($ENV{ADMISSION_FLOOD} // 2000) / 1000;
my @zones = map { "/cgi-bin/$_/" } qw(one other);

# Floods the zone while one holds its permit. @return the minutes that began meanwhile.
sub flood {
    my ($httpd, $zone) = @_;
    my $began = time;

    for my $round (1 .. $rounds) {
        my $gate = "go$round" . $zone =~ tr{/}{-}r;
        my @hold = $httpd->fill($zone, $gate, 1);
        my @rejected = map { answers(map { $httpd->ask("${zone}heavy") } 1 .. 50) } 1 .. 20;
        is_deeply statuses(@rejected), { 503 => 1000 }, "a thousand of $zone are rejected";
        $httpd->serves($gate, '... and no other request', @hold);
        $httpd->zone_becomes($zone, '... which has ended', Active => 0);
    }
    return 1 + int((time - $began) / 60);
}

for_each_combo(sub {
    my $httpd = start_httpd(conf => join '', map {
        location($_, 'MaxConcurrent 1', 'AdmissionQueue 0') } @zones);
    $httpd->expect_rejections("test.example:$_", 'full') for @zones;
    my $log_before = $httpd->error_log;
    my %minutes = map { $_ => flood($httpd, $_) } @zones;
    my @new = ($httpd->error_log)[$log_before .. $httpd->error_log - 1];

    for my $zone (@zones) {
        my @lines = grep { /ADM0202: zone \S*\Q$zone\E: / } @new;
        cmp_ok scalar @lines, '>=', 1, "$zone is in the error log";
        cmp_ok scalar @lines, '<=', $minutes{$zone}, '... at most once a minute';
        like $lines[-1] // '', qr/ total rejections: full [1-9]/, '... with how many';
        is $httpd->zone($zone)->{RejectedFull}, 1000 * $rounds, '... and the status counts all';
    }
    is_deeply [ grep { !/ADM0202/ && / \[admission:/ } @new ], [], 'nothing else is said of them';
}, 'prefork+cgi', 'event+cgid');

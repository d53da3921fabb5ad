# A flood of rejections fills neither the log nor the disk: one line a minute, a
# zone and a reason, whatever the number of children, and it tells how many.
#
# ADMISSION_FLOOD is the number of rejected requests of each zone.

use AdmissionTest;
use POSIX ();
use Time::HiRes qw(time);

my $flood = $ENV{ADMISSION_FLOOD} // 2000;
my $part  = 5000;
my @zones = map { "/cgi-bin/$_/" } qw(one other);

plan skip_all => 'ab is not installed' if system 'command -v ab >/dev/null';

# How many of so many requests were rejected.
sub ask_often {
    my ($url, $number) = @_;
    my $output = `ab -q -n $number -c 50 '$url' 2>&1`;
    my ($rejected) = $output =~ /^Non-2xx responses:\s+(\d+)/m or diag $output;
    return $rejected // 0;
}

# Floods the zone while one holds its permit; in parts, as programs of these tests
# do not live long. @return the minutes that began meanwhile.
sub ask_full_zone {
    my ($httpd, $zone) = @_;
    my ($began, $rejected, $held) = (time, 0, 0);

    for (my $left = $flood; $left > 0; $left -= $part) {
        my $hold = $httpd->ask("${zone}heavy?until=go$left");
        $httpd->soon(sub { $httpd->zone($zone)->{Active} == 1 });
        $rejected += ask_often($httpd->url("${zone}heavy"), $left < $part ? $left : $part);
        $httpd->open_gate("go$left");
        $held++ if $hold->answer->{status} == 200;
        $httpd->soon(sub { $httpd->zone($zone)->{Active} == 0 });
        unlink "$httpd->{dir}/heavy/go$left";
    }
    is $rejected, $flood, "$flood of $zone are rejected";
    is $held, POSIX::ceil($flood / $part), '... and no other request';
    return 1 + int((time - $began) / 60);
}

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf => join '', map {
        location("$_", 'MaxConcurrent 1', 'AdmissionQueue 0') } @zones);
    $httpd->expect_rejections("test.example:$_", 'full') for @zones;
    my $log_before = $httpd->error_log;
    my %minutes = map { $_ => ask_full_zone($httpd, $_) } @zones;
    my @new = ($httpd->error_log)[$log_before .. $httpd->error_log - 1];

    for my $zone (@zones) {
        my @lines = grep { /ADM0202: zone \S*\Q$zone\E: / } @new;
        cmp_ok scalar @lines, '>=', 1, "$zone is in the error log";
        cmp_ok scalar @lines, '<=', $minutes{$zone}, '... at most once a minute';
        like $lines[-1] // '', qr/ total rejections: full [1-9]/, '... with how many';
        is $httpd->zone($zone)->{RejectedFull}, $flood, '... and the status counts all';
    }
    is_deeply [ grep { !/ADM0202/ && / \[admission:/ } @new ], [], 'nothing else is said of them';
    note scalar(grep { /ADM0202/ } @new), " lines for $flood rejections each, in minutes: ",
        join ', ', map { "$_ $minutes{$_}" } @zones;

}, 'prefork+cgi', 'event+cgid');

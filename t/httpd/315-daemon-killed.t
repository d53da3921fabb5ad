# mod_cgid's daemon dies, and the programs it has just started live on: nobody
# told httpd their pids, so that it cannot end them when their requests end. They
# keep their permits all the same.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use Time::HiRes qw(time);

my $limit = 8;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 80, conf => <<"CONF");
<Location /cgi-bin/>
    MaxConcurrent $limit
    AdmissionQueue 20
</Location>
CONF
    my $zone = '/cgi-bin/';
    my $watch = $httpd->watch;
    my ($daemon) = $httpd->daemons;

    # It finds all requests at once, and the first program kills it before it
    # could say what the pids of all are.
    kill STOP => $daemon;
    my @first = map { $httpd->ask("/cgi-bin/heavy?id=$_&kill=1&until=go") } 1 .. $limit;
    $httpd->zone_becomes($zone, 'all permits are given', Active => $limit);
    kill CONT => $daemon;
    wait_for { $httpd->live_programs_now } 'programs start';
    wait_for { !grep { $_ == $daemon } $httpd->daemons } 'and kill their daemon';
    wait_for { $httpd->daemons } 'httpd starts another one';
    my @left = grep { $_->has_begun } @first;
    cmp_ok scalar(@left), '>', 0, 'requests ended before their programs: ' . @left;

    my @next = map { $httpd->ask("/cgi-bin/heavy?ms=50") } 1 .. 2 * $limit;
    wait_for { $limit > scalar grep { !$_->has_begun } @next }
        'others run in the permits that are left, or when the programs end';
    $httpd->open_gate('go');
    is_deeply statuses(answers(@next)), { 200 => 2 * $limit }, 'all others are answered';
    cmp_ok $watch->most, '<=', $limit, "there were never more than $limit programs";
    $httpd->zone_becomes($zone, 'all permits are back', Active => 0, Queued => 0);
    $httpd->allow_in_log(qr/\[cgid:error\]/)->stop;
}, 'worker+cgid', 'event+cgid');

done_testing;

# A server that is killed or stopped, and started again, has its share of a limit over
# servers back at once, long before its lease is over; not while programs of before live,
# and not for a copy of the file that says who it was.

use AdmissionTest;
use Admission::Redis;
use AdmissionTest::Fleet;

use File::Copy ();

engine_or_skip('redis');

my $redis = Admission::Redis->start;

# A server that goes, and its file of before.
sub httpd {
    my ($combo) = @_;
    my $httpd = new_httpd(combo => $combo, workers => 40, conf =>
        fleet_zone("redis://127.0.0.1:$redis->{port}", 'lease=1min hold=10s fallback=reject', 2, 'AdmissionQueue 10 timeout=60s'));
    $httpd->allow_in_log(qr/ADM0105/, qr/ADM0133/, qr/ADM014[1236]/,
                         qr/AH00098: pid file .* overwritten/);
    return $httpd;
}

sub is_full {
    my ($httpd, $what) = @_;
    my @held = map { $httpd->ask("/cgi-bin/heavy?until=go$$") } 1, 2;
    $httpd->zone_becomes('db', $what, Active => 2);
    wait_for { 2 == grep { 1 } $httpd->live_programs_now } '... and programs run';
    return @held;
}

sub kill_all {
    my ($httpd, @others) = @_;

    $httpd->dies;
    kill KILL => @others;
    # Who is not gone yet has what was granted.
    wait_for { !grep { kill 0 => $_ } @others } '... and its programs';
    $httpd->finish;
}

for_each_combo(sub {
    my ($combo) = @_;

    $redis->command('FLUSHALL');
    my $httpd = httpd($combo)->start;
    wait_for { $httpd->zone('db')->{FleetServers} == 1 } 'a server';
    AdmissionTest::Fleet::end_learning($redis);
    is_full($httpd, 'all permits are taken');
    kill_all($httpd, $httpd->live_programs_now);

    $httpd->start;
    my @held = is_full($httpd, 'killed and started: it has them back');
    is $httpd->zone('db')->{FleetServers}, 1, '... and the one before is forgotten';

    # Its programs live: theirs is not free.
    my @programs = $httpd->live_programs_now;
    $httpd->dies(@programs);
    $httpd->start;
    wait_for { $httpd->zone('db')->{FleetServers} == 2 } 'another server starts alongside';
    push @held, $httpd->ask('/cgi-bin/heavy');
    $httpd->zone_becomes('db', '... and has nothing', Active => 0, Queued => 1, FleetReserved => 2);
    like $httpd->slurp('error.log'), qr/ADM0150/, '... says the log';
    kill_all($httpd, @programs);

    # Somebody else's file, which came with an image of his disk.
    my $file = "$httpd->{dir}/run/admission.fleet";
    ok -s $file, 'there is a file';
    is +(stat $file)[2] & 07777, 0600, '... that is nobody else\'s';
    my $other = httpd($combo);
    File::Copy::copy($file, "$other->{dir}/run/admission.fleet") or die "$file: $!\n";
    chmod 0600, "$other->{dir}/run/admission.fleet";
    my $before = $redis->command(HLEN => 'adm:{db}');
    $other->start;
    wait_for { $redis->command(HLEN => 'adm:{db}') == $before + 1 } 'a copy of it says nothing';
    $other->stop;
}, 'event+cgid', 'prefork+cgi', 'worker+cgid');

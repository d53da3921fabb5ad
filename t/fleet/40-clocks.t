# The engine's clock jumps, forward and back, by seconds and by hours, under load: never
# more than the limit, and the load goes on.

use FindBin;
use AdmissionTest;
use AdmissionTest::Fleet;

use File::Temp ();
use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my $tmp = File::Temp->newdir('admission-clock-XXXXXX', TMPDIR => 1);
system($ENV{CC} // 'cc', '-O1', '-shared', '-fPIC', '-o', "$tmp/clock.so", "$FindBin::Bin/../programs/clock.c") == 0
    or plan skip_all => 'clock.c does not compile';

sub clock_is {
    my ($seconds) = @_;
    open my $file, '>', "$tmp/new" or die "$tmp/new: $!\n";
    print $file "$seconds\n";
    close $file or die "$tmp/new: $!\n";
    rename "$tmp/new", "$tmp/clock";
}

sub time_of { my ($redis) = @_; return 0 + $redis->command(EVAL => "return redis.call('TIME')[1]", 0) }

for_each_combo(sub {
    my ($combo) = @_;
    my ($lease, $hold) = (4, 2);

    clock_is(0);
    my $redis = do {
        local @ENV{qw(LD_PRELOAD ADMISSION_CLOCK)} = ("$tmp/clock.so", "$tmp/clock");
        Admission::Redis->start;
    };
    my $fleet = AdmissionTest::Fleet->start($combo, lease => $lease, hold => $hold, redis => $redis);
    my $at = 0;

    $fleet->is_leased;
    for my $jump (2, -2, 60, -60, 3600, -7200, 90000, -90000) {
        $fleet->load(5);
        $fleet->goes_on("the clock jumps by $jump s: there is a load");
        my $late = 0;
        $late += $_->status->{AdmissionEngineLate} for @{ $fleet->{httpds} };
        my $before = time_of($redis) - time;
        clock_is($at += $jump);
        cmp_ok abs(time_of($redis) - time - $before - $jump), '<', 2, '... it does';
        $fleet->goes_on('... the load goes on', 60);
        my $later = 0;
        $later += $_->status->{AdmissionEngineLate} for @{ $fleet->{httpds} };
        cmp_ok $later, '>', $late, '... the servers are told';
        $fleet->rest(within => 60);
    }
    # All the time, by a little and by much.
    $fleet->load(5);
    for my $n (1 .. 40) {
        clock_is($at += (0.4, -3, 7, -100, 96)[$n % 5] * ($n % 2 ? 1 : -1));
        sleep 0.25;
    }
    $fleet->goes_on('it jumps all the time: the load goes on', 60);
    cmp_ok $fleet->lines($_, qr/ADM0146/), '<=', 1 + (time - $^T) / 60, '... a line a minute' for 0 .. 2;
    $fleet->rest(within => 60);
    $fleet->stop;
}, 'event+cgid');

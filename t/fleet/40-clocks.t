# The engine's clock jumps, forward and back, by seconds and by hours, under load: never
# more than the limit, and the load goes on.

use AdmissionTest;
use AdmissionTest::Fleet;
use Admission::File qw(spill);
use Admission::Program qw(build_shared);

use File::Temp ();
use List::Util qw(sum);
use Time::HiRes qw(sleep time);

engine_or_skip('redis');

my $tmp = File::Temp->newdir('admission-clock-XXXXXX', TMPDIR => 1);

sub clock_is {
    my ($seconds) = @_;
    spill("$tmp/new", "$seconds\n");
    rename "$tmp/new", "$tmp/clock";
}

sub time_of { my ($redis) = @_; return 0 + $redis->command(EVAL => "return redis.call('TIME')[1]", 0) }

sub late { my ($fleet) = @_; return sum map { $_->status->{AdmissionEngineLate} } @{ $fleet->{httpds} } }

for_each_combo(sub {
    my ($lease, $hold) = (4, 2);

    clock_is(0);
    my $redis = do {
        local @ENV{qw(LD_PRELOAD FAULTS_DIR)} = (build_shared('faults'), "$tmp");
        Admission::Redis->start;
    };
    my $fleet = AdmissionTest::Fleet->start(lease => $lease, hold => $hold, redis => $redis);
    my $at = 0;

    for my $jump (2, -2, 60, -60, 3600, -7200, 90000, -90000) {
        my $late = late($fleet);
        $fleet->survives("the clock jumps by $jump s", sub {
            my $before = time_of($redis) - time;
            clock_is($at += $jump);
            cmp_ok abs(time_of($redis) - time - $before - $jump), '<', 2, '... it does';
        }, within => 60);
        cmp_ok late($fleet), '>', $late, '... the engine rejects syncs as late';
    }
    $fleet->survives('the clock jumps all the time, by a little and by much', sub {
        for my $n (1 .. 40) {
            clock_is($at += (0.4, -3, 7, -100, 96)[$n % 5] * ($n % 2 ? 1 : -1));
            sleep 0.25;
        }
    }, within => 60);
    cmp_ok $fleet->lines($_, qr/ADM0146/), '<=', 1 + (time - $^T) / 60, '... one line per minute' for 0 .. 2;
    $fleet->stop;
}, 'event+cgid');

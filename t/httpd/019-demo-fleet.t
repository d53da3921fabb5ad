# The demonstration of ./quickstart fleet, in short: it shows one limit over three servers,
# and leaves nothing behind.

use FindBin;
use AdmissionTest;
use Admission::Config;
use Admission::Redis;
use File::Temp ();
use List::Util qw(max sum0);

my ($build) = Admission::Config::admission_module() =~ m{^(.*)/\.libs/};
my $temp = File::Temp->newdir('admission-test-XXXXXX', TMPDIR => 1);

plan skip_all => 'no mod_admission_redis: it was built without hiredis'
    if !-e "$build/.libs/mod_admission_redis.so";
plan skip_all => 'no Redis: install redis-tools' if !Admission::Redis->program;
plan skip_all => 'the module stands alone' if !-e "$build/Makefile";
chmod 0755, "$temp";
my @demo = ($^X, "$FindBin::Bin/../../demo/fleet", $build);
local $ENV{TMPDIR} = "$temp";
# Four programs overlap, and each server gets its share, where it takes long to start one, too.
my $text = `@demo --seconds 3 --nap 400 </dev/null 2>&1`;
is $?, 0, 'it ends well' or diag $text;
my %row = map { /^  (\S.*?)  +(\d.*\d)$/ ? ($1 => [ split ' ', $2 ]) : () }
          (split /requests\/s.*\n/, $text)[-1] =~ /^.*$/mg;
my @most;
for my $load ('all three are busy', 'one alone is busy', 'Redis killed, data lost') {
    my ($web1, $web2, $web3, $rate, $most, $failures) = @{ $row{$load} // [] };

    cmp_ok $web1, '>', 0, "$load: web1 serves";
    cmp_ok sum0($web2, $web3), $load =~ /alone/ ? '==' : '>', 0, '... and the others, if they are busy';
    cmp_ok $most, '<=', 4, '... never more than four concurrent programs';
    is $failures, 0, '... and nothing fails';
    push @most, $most;
}
# How soon a share moves is the machine's matter, and 705's.
is max(@most), 4, 'four run concurrently';
is_deeply [ glob "$temp/*" ], [], 'nothing is left behind';

my $pid = start_program(@demo, '--seconds', 60);
wait_for { my @looks = glob "$temp/admission-fleet-*/heavy/looks" } 'a load is under way', 30;
my @pids = map { my $file = $_; open my $in, '<', $file or die "$file: $!\n"; <$in> =~ /(\d+)/ }
           glob "$temp/admission-redis-*/pid $temp/admission-fleet-*/run/httpd.pid";
is scalar @pids, 4, 'three servers and a Redis are there';
kill INT => $pid;
waitpid $pid, 0;
is_deeply [ glob "$temp/*" ], [], 'nor when it is interrupted';
is scalar(grep { kill 0 => $_ } @pids), 0, '... no server and no Redis either';

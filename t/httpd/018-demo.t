# The demonstrations of ./quickstart, in short: each shows what it claims, and leaves nothing
# behind.

use FindBin;
use AdmissionTest;
use File::Temp ();
use List::Util qw(max sum0);

my ($build) = Admission::Config::admission_module() =~ m{^(.*)/\.libs/};
my $demo = "$FindBin::Bin/../../demo";
my $temp = File::Temp->newdir('admission-test-XXXXXX', TMPDIR => 1);

plan skip_all => 'the module stands alone' if !-e "$build/Makefile";
chmod 0755, "$temp";
local $ENV{TMPDIR} = "$temp";

sub leaves_nothing { my ($what) = @_; return is_deeply [ glob "$temp/*" ], [], "$what leaves no file behind" }

subtest 'one server' => sub {
    my @run = ($^X, "$demo/run", '--computing', $build);
    my $text = `@run --requests 40 </dev/null 2>&1`;
    is $?, 0, 'it succeeds' or diag $text;
    like $text, qr{\A\s*http://127\.0\.0\.1:\d+/admission\s}, 'the live page comes first';
    my %row = map { /^  (\S.*?)  +(\S.*?)  +(\S.*)$/ ? ($1 => [ $2, $3 ]) : () } split /\n/, $text;
    # Where each program waits for the processor, few run at once; and a lease can lapse.
    cmp_ok $row{'most live programs'}[0], '>', is_machine_busy() ? 0 : 4, 'without a limit more than four programs run';
    cmp_ok $row{'most live programs'}[1], '<=', 4, 'with a limit four at most';
    is_deeply $row{'failed / never answered'}, [ '0 / 0', '0 / 0' ], 'every request gets its response';
    for my $of (qw(heavy static)) {
        like $row{"$of, p50 / p99 / max ms"}[$_], qr{^\d+ / [1-9]\d* / [1-9]\d*$},
            "$of requests are timed" for 0, 1;
    }
    unlike $text, qr/^(?:not )?ok /m, 'its output is not that of a test';
    leaves_nothing('it');

    # While a burst is under way, while httpd starts, and twice.
    for (['heavy/looks', 130, 'INT'], ['httpd.conf', 143, 'TERM'], ['heavy/looks', 129, 'HUP', 'HUP']) {
        my ($file, $status, @signals) = @$_;
        my $pid = start_program(@run, '--requests', 4000);
        wait_for { my @files = glob "$temp/admission-demo-*/$file" } "$file is there", 300;
        kill $_ => $pid for @signals;
        waitpid $pid, 0;
        is $? >> 8, $status, "SIG$signals[0]: the exit status tells the signal";
        leaves_nothing("SIG$signals[0]: it");
    }
};

subtest 'three servers' => sub {
    engine_or_skip('redis');
    my @run = ($^X, "$demo/fleet", $build);
    # Four programs overlap, and each server gets its share, where it takes long to start one, too.
    my $text = `@run --seconds 3 --nap 1000 </dev/null 2>&1`;
    is $?, 0, 'it succeeds' or diag $text;
    my %row = map { /^  (\S.*?)  +(\d.*\d)$/ ? ($1 => [ split ' ', $2 ]) : () }
              (split /requests\/s.*\n/, $text)[-1] =~ /^.*$/mg;
    my @most;
    for my $load ('all three are busy', 'one alone is busy', 'Redis killed, data lost') {
        my ($web1, $web2, $web3, $rate, $most, $failures) = @{ $row{$load} // [] };

        cmp_ok $web1, '>', 0, "$load: web1 serves";
        cmp_ok sum0($web2, $web3), $load =~ /alone/ ? '==' : '>', 0, '... and the others, if they are busy';
        cmp_ok $most, '<=', 4, '... never more than four concurrent programs';
        is $failures, 0, '... and nothing fails' if !is_machine_busy();
        push @most, $most;
    }
    # How soon a share moves is the matter of the machine, and of 705.
    is max(@most), 4, 'four programs run concurrently' if !is_machine_busy();
    leaves_nothing('it');

    my $pid = start_program(@run, '--seconds', 60);
    wait_for { my @looks = glob "$temp/admission-fleet-*/heavy/looks" } 'a load is under way', 300;
    my @pids = map { Admission::File::slurp($_) =~ /(\d+)/ }
               glob "$temp/admission-redis-*/pid $temp/admission-fleet-*/run/httpd.pid";
    is scalar @pids, 4, 'three servers and a Redis are there';
    kill INT => $pid;
    waitpid $pid, 0;
    leaves_nothing('SIGINT: it');
    is scalar(grep { kill 0 => $_ } @pids), 0, '... and neither a server nor Redis';
};

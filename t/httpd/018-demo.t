# The demonstration of ./quickstart, in short: it shows what it claims, and leaves
# nothing behind.

use FindBin;
use AdmissionTest;
use Admission::Config;
use File::Temp ();

my ($build) = Admission::Config::admission_module() =~ m{^(.*)/\.libs/};
my $temp = File::Temp->newdir('admission-test-XXXXXX', TMPDIR => 1);

plan skip_all => 'the module stands alone' if !-e "$build/Makefile";
chmod 0755, "$temp";
my @demo = ($^X, "$FindBin::Bin/../../demo/run", '--computing', $build);
local $ENV{TMPDIR} = "$temp";
my $text = `@demo --requests 40 </dev/null 2>&1`;
is $?, 0, 'it ends well' or diag $text;
like $text, qr{\A\s*http://127\.0\.0\.1:\d+/admission\s}, 'the live page comes first';
my %row = map { /^  (\S.*?)  +(\S.*?)  +(\S.*)$/ ? ($1 => [ $2, $3 ]) : () } split /\n/, $text;
cmp_ok $row{'most live programs'}[0], '>', 4, 'more than four live without a limit';
cmp_ok $row{'most live programs'}[1], '<=', 4, 'four at most with one';
is_deeply $row{'failed / never answered'}, [ '0 / 0', '0 / 0' ], 'nothing fails, and all are answered';
for my $of (qw(heavy static)) {
    like $row{"$of, p50 / p99 / max ms"}[$_], qr{^\d+ / [1-9]\d* / [1-9]\d*$},
        "$of requests are timed" for 0, 1;
}
unlike $text, qr/^(?:not )?ok /m, 'it is no test';
is_deeply [ glob "$temp/*" ], [], 'nothing is left behind';

# While a burst is under way, while httpd starts, and twice.
for (['heavy/looks', 130, 'INT'], ['httpd.conf', 143, 'TERM'], ['heavy/looks', 129, 'HUP', 'HUP']) {
    my ($file, $status, @signals) = @$_;
    my $pid = start_program(@demo, '--requests', 4000);
    wait_for { my @files = glob "$temp/admission-demo-*/$file" } "$file is there";
    kill $_ => $pid for @signals;
    waitpid $pid, 0;
    is $? >> 8, $status, "one that is ended by SIG$signals[0] says so";
    is_deeply [ glob "$temp/*" ], [], '... and leaves nothing behind';
}

# The runner of `make check` fails where a test fails, and with STRICT=1 where one is
# skipped that .ci/allowed-skips does not list, also inside a subtest.

use Admission::File qw(spill);
use File::Copy 'copy';
use File::Path 'make_path';
use File::Temp ();
use Project;

my $tree = File::Temp->newdir;
my %text = (
    't/httpd/1-passes.t'  => 'pass',
    't/httpd/2-fails.t'   => 'ok 0',
    't/httpd/3-whole.t'   => 'plan skip_all => "no moon: install it"',
    't/httpd/4-subtest.t' => 'subtest night => sub { plan skip_all => "no moon" }; subtest day => sub { SKIP: { skip "no sun", 1 } pass }',
    't/httpd/5-case.t'    => 'SKIP: { skip "no star", 1 } pass "# skipping is no skip"',
    '.ci/allowed-skips'   => "# test | reason | why\nt/httpd/3-whole.t | no moon | it is day\nt/httpd/4-subtest.t | no moon | it is day\n",
);

make_path(map { "$tree/$_" } qw(t/httpd .ci));
spill("$tree/$_", /\.t\z/ ? "use Test::More; $text{$_}; done_testing;\n" : $text{$_}) for keys %text;
copy(path('t/prove'), "$tree/t/prove") or die "t/prove: $!\n";

sub ran {
    my ($strict, @tests) = @_;
    local $ENV{STRICT} = $strict;
    my $output = `cd $tree && $^X t/prove @{[ map { "t/httpd/$_" } @tests ]} 2>&1`;
    return ($? >> 8, $output);
}

my ($status, $output) = ran('', '1-*');
is $status, 0, 'what passes is a success';
like $output, qr/^1 passed, 0 failed, 0 skipped$/m, '... and counted';
($status, $output) = ran('', '1-*', '2-*');
is $status, 1, 'what fails is none';
like $output, qr{^failed: t/httpd/2-fails\.t$}m, '... and named';

($status, $output) = ran('', '1-*', '3-*', '4-*', '5-*');
is $status, 0, 'skipped tests do not fail';
is_deeply [ $output =~ /^skipped: (.*)/mg ],
    [ map { "t/httpd/$_" } '3-whole.t: no moon: install it', '4-subtest.t: no moon', '4-subtest.t: no sun', '5-case.t: no star' ],
    '... and each reason is listed once';
($status, $output) = ran(1, '1-*', '3-*');
is $status, 0, 'STRICT=1 permits what is listed' or diag $output;
($status, $output) = ran(1, '1-*', '4-*', '5-*');
is $status, 1, '... and nothing else';
is_deeply [ $output =~ /^STRICT forbids to skip: (.*)/mg ],
    [ 't/httpd/4-subtest.t: no sun', 't/httpd/5-case.t: no star' ], '... by name';

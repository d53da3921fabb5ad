# What a developer relies on in the library: a program that is not a test has the same httpds,
# and ends where a test would fail; httpd ends with the program that started it; KEEP=1, PREFIX
# and GDB=1 help to examine a test that fails.

use FindBin;
use AdmissionTest;

use File::Path ();
use IPC::Open3 ();

combos('event+cgid') or plan skip_all => 'event+cgid is not asked for';

my $scratch = Admission::File::directory('admission-XXXXXX');
chmod 0755, $scratch;

# Starts Perl code that uses this library behind the start of an httpd. @return its output, and its PID
sub started {
    my ($library, $code, %environment) = @_;
    local @ENV{ keys %environment } = values %environment;
    my $pid = IPC::Open3::open3(my $in, my $out, undef, 'setsid', $^X, "-I$FindBin::Bin/../lib", "-M$library", '-e',
        "\$| = 1; my \$httpd = start_httpd(combo => (combos('event+cgid'))[0]); print \"# \$httpd->{dir} \$httpd->{pid}\\n\"; $code");
    return ($out, $pid);
}

# @return its exit status, its output, httpd's directory and PID
sub finished {
    my ($out, $pid) = started(@_);
    my $output = join '', readline $out;
    waitpid $pid, 0;
    my $status = $?;
    my ($dir, $httpd) = $output =~ m{^# (/\S+) (\d+)$}m;
    return ($status, $output, $dir // '', $httpd);
}

sub finished_test { my ($code, %environment) = @_; return finished('AdmissionTest', "$code; done_testing", %environment) }

my ($status, $output) = finished('Admission', q($httpd->must(1, 'the sky is blue'); $httpd->stop));
is $status, 0, 'a program whose conditions are true succeeds';
like $output, qr/\A# \S+ \d+\n\z/, '... without any output about them';

($status, $output) = finished('Admission', q($httpd->must(0, 'the sky is green', 'but blue'); print 'on'));
isnt $status, 0, 'a program with a false condition fails';
like $output, qr/^not so: the sky is green\nbut blue$/m, '... with a message';
unlike $output, qr/^(?:on$|(?:not )?ok )/m, '... immediately, and without output of a test';

(undef, undef, my $dir, my $pid) = finished('Admission', 'kill KILL => $$');
wait_for { !kill 0 => $pid } 'httpd ends with a killed program';
wait_for { !-e $dir } '... and its directory is removed';

for (['passes' => 'pass "fine"; $httpd->stop', 0], ['fails' => 'fail "bad"; $httpd->stop', 1],
     ['fails in a subtest' => 'subtest bad => sub { fail "bad" }; $httpd->stop', 1],
     ['does not stop its httpd' => 'pass "fine"', 1]) {
    my ($name, $code, $is_kept) = @$_;
    (undef, $output, $dir) = finished_test($code, KEEP => 1);
    is -e "$dir/error.log", $is_kept || undef, "KEEP=1: the directory of a test that $name" or diag $output;
    is scalar(() = $output =~ /^# kept: \Q$dir\E$/mg), $is_kept, '... is printed if it is retained';
    File::Path::remove_tree($dir);
    (undef, undef, $dir) = finished_test($code, KEEP => '');
    ok !-e $dir, '... and removed without KEEP';
}

(undef, undef, $dir) = finished_test('kill KILL => $$', KEEP => 1);
wait_for { !grep { (readlink("$_/cwd") // '') =~ /^\Q$dir\E/ } glob '/proc/[0-9]*' } 'httpd ends with a killed test';
ok -e "$dir/error.log", '... and KEEP=1 retains its directory';
File::Path::remove_tree($dir);

# A program that stays the parent of httpd, as rr does.
Admission::File::spill("$scratch/prefix", qq(#!/bin/sh\necho "\$0 \$*" >>$scratch/started\nshift\n"\$@"\nexit \$?\n));
chmod 0755, "$scratch/prefix";
(undef, $output) = finished_test('ok scalar $httpd->children, "children"; $httpd->graceful; $httpd->stop',
                                 PREFIX => "$scratch/prefix with");
like $output, qr/^1\.\.\d+$/m, 'PREFIX: a test runs' or diag $output;
unlike $output, qr/^\s*not ok/m, '... and passes';
like Admission::File::slurp("$scratch/started"), qr/^\S+ with \S+ -d \S+ -f httpd.conf/m, '... with httpd behind the prefix';

SKIP: {
    skip 'no gdb: install gdb', 2 if !grep { -x "$_/gdb" } split /:/, $ENV{PATH};
    skip 'only root may look into another process', 2 if $> != 0;
    my ($out, $test) = started('AdmissionTest', 'pass "on"; $httpd->stop; done_testing', GDB => 1);
    my @commands;
    while (defined(my $line = readline $out)) {
        push @commands, $1 if $line =~ /^#   (gdb -x \S+ -p \d+) /;
        last if @commands == 2;
    }
    is scalar @commands, 2, 'GDB=1: the test prints how to attach a debugger, and waits';
    # What a developer types there.
    system "$commands[1] -nx -batch -ex 'shell sleep 0.3' >/dev/null 2>&1";
    my $rest = join '', readline $out;
    waitpid $test, 0;
    like $rest, qr/^ok \d+ - on$/m, '... and continues when one was attached';
}

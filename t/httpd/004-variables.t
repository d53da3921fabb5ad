# KEEP=1, PREFIX and GDB=1: what a developer sets to look into a test that fails.

use FindBin;
use AdmissionTest;

use File::Path ();
use IPC::Open3 ();

combos('event+cgid') or plan skip_all => 'event+cgid is not asked for';

my $scratch = Admission::File::directory('admission-XXXXXX');
chmod 0755, $scratch;

# Starts a test in a program of its own. @return its output, and its pid
sub started {
    my ($code, %environment) = @_;
    local @ENV{ keys %environment } = values %environment;
    my $pid = IPC::Open3::open3(my $in, my $out, undef, 'setsid', $^X, "-I$FindBin::Bin/../lib", '-MAdmissionTest', '-e',
        "\$| = 1; my \$httpd = start_httpd(combo => (combos('event+cgid'))[0]); print \"# \$httpd->{dir} \$httpd->{pid}\\n\"; $code; done_testing");
    return ($out, $pid);
}

# @return its directory, and all that it said
sub finished {
    my ($out, $pid) = started(@_);
    my $said = join '', readline $out;
    waitpid $pid, 0;
    my ($dir) = $said =~ m{^# (/\S+) \d+$}m;
    return ($dir // '', $said);
}

for my $case (['passes' => 'pass "fine"; $httpd->stop', 0], ['fails' => 'fail "bad"; $httpd->stop', 1],
              ['fails in a subtest' => 'subtest bad => sub { fail "bad" }; $httpd->stop', 1],
              ['does not stop its httpd' => 'pass "fine"', 1]) {
    my ($name, $code, $is_kept) = @$case;
    my ($dir, $said) = finished($code, KEEP => 1);
    is -e "$dir/error.log", $is_kept || undef, "KEEP=1: a test that $name" or diag $said;
    is scalar(() = $said =~ /^# kept: \Q$dir\E$/mg), $is_kept, '... and prints where';
    ($dir) = $said =~ m{^# (/\S+) \d+$}m;
    File::Path::remove_tree($dir);
    ($dir, $said) = finished($code, KEEP => '');
    ok !-e $dir, '... and nothing stays without KEEP';
}

my ($dir) = finished('kill KILL => $$', KEEP => 1);
wait_for { !grep { (readlink("$_/cwd") // '') =~ /^\Q$dir\E/ } glob '/proc/[0-9]*' } 'httpd ends with a killed test';
ok -e "$dir/error.log", '... and KEEP=1 leaves its directory';
File::Path::remove_tree($dir);

# A program that stays the parent of httpd, as rr does.
Admission::File::spill("$scratch/prefix", qq(#!/bin/sh\necho "\$0 \$*" >>$scratch/started\nshift\n"\$@"\nexit \$?\n));
chmod 0755, "$scratch/prefix";
my (undef, $said) = finished('ok scalar $httpd->children, "children"; $httpd->graceful; $httpd->stop',
                             PREFIX => "$scratch/prefix with");
like $said, qr/^1\.\.\d+$/m, 'PREFIX: a test runs' or diag $said;
unlike $said, qr/^\s*not ok/m, '... and passes';
like Admission::File::slurp("$scratch/started"), qr/^\S+ with \S+ -d \S+ -f httpd.conf/m, '... with httpd behind the prefix';

SKIP: {
    skip 'no gdb: install gdb', 2 if !grep { -x "$_/gdb" } split /:/, $ENV{PATH};
    skip 'only root may look into another process', 2 if $> != 0;
    my ($out, $pid) = started('pass "on"; $httpd->stop', GDB => 1);
    my @commands;
    while (defined(my $line = readline $out)) {
        push @commands, $1 if $line =~ /^#   (gdb -x \S+ -p \d+) /;
        last if @commands == 2;
    }
    is scalar @commands, 2, 'GDB=1: the test prints how to attach a debugger, and waits';
    # What a developer types there.
    system "$commands[1] -nx -batch -ex 'shell sleep 0.3' >/dev/null 2>&1";
    my $rest = join '', readline $out;
    waitpid $pid, 0;
    like $rest, qr/^ok \d+ - on$/m, '... and goes on when one was attached';
}

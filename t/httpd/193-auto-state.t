# AdmissionStateFile: what a limit has found is there again after stop and start; a file with
# anything in it, or none, or that cannot be used, does not prevent a start. t/unit/test_agent_state
# and test_private_file have the lines and the files that are refused.

use AdmissionTest;
use Admission::Load;

my ($combo) = combos('event+cgid', 'prefork+cgi') or plan skip_all => 'no combination';
my $ZONE = 'test.example:/cgi-bin/';

# FNV-1a, as the module checks its lines.
sub line_of($fields) {
    use integer;
    no warnings 'portable';
    my $check = 0xcbf29ce484222325;
    $check = ($check ^ ord) * 0x100000001b3 for split //, $fields;
    return sprintf "zone %016x %s\n", $check, $fields;
}

my ($memory) = AdmissionTest::Httpd->slurp('/proc/meminfo') =~ /^MemTotal:\s+(\d+)/m;
my $cores = () = AdmissionTest::Httpd->slurp('/proc/stat') =~ /^cpu\d/mg;

# Nothing runs: what it starts with is at most the number of CPUs.
sub starts_with($limit, $what, $make_file, @log) {
    my $httpd = new_httpd(combo => $combo, conf => "AdmissionStateFile state\n"
        . location('/cgi-bin/', 'MaxConcurrent auto 1 9', 'AdmissionQueue 10'))->alone;

    $make_file->($httpd->{dir});
    $httpd->expect_in_log(@log)->start;
    $httpd->zone_becomes('/cgi-bin/', "$what: it starts with $limit", Limit => $limit);
    return $httpd;
}

sub with($text) {
    return sub {
        Admission::File::spill("$_[0]/state", $text);
        chmod 0600, "$_[0]/state";
    };
}

# In a control group with a limit the machine is as large as that.
sub is_limited {
    for my $path (AdmissionTest::Httpd->slurp('/proc/self/cgroup')
                  =~ /^\d+:(?:memory)?:(.*)$/mg) {
        for my $top ('/sys/fs/cgroup', '/sys/fs/cgroup/memory') {
            for (my $group = $path; ; $group =~ s{/[^/]*\z}{}) {
                return 1 if grep { /^\d+$/ && $_ / 1024 < $memory }
                            map { -e ? AdmissionTest::Httpd->slurp($_) : () }
                            map { "$top$group/memory.$_" } qw(max high limit_in_bytes);
                last if $group !~ m{/.};
            }
        }
    }
    return 0;
}

SKIP: {
    skip 'a control group limits the memory', 1 if is_limited();
    skip 'one processor', 1 if $cores < 2;
    starts_with(2, 'a good file',
                with(line_of(join ' ', 2, 0, 0, time, $memory, $cores, $ZONE)))->stop;
}
starts_with(1, 'garbage', with("garbage\n" x 1000))->stop;
starts_with(1, 'a link', sub { symlink '/etc/passwd', "$_[0]/state" },
            qr/admission:warn.*ADM0138: AdmissionStateFile \S+state cannot be used/)->stop;

# Only the agent has it open. What it writes is there for the next start.
my $httpd = starts_with(1, 'no file', sub { });
my @with;
wait_for { @with = grep { my $pid = $_; grep { (readlink // '') eq "$httpd->{dir}/state" } glob "/proc/$pid/fd/*" }
                   $httpd->processes; @with == 1 } 'one process has the file open' or diag "@with";
is_deeply \@with, [ $httpd->agents ], '... the agent';
is sprintf('%o', (stat "$httpd->{dir}/state")[2] & 07777), 600, '... which only its user can read and write';
SKIP: {
    skip 'a control group limits the memory', 2 if is_limited();
    skip 'one processor', 2 if $cores < 2;
    $httpd->graceful($httpd->{conf} =~ s/auto 1 9/auto 1 2/r);
    my $busy = Admission::Load->start($httpd->{port}, 0, 8, 600, '/cgi-bin/heavy?ms=200');
    wait_for { $httpd->slurp('state') =~ /^zone \w+ 2 .* \Q$ZONE\E$/m } 'a limit that was found is written';
    $busy->leave;
    $httpd->comes_to_rest->stop;
    $httpd->start->zone_becomes('/cgi-bin/', '... the next start begins with it', Limit => 2);
}
$httpd->stop;

# AdmissionStateFile: what a limit has found is there again after stop and start;
# a file with anything in it, or none, keeps nobody from starting.

use AdmissionTest;

my ($combo) = combos('event+cgid', 'prefork+cgi') or plan skip_all => 'no combination';
my $ZONE = 'test.example:/cgi-bin/';
my $conf = "LogLevel admission:info\n<Location /cgi-bin/>\nMaxConcurrent auto 1 9\n</Location>\n";

# FNV-1a, as the module checks its lines.
sub line_of {
    my ($fields) = @_;
    use integer;
    no warnings 'portable';
    my $check = 0xcbf29ce484222325;
    $check = ($check ^ ord) * 0x100000001b3 for split //, $fields;
    return sprintf "zone %016x %s\n", $check, $fields;
}

my ($memory) = AdmissionTest::Httpd->slurp('/proc/meminfo') =~ /^MemTotal:\s+(\d+)/m;
my $cores = () = AdmissionTest::Httpd->slurp('/proc/stat') =~ /^cpu\d/mg;

sub begins_with {
    my ($text, $limits, $what) = @_;
    my $httpd = new_httpd(combo => $combo, workers => 20);

    $httpd->configure("AdmissionStateFile state\n$conf");
    $httpd->put('../state', $text) if defined $text;
    chmod 0600, "$httpd->{dir}/state";
    $httpd->start;
    # Nothing runs: what it begins with is at most the number of processors.
    my $limit;
    wait_for { $limit = $httpd->zone('/cgi-bin/')->{Limit};
               grep { $limit == $_ } @$limits } "$what: it begins with @$limits" or diag $limit;
    $httpd->stop;
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
    begins_with(line_of(join ' ', 2, 0, 0, time, $memory, $cores, $ZONE), [2], 'a good file');
}
begins_with(undef, [1], 'no file');
begins_with("garbage\n" x 1000, [1], 'garbage');
begins_with(line_of("7 0 0 1 $memory $cores $ZONE"), [1], 'a file of 1970');
begins_with(line_of(join ' ', 7, 0, 0, time, $memory / 2, $cores, $ZONE), [1],
            'a file of another machine');

# Where it cannot be: httpd starts, and says so.
for (['a directory', sub { mkdir "$_[0]/state" }],
     ['a link', sub { symlink '/etc/passwd', "$_[0]/state" }],
     ['a file with another name', sub { link "$_[0]/admission.conf", "$_[0]/state" }]) {
    my ($what, $make) = @$_;
    my $httpd = new_httpd(combo => $combo);

    $httpd->configure("AdmissionStateFile state\n$conf");
    $make->($httpd->{dir});
    $httpd->start;
    $httpd->expect_in_log(qr/admission:warn.*ADM0138: AdmissionStateFile \S+state cannot be used/);
    is $httpd->zone('/cgi-bin/')->{Limit}, 1, "$what: httpd starts";
    $httpd->stop;
}

# Only the agent has it open.
my $httpd = start_httpd(combo => $combo, conf => "AdmissionStateFile state\n$conf");
my @with;
wait_for { @with = grep { my $pid = $_; grep { (readlink // '') eq "$httpd->{dir}/state" } glob "/proc/$pid/fd/*" }
                   $httpd->processes; @with == 1 } 'one process has the file open' or diag "@with";
is_deeply \@with, [ $httpd->agents ], '... the agent';
$httpd->stop;

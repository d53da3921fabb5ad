# Programs that httpd's children may not look at: other users' (suEXEC), and where
# /proc hides them (hidepid=2). Their permits come back when they have ended, not
# earlier and not later.

use AdmissionTest;
use AdmissionTest::Descriptors;
use Admission::Crowd;
use File::Temp ();
use Time::HiRes qw(time);

my ($limit, $zone) = (2, '/users/');

# ---- what is there -------------------------------------------------------------

my $suexec = do {
    my ($path) = `@{[ Admission::Config::httpd() ]} -V 2>&1` =~ /SUEXEC_BIN="(.*?)"/;
    $path if $> == 0 && $path && -u $path && Admission::Config::is_installed('suexec');
};

# What suexec was built with: where programs may be, and where its log is.
my %built = $suexec ? `$suexec -V 2>&1` =~ /-D (\w+)="(.*?)"/g : ();
my ($docroot, $log) = @built{qw(AP_DOC_ROOT AP_LOG_EXEC)};
my $has_suexec = defined $docroot && defined $log;

# The directory comes with a package that starts httpd as a service.
my $made_by = $has_suexec && mkdir($docroot) ? $$ : 0;

END { rmdir $docroot if $made_by == $$ }

# A mount with hidepid is one for itself since Linux 5.8; before, it would hide
# processes of the whole machine.
my $is_mount_private = do {
    my ($major, $minor) = `uname -r` =~ /^(\d+)\.(\d+)/;
    $> == 0 && ($major > 5 || ($major == 5 && $minor >= 8))
        && system("unshare -m mount -t proc -o hidepid=2 proc /proc >/dev/null 2>&1") == 0;
};

# Httpd starts where suexec can write its log, and where programs of others are hidden.
sub behind($is_suexec, $is_hidden) {
    my ($log_dir, $above) = ($log // '') =~ m{^((.*)/[^/]*)/};
    my @mounts;

    # Not over httpd itself, where its logs are below its own prefix.
    push @mounts, -d $log_dir ? "mount -t tmpfs tmpfs $log_dir"
        : "mount -t tmpfs tmpfs $above && mkdir $log_dir" if $is_suexec;
    push @mounts, 'mount -t proc -o hidepid=2 proc /proc' if $is_hidden;
    return "exec unshare -m sh -c '" . join(' && ', @mounts, 'exec "$@"') . "' sh";
}

my $redis = Admission::Config::engine_module();

# ---- one server ------------------------------------------------------------------

# The program of /users/, as a script of another user: it has the command line of
# the server's own program.
sub start_hidden($combo, $is_suexec, $is_hidden) {
    my $queue = $combo->{mpm} eq 'prefork' ? 40 : 200; # of 60 workers
    my $conf = "LogLevel admission:trace1\n"
        . location($zone, "MaxConcurrent $limit", "AdmissionQueue $queue timeout=30s");
    my $httpd = new_httpd(workers => 60, modules => $is_suexec ? ['suexec'] : []);
    my $users = "$httpd->{dir}/cgi";

    if ($is_suexec) {
        $httpd->{users} = File::Temp->newdir('admission-XXXXXX', DIR => $docroot);
        $users = "$httpd->{users}";
        open my $script, '>', "$users/heavy" or die "$users: $!\n";
        print $script "#!$httpd->{dir}/cgi/heavy\n";
        close $script;
        chmod 0755, $users, "$users/heavy";
        chown 65534, 65534, $users, "$users/heavy";
        $conf .= qq(SuexecUserGroup "#65534" "#65534"\n);
        AdmissionTest::Descriptors::install("$users/descriptors", 65534);
        $conf .= "LoadModule admission_redis_module $redis\nAdmissionEngine redis://127.0.0.1:1\n"
            . "AdmissionFleet lease=3s hold=1s fallback=open\n"
            . location("${zone}descriptors", 'MaxConcurrent 2', 'AdmissionZone db fleet', 'AdmissionQueue 10')
            if -e $redis;
    }
    $httpd->configure("ScriptAlias $zone $users/\n" . section("Directory $users", 'Require all granted') . $conf);
    return $httpd->behind(behind($is_suexec, $is_hidden))
        ->allow_in_log(qr/\[cgid?:(?:error|warn)\]/, qr/AH00052: /, qr/ADM014[12]/)->start;
}

# ---- stories ---------------------------------------------------------------------

sub comes_back_at_the_end($httpd) {
    my $beside = $httpd->ask("${zone}heavy?early=1&ms=60000");

    wait_for { $beside->has_begun } 'a program runs at the same time';
    my @answers = map { $httpd->get("${zone}heavy?ms=5") } 1 .. 20;
    is_deeply statuses(@answers), { 200 => 20 }, '20 others run one after the other';
    # A program that needs more than a moment to end after its output: on a busy machine.
    cmp_ok scalar(grep { /the permit is kept/ } $httpd->error_log), '<', 10,
        'most permits are released with the response';
    is scalar(grep { $_->{body} =~ /ADMISSION_TICKET/ } @answers), 0, 'no program saw its token';
    return $beside;
}

sub outlives_its_child($httpd, $program) {
    kill KILL => $httpd->children;
    $httpd->zone_becomes($zone, 'its child dies, it keeps its permit', Orphans => 1);
    my @next = map { $httpd->ask("${zone}heavy?ms=50") } 1 .. 2;
    is_deeply statuses(answers(@next)), { 200 => 2 }, 'other requests run concurrently';
    is $httpd->zone($zone)->{Active}, 1, 'it has the permit still';
    kill KILL => $program;
    # Its parent may be a process that takes its time to reap it.
    wait_for { $httpd->slurp("/proc/$program/stat") !~ /\) [^ZX]/ } 'the program ends';
    my $ended = time;
    $httpd->zone_becomes($zone, 'its permit is back', Active => 0, Queued => 0);
    cmp_ok time - $ended, '<', 2, 'within two seconds' if !is_machine_busy();
}

# Of a server that shares a limit with others.
sub inherits_no_writable_descriptor($httpd) {
    my $descriptors = $httpd->get("${zone}descriptors")->{body};

    like $descriptors, qr{^\d+ r \Q$httpd->{dir}\E/run/admission.fleet.alive$}m,
        'it can tell that the server lives, and only read that';
    unlike $descriptors, qr/^\d+ (?!r \S+$).*admission/m, '... and has nothing else of the module';
}

sub storm($httpd) {
    my $watch = $httpd->watch;
    my $crowd = crowd_at($httpd, clients => 20, patience => 0.3,
                         paths => ["${zone}heavy?ignore=1&stream=1000&ms=800"]);

    wait_for { $httpd->zone($zone)->{Gone} > 20 } 'clients leave';
    cmp_ok $crowd->go_home->{left}, '>', 20, '... as they count it, too';
    wait_for { !$httpd->live_programs_now } 'the last programs end';
    $httpd->zone_becomes($zone, 'all permits are back', Active => 0, Queued => 0);
    cmp_ok $watch->most, is_machine_busy() ? '<=' : '==', $limit, "there were never more than $limit programs";
}

for my $case ([ 'suEXEC', 1, 0 ], [ 'suEXEC and hidepid', 1, 1 ], [ 'hidepid', 0, 1 ]) {
    my ($what, $is_suexec, $is_hidden) = @$case;

    for_each_combo(sub ($combo) {

        plan skip_all => "$what: needs root, a mount of its own and Linux 5.8"
            if !$is_mount_private;
        plan skip_all => "$what: needs suexec, set-uid root" if $is_suexec && !$has_suexec;
        my $httpd = start_hidden($combo, $is_suexec, $is_hidden);
        my $beside = comes_back_at_the_end($httpd);
        my ($program) = $httpd->live_programs_now;

        is +(stat "/proc/$program")[4], 65534, "$what: it is another user's" if $is_suexec;
        inherits_no_writable_descriptor($httpd) if $is_suexec && !$is_hidden && -e $redis;
        outlives_its_child($httpd, $program);
        storm($httpd);
        $httpd->stop;
    }, 'event+cgid', $is_suexec && $is_hidden ? 'prefork+cgi' : ());
}

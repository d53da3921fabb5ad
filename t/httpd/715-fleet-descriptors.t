# What a program inherits: nothing that it can write to, and of the module only the sign of
# life of a server that shares limits. Unlocking it has no effect, keeping it delays one
# successor, and no process but the parent and the agent can write the server's id.

use AdmissionTest;
use AdmissionTest::Descriptors;

use Errno ();
use Fcntl qw(O_NONBLOCK O_WRONLY);

my $module = engine_or_skip();

sub conf {
    my ($httpd) = @_;
    return <<"CONF"
LoadModule admission_redis_module $module
AdmissionEngine redis://127.0.0.1:1
AdmissionFleet lease=3s hold=1s fallback=open
AdmissionStateFile state
AdmissionSpool response=64M
ScriptAlias /programs/ $httpd->{dir}/docs/
ScriptAlias /free/ $httpd->{dir}/docs/
CONF
        . location('/programs/', 'MaxConcurrent 4', 'AdmissionZone db fleet', 'AdmissionQueue 10 timeout=60s')
        . location('/cgi-bin/', 'MaxConcurrent auto 1 9');
}

# { descriptor's file => how it is open } of processes.
sub open_files {
    my ($httpd, @pids) = @_;
    my %how;

    for my $fd (map { glob "/proc/$_/fd/*" } @pids) {
        my $file = readlink $fd // next;
        $file =~ s{^\Q$httpd->{dir}\E/run/(admission\.\w+)}{$1} or next;
        my ($flags) = $httpd->slurp($fd =~ s/fd\b/fdinfo/r) =~ /^flags:\s+(\d+)/m;
        $how{$file}{ (qw(r w rw))[oct($flags) & 3] }++;
    }
    return \%how;
}

sub notices { my ($httpd) = @_; return scalar grep { /ADM0150/ } $httpd->error_log }

for_each_combo(sub {
    my $httpd = new_httpd(workers => 20);
    my $kept = "$httpd->{dir}/heavy/keeps";

    $httpd->configure(conf($httpd));
    $httpd->allow_in_log(qr/ADM0105/, qr/ADM0133/, qr/ADM014[12]/,
                         qr/AH00098: pid file .* overwritten/, qr/\[cgid?:error\]/);
    AdmissionTest::Descriptors::install("$httpd->{dir}/docs/fds.cgi");
    $httpd->start;
    wait_for { $httpd->zone('db')->{FleetState} eq 'fallback' } 'the first lease is over';
    ok -s "$httpd->{dir}/run/admission.fleet", 'there is an id';
    my $id = $httpd->slurp('run/admission.fleet');

    my $alive = "$httpd->{dir}/run/admission.fleet.alive";
    my $seen = $httpd->get('/programs/fds.cgi');
    is $seen->{status}, 200, 'a program runs';
    like $seen->{body}, qr/^\d+ r(?: reopened)? \Q$alive\E\n\z/, '... and inherits the sign of life, only to read';
    SKIP: {
        skip 'httpd and its programs are one user', 1 if $> != 0;
        unlike $seen->{body}, qr/reopened/, '... which it cannot open for writing';
    }
    unlike $httpd->get('/free/fds.cgi')->{body}, qr/admission|anon_inode|deleted/,
        'a program of no zone inherits nothing of the module';
    is $httpd->slurp('run/admission.fleet'), $id, 'the id is what it was';

    is_deeply [ sort keys %{ open_files($httpd, $httpd->children, $httpd->daemons) } ],
        ['admission.fleet.alive'], 'children and the daemon have the sign of life';
    is_deeply [ keys %{ open_files($httpd, $httpd->children, $httpd->daemons)->{'admission.fleet.alive'} } ],
        ['r'], '... to read';
    is_deeply open_files($httpd, $httpd->{pid}), { 'admission.fleet.alive' => { r => 1 } }, 'so has the parent';

    # It has unlocked all that it has.
    my $program = $httpd->ask("/programs/fds.cgi?$kept");
    my $pid;
    wait_for { ($pid) = map { /\.(\d+)\z/ } glob "$kept.*" } 'a program stays';
    $httpd->dies($pid);
    $httpd->start;
    is notices($httpd), 1, 'a server that starts alongside is informed';
    isnt $httpd->slurp('run/admission.fleet'), $id, '... and has an id of its own';
    $httpd->dies($pid);
    # Of a killed process with several threads, the last one closes the files.
    wait_for { !sysopen(my $fifo, $alive, O_WRONLY | O_NONBLOCK) && $!{ENXIO} }
        'no process has the second server\'s sign of life';
    $httpd->start;
    is notices($httpd), 1, 'the next one is not delayed: the program is none of its predecessor';
    unlink "$kept.$pid";
    wait_for { !kill 0 => $pid } 'the program ends';
    $httpd->expect_in_log(qr/ADM0150/);
}, 'prefork+cgi', 'prefork+cgid', 'worker+cgi', 'worker+cgid', 'event+cgi', 'event+cgid');

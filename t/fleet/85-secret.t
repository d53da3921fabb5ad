# The passwords of the engine and of Sentinels are in no process that runs code of others.

use AdmissionTest;
use AdmissionTest::Fleet;
use Admission::File qw(spill);
use Admission::Redis;

engine_or_skip('redis');

my $SECRET = 'of-the-engine-4711';
my $redis = Admission::Redis->start(conf => ["requirepass $SECRET"]);
my $file = "$redis->{dir}/password";
spill($file, "$SECRET\n");
chmod 0600, $file;

# How often it is in the memory of a process.
sub found_in {
    my ($pid) = @_;
    my $found = 0;

    no warnings 'portable';    # addresses have 64 bits
    open my $maps, '<', "/proc/$pid/maps" or return -1;
    open my $memory, '<:raw', "/proc/$pid/mem" or return -1;
    while (<$maps>) {
        my ($from, $to) = /^(\w+)-(\w+) r.*?(?<!\[vvar\])(?<!\[vsyscall\])$/ or next;
        my $length = hex($to) - hex($from);
        sysseek $memory, hex($from), 0 or next;
        sysread $memory, my $text, $length or next;
        $found++ while $text =~ /\Q$SECRET\E/g;
    }
    return $found;
}

for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(servers => 1,
                                            engine => "redis://127.0.0.1:$redis->{port} password-file=$file");
    my $httpd = $fleet->{httpds}[0];

    for my $when ('after the start', 'after a reload') {
        $fleet->is_leased($when);
        is $httpd->get('/cgi-bin/heavy')->{status}, 200, '... it serves';
        cmp_ok found_in($_), '>', 0, '... the agent has the password' for $httpd->agents;
        wait_for { my @children = $httpd->children; @children && !grep { found_in($_) > 0 } @children } '... no child', 10;
        $httpd->graceful if $when =~ /start/;
    }
    kill KILL => $httpd->agents;
    wait_for { 1 == $httpd->agents && $httpd->status->{AdmissionEngineConnects} > 2 } 'the next agent has it', 20;
    $fleet->is_leased('... and is with the engine');
    $httpd->allow_in_log(qr/ADM0133/);
    $fleet->stop;
}, 'event+cgid');

# What programs took that have ended: memory, processor time, room for more.

use AdmissionTest;

my $ZONE = 'test.example:/cgi-bin/';

for_each_combo(sub ($combo) {
    my $httpd = start_httpd(conf =>
        location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 3', 'AdmissionQueue 5 timeout=300s'));
    my $is_told = $combo->{name} =~ /\+cgi$/;    # mod_cgi waits for its programs itself
    is $httpd->zone('/cgi-bin/')->{ProgramsEnded}, 0, 'none has ended';
    unlike $httpd->get("/admission?zone=$ZONE")->{body}, qr/Programs took/, 'nothing is said of them';

    # Of mod_cgid's the agent sees those that run for a while.
    my @asked = map { $httpd->ask('/cgi-bin/heavy?mb=80&ms=1700') } 1 .. 2;
    push @asked, $httpd->ask('/cgi-bin/heavy?ms=1700');
    is_deeply statuses(answers(@asked)), { 200 => 3 }, 'three run';
    $httpd->zone_becomes('/cgi-bin/', 'all are known', ProgramsEnded => 3);
    my $status = $httpd->status;
    my $zone = $status->{zone}{$ZONE};

    cmp_ok $zone->{ProgramMemoryMaxKB}, '>=', 80 * 1024, 'the largest had 80 MB';
    cmp_ok $zone->{ProgramMemoryMaxKB}, '<', 160 * 1024, '... and not twice as much';
    cmp_ok $zone->{ProgramMemoryMeanKB}, '<', $zone->{ProgramMemoryP95KB}, 'the mean is less';
    cmp_ok $zone->{ProgramMemoryP95KB}, '<=', $zone->{ProgramMemoryMaxKB}, '95 % had no more';
    cmp_ok $zone->{ProgramProcessorMaxMs}, '>', 0, 'they took processor time';
    cmp_ok $zone->{ProgramProcessorMaxMs}, '<', 3000, '... no more than they ran';
    ok exists $zone->{"ProgramFaults$_"}, "faults: $_" for qw(Mean P95 Max);
    my $free = $status->{AdmissionMemoryAvailableMB};
    cmp_ok $free, '>', 0, 'it is known how much memory is available';
    cmp_ok abs($zone->{ProgramRoom} - $free * 1024 / $zone->{ProgramMemoryP95KB}), '<=',
        1 + 0.2 * $zone->{ProgramRoom}, 'and for how many such programs that is room';
    like $httpd->get("/admission?zone=$ZONE")->{body},
        qr/Programs used \d+ MB of memory on average, .*: \d+ more such programs fit into /,
        'the page says so in a sentence';

    # One that ends at once is known as soon as its child has waited for it.
    wait_for {
        $httpd->get('/cgi-bin/heavy');
        $httpd->zone('/cgi-bin/')->{ProgramsEnded} > 3;
    } 'short ones are known, too' if $is_told;
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

# The system's clock is set while requests wait, and bodies and answers are on their way:
# nobody is rejected by that, and a wait ends when it should.

use AdmissionTest;

my $zone = '/cgi-bin/';

# Who asks httpd for something lets its listener look at the clock.
sub set_clock {
    my ($httpd, $seconds) = @_;
    Admission::File::spill("$httpd->{dir}/heavy/new", "$seconds\n");
    rename "$httpd->{dir}/heavy/new", "$httpd->{dir}/heavy/clock" or die "clock: $!\n";
    $httpd->get('/static.txt') for 1 .. 10;
}

for_each_combo(sub ($combo) {
    my $is_event = $combo->{mpm} eq 'event';
    my $httpd = new_httpd(workers => 20, conf => <<"CONF" . join '',
Timeout 20
@{[ $combo->{cgi} eq 'cgid' ? 'CGIDScriptTimeout 60' : () ]}
CONF
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5 timeout=60s'),
        location('/cgi-bin/short', 'MaxConcurrent 1', 'AdmissionQueue 5 timeout=2s'),
        location('/cgi-bin/free', 'MaxConcurrent 2', 'AdmissionQueue 0'));
    $httpd->expect_rejections('test.example:/cgi-bin/short', 'long');
    Admission::File::spill("$httpd->{dir}/heavy/clock", "0\n");
    # The clock of the machine is never set.
    faulty($httpd)->start;
    for my $seconds (3600, -3600, 25, -25) {
        my $gate = "gate$seconds";
        my ($hold) = ask_line($httpd, $gate, 0, $zone);
        my $hold_short = $httpd->ask("/cgi-bin/short?until=$gate");
        $httpd->zone_becomes('/cgi-bin/short', 'another zone is full', Active => 1);
        my @waiting = map { $httpd->ask("/cgi-bin/heavy?id=$gate") } 1 .. 5;
        $httpd->zone_becomes($zone, 'five wait', Queued => 5);
        my ($upload, $reader);
        if ($is_event) {
            $upload = $httpd->ask('/cgi-bin/free?id=upload', method => 'POST', headers => ['Content-Length: 10']);
            $upload->send('123');
            my $bulk = "/cgi-bin/free?early=1&until=bulk$seconds&bulk=$BULK";
            $reader = slow_reader($httpd->url($bulk))->stop_reading;
            $httpd->open_gate("bulk$seconds");
            $httpd->soon(sub { $httpd->status->{AdmissionTransfers} == 2 });
            is $httpd->status->{AdmissionTransfers}, 2, 'a body and an answer are on their way';
        }
        my $late = $httpd->ask('/cgi-bin/short?id=late');
        $httpd->zone_becomes('/cgi-bin/short', 'one waits for a second', Queued => 1);

        set_clock($httpd, $seconds);
        is $late->answer->{status}, 503, "the clock is set by $seconds s: a wait ends in time";
        $httpd->zone_becomes($zone, '... the others wait', Queued => 5, Active => 1);
        $httpd->serves($gate, '... and are answered', $hold, $hold_short, @waiting);
        if ($is_event) {
            is $upload->send('4567890')->answer->{status}, 200, '... the body arrives';
            $reader->read_on;
            ok $reader->has_read_all, '... the answer as well';
        }
        $httpd->zone_becomes($zone, '... no request was rejected', RejectedReserve => 0,
                             RejectedTimeout => 0, RejectedParking => 0, Gone => 0, Active => 0);
    }
    $httpd->stop;
}, 'prefork+cgi', 'event+cgid', 'event+cgid+completion');

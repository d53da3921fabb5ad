# What is kept has bounds: beyond them httpd waits for its clients, says so once, and
# loses nothing.

use AdmissionTest;
use AdmissionTest::Parking;
use Admission::Slow;

my $zone = '/cgi-bin/';

# Several slow readers get everything, although nearly nothing can be kept.
sub nothing_is_lost {
    my ($httpd, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my @readers = map {
        slow_reader($httpd->$_("/cgi-bin/heavy?early=1&id=$_&until=go&bulk=$BULK"), '--http1.1')
            ->stop_reading
    } 'url', 'tls_url';

    $httpd->open_gate('go');
    wait_for { grep { /ADM0211/ } $httpd->error_log } "$what: the log says so";
    is $httpd->zone($zone)->{Active}, 2, '... the permits are held';
    $_->read_on for @readers;
    is scalar(grep { $_->has_read_all } @readers), 2, '... nothing is lost';
    $httpd->comes_to_rest;
    is scalar(grep { /ADM0211/ } $httpd->error_log), 1, '... and was logged once';
    return;
}

# Nor from senders of bodies: the handlers read what cannot be kept.
sub bodies_arrive {
    my ($httpd, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my @senders = map {
        $httpd->ask("/cgi-bin/heavy?id=sender$_", method => 'POST', headers => ['Content-Length: 1000000'])
            ->send('x' x 900_000)
    } 1 .. 3;

    wait_for { grep { /ADM0211/ } $httpd->error_log } "$what: the log tells of bodies";
    $_->send('y' x 100_000) for @senders;
    is scalar(grep { $_->{body} =~ /^body 1000000$/m } answers(@senders)), 3,
        '... which arrive whole';
    is scalar(grep { /ADM0211/ } $httpd->error_log), 1, '... and was logged once';
    return;
}

sub limited {
    my ($what, $conf, $check, $behind) = @_;
    my $httpd = new_httpd(workers => 10, tls => 1,
                          conf => "AdmissionSpool request=1M response=16M\n$conf\n" . location($zone, 'MaxConcurrent 4'));
    $httpd->allow_in_log(qr/ADM0105|ADM0302/);    # its default queue on a small server

    $httpd->expect_in_log(qr/admission:warn.*ADM0211: /);
    $httpd->behind($behind) if $behind;
    $httpd->start;
    $check->($httpd, $what);
    $httpd->stop;
}

for_each_combo(sub {
    for my $check (\&nothing_is_lost, \&bodies_arrive) {
        limited('AdmissionSpoolLimit', 'AdmissionSpoolLimit 1M', $check);
    }
    limited('ulimit -f', '', \&nothing_is_lost, 'ulimit -f 2048 && exec');
    SKIP: {
        my $disk = File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
        my $mount = "mount -t tmpfs -o size=1m,mode=1777 tmpfs $disk";
        skip 'no file system can be mounted', 1 if system("unshare -m sh -c '$mount' 2>/dev/null");
        for my $check (\&nothing_is_lost, \&bodies_arrive) {
            limited('a full disk', "AdmissionSpoolLimit 1G $disk", $check,
                    "exec unshare -m sh -c '$mount && exec \"\$@\"' sh");
        }
    }
}, 'event+cgid', 'prefork+cgi');

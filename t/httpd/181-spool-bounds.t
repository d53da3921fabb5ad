# What is kept has bounds: beyond them httpd waits for its clients, says so once, and
# loses nothing.

use AdmissionTest;

my $zone = '/cgi-bin/';

# Several slow readers, although nearly nothing can be stored. @return a function that does the
# rest; its value is whether everything has arrived.
sub readers($httpd) {
    my @readers = map {
        slow_reader($httpd->$_("/cgi-bin/heavy?early=1&id=$_&until=go&bulk=$BULK"), '--http1.1')
            ->stop_reading
    } 'url', 'tls_url';

    $httpd->open_gate('go');
    return sub {
        is $httpd->zone($zone)->{Active}, 2, '... the permits are held';
        $_->read_on for @readers;
        return @readers == grep { $_->has_read_all } @readers;
    };
}

# Senders of bodies: the handlers read what cannot be kept.
sub senders($httpd) {
    my @senders = map {
        $httpd->ask("/cgi-bin/heavy?id=sender$_", method => 'POST',
                    headers => ['Content-Length: 1000000'])->send('x' x 900_000)
    } 1 .. 3;

    return sub {
        $_->send('y' x 100_000) for @senders;
        return @senders == grep { $_->{body} =~ /^body 1000000$/m } answers(@senders);
    };
}

sub limited($what, $conf, $behind, @clients) {
    for my $come (@clients) {
        my $httpd = new_httpd(workers => 10, tls => 1,
                              conf => "$conf\n" . location($zone, 'MaxConcurrent 4'));
        $httpd->allow_in_log(qr/ADM0105|ADM0302/);    # its default queue on a small server
        $httpd->expect_in_log(qr/admission:warn.*ADM0211: /);
        $httpd->behind($behind) if $behind;
        $httpd->start;
        my $all_arrives = $come->($httpd);
        wait_for { grep { /ADM0211/ } $httpd->error_log } "$what: the log says so";
        ok $all_arrives->(), '... nothing is lost';
        $httpd->comes_to_rest;
        is scalar(grep { /ADM0211/ } $httpd->error_log), 1, '... and was logged once';
        $httpd->stop;
    }
}

# It stops before the bulk.
sub reader_of($httpd, $name) {
    my $reader = slow_reader($httpd->url("$zone$name/heavy?early=1&until=$name&bulk=$BULK"), '--http0.9')->stop_reading;
    $httpd->open_gate($name);
    return $reader;
}

sub without_unnamed_files {
    my $disk = File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
    chmod 0777, $disk;
    my $httpd = faulty(new_httpd(conf => "AdmissionSpoolLimit 1G $disk\n"
                                 . location($zone, 'MaxConcurrent 1', 'AdmissionQueue 5')))->start;
    $httpd->put('../heavy/named', '');
    my $reader = reader_of($httpd, 'named');
    $httpd->zone_becomes($zone, 'a file system without O_TMPFILE: a response is stored', Active => 0, Admitted => 1);
    ok -s "$httpd->{dir}/heavy/unnamed_failed", '... in a file that had a name';
    is_deeply [ glob "$disk/*" ], [], '... and has lost it';
    $reader->read_on;
    ok $reader->has_read_all, '... everything arrives';
}

# In a dry run, where nothing may be stored, and without parsed headers, the program waits for its
# client, as without the module: still when the response of a later program has been stored.
sub kept_only_where_it_may_be {
    my $httpd = new_httpd();
    my %off = (dry => 'AdmissionDryRun On', off => 'AdmissionSpool response=off',
               nph => "ScriptAlias $httpd->{dir}/docs/nph-heavy");
    $httpd->put_heavy('nph-heavy');
    $httpd->configure(join '', "AdmissionQueue 5\n", location($zone, 'MaxConcurrent 1'),
                      map { location("$zone$_/", 'MaxConcurrent 1', $off{$_}) } sort keys %off);
    $httpd->start;
    my @readers = map { reader_of($httpd, $_) } sort(keys %off), 'stored';
    $httpd->zone_becomes($zone, 'a response is stored', Active => 0, Admitted => 1);
    $httpd->zone_becomes("$zone$_/", "... not with $off{$_}: its permit is held", Active => 1) for sort keys %off;
    is scalar(my @programs = $httpd->live_programs_now), 3, '... and its program waits for its client';
    $_->read_on for @readers;
    is scalar(grep { $_->has_read_all } @readers), 4, '... which gets everything';
}

for_each_combo(sub {
    without_unnamed_files() if !$ENV{ADMISSION_SANITIZER};    # which must be loaded first
    kept_only_where_it_may_be();
    limited('AdmissionSpoolLimit', 'AdmissionSpoolLimit 1M', '', \&readers, \&senders);
    limited('ulimit -f', '', 'ulimit -f 2048 && exec', \&readers);
    SKIP: {
        my $disk = File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
        my $mount = "mount -t tmpfs -o size=1m,mode=1777 tmpfs $disk";
        skip 'no file system can be mounted', 1 if system("unshare -m sh -c '$mount' 2>/dev/null");
        limited('a full disk', "AdmissionSpoolLimit 1G $disk",
                "exec unshare -m sh -c '$mount && exec \"\$@\"' sh", \&readers, \&senders);
    }
}, 'event+cgid', 'prefork+cgi');

# A client that stops in the middle of a long body, or does not read a long response,
# holds a permit for each of its connections: what the manual recommends against it.

use AdmissionTest;

needs_modules(qw(remoteip reqtimeout));

my $LIMIT = 4;
my $SENT = 1_100_000;     # more than AdmissionSpool reads before the permit
my $LENGTH = 3_000_000;

# A client of this address that sends a part of its body.
sub stop_sending {
    my ($httpd) = @_;
    return $httpd->ask('/cgi-bin/heavy', method => 'POST',
                       headers => [ 'X-Forwarded-For: 192.0.2.1', "Content-Length: $LENGTH" ])->send('x' x $SENT);
}

sub stop_reading {
    my ($httpd) = @_;
    return $httpd->ask('/cgi-bin/heavy?bulk=40000000', headers => ['X-Forwarded-For: 192.0.2.1']);
}

sub another { my ($httpd) = @_; return $httpd->ask('/cgi-bin/heavy', headers => ['X-Forwarded-For: 192.0.2.2']) }

sub start_zone {
    my ($more) = @_;
    my $httpd = start_httpd(workers => 40, modules => [qw(remoteip reqtimeout)],
                            conf => join '',
        "RemoteIPHeader X-Forwarded-For\n",
        "RemoteIPInternalProxy 127.0.0.1\n",
        "RequestReadTimeout header=0 body=0\n",
        location('/cgi-bin/', "MaxConcurrent $LIMIT", 'AdmissionQueue 10', 'AdmissionZone z', $more));
    $httpd->allow_in_log(qr/ADM0211|cgid?:error|core:error|reqtimeout|ADM0213/);
    return $httpd;
}

for_each_combo(sub {
    for (['a body', \&stop_sending], ['a response', \&stop_reading]) {
        my ($what, $stop) = @$_;
        my $httpd = start_zone('');
        my @slow = map { $stop->($httpd) } 1 .. $LIMIT;
        $httpd->zone_becomes('z', "$what: four connections hold all permits", Active => $LIMIT);
        my $other = another($httpd);
        $httpd->zone_becomes('z', '... another client waits', Active => $LIMIT, Queued => 1);
        $_->abort for @slow;
        is $other->answer->{status}, 200, '... until they leave';
        $httpd->stop;

        $httpd = start_zone('AdmissionFair client max=2');
        @slow = map { $stop->($httpd) } 1 .. $LIMIT;
        $httpd->zone_becomes('z', "$what: max=2, and they hold two", Active => 2, Queued => 2);
        is another($httpd)->answer->{status}, 200, '... another client is served';
        $_->abort for @slow;
        $httpd->comes_to_rest->stop;

        $httpd = start_zone('AdmissionSpool request=4M response=64M');
        @slow = map { $stop->($httpd) } 1 .. $LIMIT;
        is another($httpd)->answer->{status}, 200, "$what: kept as a whole, another client is served";
        $httpd->zone_becomes('z', '... they hold no permit', Active => 0, Queued => 0);
        $_->abort for @slow;
        $httpd->stop;
    }

    my $httpd = start_zone('');
    $httpd->add_conf("RequestReadTimeout body=2,MinRate=1000000\n");
    $httpd->graceful;
    my @slow = map { stop_sending($httpd) } 1 .. $LIMIT;
    $httpd->zone_becomes('z', 'RequestReadTimeout: they hold all permits', Active => $LIMIT);
    is another($httpd)->answer->{status}, 200, '... until mod_reqtimeout ends them';
}, 'prefork+cgi', 'event+cgid');

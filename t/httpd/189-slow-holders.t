# A client that stops in the middle of a long body, or does not read a long response,
# holds a permit for each of its connections: what the manual recommends against it.

use AdmissionTest;

needs_modules(qw(remoteip reqtimeout));

my $LIMIT = 4;
my $SENT = 1_100_000;     # more than AdmissionSpool reads before the permit
my $LENGTH = 3_000_000;

# Clients of one address at a zone; each sends a part of its body.
sub stop_sending {
    my ($httpd, $zone) = @_;
    return map {
        $httpd->ask("/cgi-bin/$zone", method => 'POST',
                    headers => [ 'X-Forwarded-For: 192.0.2.1', "Content-Length: $LENGTH" ])
            ->send('x' x $SENT)
    } 1 .. $LIMIT;
}

sub stop_reading {
    my ($httpd, $zone) = @_;
    my @headers = ('X-Forwarded-For: 192.0.2.1');
    return map { $httpd->ask("/cgi-bin/$zone?bulk=40000000", headers => \@headers) } 1 .. $LIMIT;
}

sub another {
    my ($httpd, $zone) = @_;
    return $httpd->ask("/cgi-bin/$zone", headers => ['X-Forwarded-For: 192.0.2.2']);
}

sub zone {
    my ($name, @more) = @_;
    return location("/cgi-bin/$name", "AdmissionZone $name", "MaxConcurrent $LIMIT", @more);
}

for_each_combo(sub {
    my $httpd = start_httpd(workers => 20, modules => [qw(remoteip reqtimeout)], conf => join '',
        "RemoteIPHeader X-Forwarded-For\n",
        "RemoteIPInternalProxy 127.0.0.1\n",
        "RequestReadTimeout header=0 body=0\n",
        "AdmissionQueue 10\n",
        zone('plain'), zone('fair', 'AdmissionFair client max=2'),
        zone('stored', 'AdmissionSpool request=4M response=64M'));
    $httpd->allow_in_log(qr/ADM0211|cgid?:error|core:error|reqtimeout|ADM0213/);

    for (['a body', \&stop_sending], ['a response', \&stop_reading]) {
        my ($what, $stop) = @$_;
        my @slow = $stop->($httpd, 'plain');
        $httpd->zone_becomes('plain', "$what: four connections hold all permits", Active => $LIMIT);
        my $other = another($httpd, 'plain');
        $httpd->zone_becomes('plain', '... another client waits', Active => $LIMIT, Queued => 1);
        $_->abort for @slow;
        is $other->answer->{status}, 200, '... until they leave';

        @slow = $stop->($httpd, 'fair');
        $httpd->zone_becomes('fair', "$what: max=2, and they hold two", Active => 2, Queued => 2);
        is another($httpd, 'fair')->answer->{status}, 200, '... another client is served';
        $_->abort for @slow;

        @slow = $stop->($httpd, 'stored');
        is another($httpd, 'stored')->answer->{status}, 200,
            "$what: stored completely, another client is served";
        $httpd->zone_becomes('stored', '... they hold no permit', Active => 0, Queued => 0);
        $_->abort for @slow;
        $httpd->comes_to_rest;
    }

    $httpd->add_conf("RequestReadTimeout body=2,MinRate=1000000\n");
    $httpd->graceful;
    my @slow = stop_sending($httpd, 'plain');
    $httpd->zone_becomes('plain', 'RequestReadTimeout: they hold all permits', Active => $LIMIT);
    is another($httpd, 'plain')->answer->{status}, 200, '... until mod_reqtimeout ends them';
}, 'prefork+cgi', 'event+cgid');

# An application that sends a POST request to its own server and disconnects without
# reading the response, as WordPress does for its cron, has its request processed: it
# keeps its queue slot, blocked or parked, until its permit or timeout=. Other requests
# leave the queue, and so do those that a proxy on this server has passed on.

use AdmissionTest;
use AdmissionTest::Parking;
use Time::HiRes qw(sleep);

my ($host, $close) = ('Host: test.example', 'Connection: close');
my @remoteip = Admission::Config::is_installed('remoteip') ? 'remoteip' : ();

# name => [ method, protocol, headers ]
my %stays = (
    modern    => [ 'POST', 'HTTP/1.1', $host ],
    last      => [ 'POST', 'HTTP/1.1', $host, $close ],
    # This is what WordPress sends.
    wordpress => [ 'POST', 'HTTP/1.0', $host, 'User-Agent: WordPress/6.1', $close,
                   'Content-Length: 0' ],
    kept      => [ 'POST', 'HTTP/1.0', $host, 'Connection: Keep-Alive' ],
);
my %leaves = (
    get       => [ 'GET',  'HTTP/1.1', $host, $close ],
    head      => [ 'HEAD', 'HTTP/1.1', $host ],
    put       => [ 'PUT',  'HTTP/1.1', $host, $close ],
    xff       => [ 'POST', 'HTTP/1.1', $host, $close, 'X-Forwarded-For: 192.0.2.1' ],
    forwarded => [ 'POST', 'HTTP/1.1', $host, 'Forwarded: for=192.0.2.1' ],
    via       => [ 'POST', 'HTTP/1.0', $host, $close, 'Via: 1.1 proxy' ],
    (@remoteip ? (remote => [ 'POST', 'HTTP/1.1', $host, $close, 'X-Client: 192.0.2.1' ]) : ()),
);

sub ask_raw {
    my ($httpd, $path, $method, $protocol, @headers) = @_;
    my $body = "@headers" =~ /Content-Length/ ? '' : 'a=b';

    push @headers, 'Content-Length: 3' if $body && $method =~ /^P/;
    return $httpd->connect->send(join("\r\n", "$method $path $protocol", @headers, '', '')
                                 . ($method =~ /^P/ ? $body : ''));
}

sub hold {
    my ($httpd, $id) = @_;
    my $hold = $httpd->ask("/cgi-bin/heavy?id=$id&until=$id");
    $httpd->zone_becomes('/cgi-bin/', "$id: one runs", Active => 1);
    return $hold;
}

sub errands {
    my ($httpd, %requests) = @_;
    return map { ask_raw($httpd, "/cgi-bin/heavy?id=$_", @{ $requests{$_} }) }
           sort keys %requests;
}

for_each_combo(sub {
    my ($combo) = @_;
    for my $parking ($combo->{mpm} eq 'event' ? qw(On Off) : 'Off') {
        my $conf = sub { (@remoteip ? "RemoteIPHeader X-Client\n" : '') . <<"CONF" };
AdmissionParking $parking
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 15 timeout=$_[0]
</Location>
CONF
        my $httpd = new_httpd(combo => $combo, tls => 1, modules => \@remoteip, workers => 30);
        $httpd->configure($conf->('60s'));
        $httpd->start;

        my $hold = hold($httpd, 'hold');
        my @clients = errands($httpd, %stays, %leaves);
        my $curl = start_program(qw(curl -sk --max-time 30 -d a=b),
                                 $httpd->tls_url('/cgi-bin/heavy?id=tls'));
        my $reset = ask_raw($httpd, '/cgi-bin/heavy?id=reset', @{ $stays{modern} });
        $httpd->zone_becomes('/cgi-bin/', 'all wait', Queued => 2 + @clients);
        my $get_reset = ask_raw($httpd, '/cgi-bin/heavy?id=get-reset', @{ $leaves{get} });
        $httpd->zone_becomes('/cgi-bin/', 'all wait', Queued => 3 + @clients);
        my $parks = $httpd->status->{AdmissionParked};
        is $parks > 0, $parking eq 'On' && Admission::Parking::can_park(),
            "... with AdmissionParking $parking";

        $_->leave for @clients;
        kill KILL => $curl;
        waitpid $curl, 0;
        $httpd->zone_becomes('/cgi-bin/', 'all but the POST requests of this server leave',
                             Queued => 3 + keys %stays, Gone => scalar keys %leaves);
        $_->abort for $reset, $get_reset;
        $httpd->zone_becomes('/cgi-bin/', 'a reset is the same',
                             Queued => 2 + keys %stays, Gone => 1 + keys %leaves);
        my $before = switches($httpd);
        sleep 0.5;
        cmp_ok switches($httpd) - $before, '<', 2000, 'the others are not polled all the time';

        $httpd->graceful;
        $httpd->zone_becomes('/cgi-bin/', 'a reload leaves them in the queue',
                             Queued => 2 + keys %stays, Gone => 1 + keys %leaves, Active => 1);
        my $later = $httpd->ask('/cgi-bin/heavy?id=later');
        $httpd->zone_becomes('/cgi-bin/', 'a later request waits', Queued => 3 + keys %stays);
        $httpd->open_gate('hold');
        is_deeply statuses(answers($hold, $later)), { 200 => 2 }, 'it is answered';
        my @order = map { /^(?:start|end) (\S+)/ } $httpd->record;
        is_deeply [ grep { !($_ % 2) || $order[$_] eq $order[ $_ - 1 ] } 0 .. $#order ],
            [ 0 .. $#order ], 'one program at a time' or diag join ', ', $httpd->record;
        is_deeply [ sort map { /^start (\S+)/ } $httpd->record ],
            [ sort qw(hold later reset tls), keys %stays ], '... for the requests that kept their slots';
        is $order[-1], 'later', '... in the order of the queue';
        $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0, Queued => 0,
                             Admitted => 4 + keys %stays, Gone => 1 + keys %leaves);
        wait_for {
            2 + keys %stays == grep { /id=(?!later)\S+ zone=\S*\/cgi-bin\/ status=queued / }
                                    $httpd->access_log
        } 'the access log has their zone and says queued';

        $httpd->configure($conf->('1s'));
        $httpd->graceful;
        $httpd->expect_rejections('/cgi-bin/', 'time');
        $hold = hold($httpd, 'short');
        $_->leave for errands($httpd, map { ("late-$_" => $stays{$_}) } keys %stays);
        wait_for {
            keys %stays == grep { /id=late-\S+ .* status=timeout / } $httpd->access_log
        } 'timeout= ends their wait';
        $httpd->zone_becomes('/cgi-bin/', '... none is left', Queued => 0, Active => 1);
        $httpd->open_gate('short');
        is $hold->answer->{status}, 200, 'the program that ran meanwhile is answered';

        $httpd->configure($conf->('60s'));
        $httpd->graceful;
        $hold = hold($httpd, 'stop');
        my @stopped = errands($httpd, map { ("stopped-$_" => $stays{$_}) } keys %stays);
        $httpd->zone_becomes('/cgi-bin/', 'some wait', Queued => scalar @stopped);
        $_->leave for @stopped;
        $httpd->open_gate_soon('stop');
        $httpd->stop;
        is scalar(grep { /^start stopped/ } $httpd->record), 0, 'a stop starts no program';
    }
});

# A client of HTTP/1.0, or of a version that there is not, that closes its sending
# side, and has not said what becomes of the connection, goes on reading: it keeps its
# place in the queue and is answered, blocked or parked.

use AdmissionTest;
use AdmissionTest::Parking;
use Time::HiRes qw(sleep);

my $host = 'Host: test.example';

# name => [ protocol, headers ], by what becomes of the client once it has
# half-closed.
my %stays = (
    plain => [ 'HTTP/1.0' ],
    named => [ 'HTTP/1.0', $host ],
    later => [ 'HTTP/1.2', $host ],
    wrong => [ 'HTTP/2.0', $host ],
);
# "Connection: close" is what a proxy says that closes when its client leaves.
my %leaves = (
    modern => [ 'HTTP/1.1', $host ],
    last   => [ 'HTTP/1.1', $host, 'Connection: close' ],
    kept   => [ 'HTTP/1.0', 'Connection: Keep-Alive' ],
    proxy  => [ 'HTTP/1.0', 'Connection: close' ],
);

sub ask_raw {
    my ($httpd, $id, $protocol, @headers) = @_;
    return $httpd->connect->send(join "\r\n", "GET /cgi-bin/heavy?id=$id $protocol", @headers,
                                 '', '');
}

for_each_combo(sub {
    my ($combo) = @_;
    for my $parking ($combo->{mpm} eq 'event' ? qw(On Off) : 'Off') {
        my $httpd = start_httpd(combo => $combo, conf => <<"CONF");
AdmissionParking $parking
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 10
</Location>
CONF
        my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=go');
        $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
        my $length = keys(%stays) + keys %leaves;
        my %client = map { $_ => ask_raw($httpd, $_, @{ $stays{$_} // $leaves{$_} }) }
                     keys %stays, keys %leaves;
        my $reset = ask_raw($httpd, 'reset', @{ $stays{plain} });
        $httpd->zone_becomes('/cgi-bin/', 'the others wait', Queued => $length + 1);
        my $parks = $httpd->status->{AdmissionParked};
        is $parks > 0, $parking eq 'On' && Admission::Parking::can_park(),
            "... with AdmissionParking $parking";

        $_->half_close for values %client;
        $httpd->zone_becomes('/cgi-bin/', 'clients that announced the end of the connection leave',
                             Queued => 1 + keys %stays, Gone => scalar keys %leaves);
        $reset->half_close;
        $reset->abort;
        $httpd->zone_becomes('/cgi-bin/', 'so does one that resets it after all',
                             Queued => scalar keys %stays, Gone => 1 + keys %leaves);
        my $before = switches($httpd);
        sleep 0.5;
        cmp_ok switches($httpd) - $before, '<', 2000, 'other connections are not polled continuously';

        $httpd->open_gate('go');
        is_deeply statuses(answers($hold, @client{ keys %stays })), { 200 => 1 + keys %stays },
            'a client that only closes its side gets its response';
        $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0, Queued => 0,
                             Admitted => 1 + keys %stays);
        $httpd->stop;
    }
});

# A request may be wanted although its client closes, blocked or parked. A client of
# HTTP/1.0, or of a version that there is not, that only closes its sending side, and has
# not said what becomes of the connection, goes on reading. An application that sends a
# POST request to its own server and disconnects, as WordPress does for its cron, has it
# processed. They keep their places in the queue, until the permit or timeout=, also over
# a reload. All others leave, and so do those that a proxy on this server has passed on.

use AdmissionTest;
use AdmissionTest::Parking;
use Time::HiRes qw(sleep);

my ($host, $close) = ('Host: test.example', 'Connection: close');
my @remoteip = Admission::Config::is_installed('remoteip') ? 'remoteip' : ();

# name => [ what the client does, method, protocol, headers ]
my %reads_on = (
    plain => [ half_close => 'GET', 'HTTP/1.0' ],
    named => [ half_close => 'GET', 'HTTP/1.0', $host ],
    later => [ half_close => 'GET', 'HTTP/1.2', $host ],
    wrong => [ half_close => 'GET', 'HTTP/2.0', $host ],
);
my %errands = (
    modern    => [ leave => 'POST', 'HTTP/1.1', $host ],
    last      => [ leave => 'POST', 'HTTP/1.1', $host, $close ],
    # This is what WordPress sends.
    wordpress => [ leave => 'POST', 'HTTP/1.0', $host, 'User-Agent: WordPress/6.1', $close, 'Content-Length: 0' ],
    kept      => [ leave => 'POST', 'HTTP/1.0', $host, 'Connection: Keep-Alive' ],
    reset     => [ abort => 'POST', 'HTTP/1.1', $host ],
);
my %leaves = (
    half        => [ half_close => 'GET', 'HTTP/1.1', $host ],
    # "Connection: close" is what a proxy says that closes when its client leaves.
    half_last   => [ half_close => 'GET', 'HTTP/1.1', $host, $close ],
    half_kept   => [ half_close => 'GET', 'HTTP/1.0', 'Connection: Keep-Alive' ],
    half_proxy  => [ half_close => 'GET', 'HTTP/1.0', $close ],
    get         => [ leave => 'GET',  'HTTP/1.1', $host, $close ],
    head        => [ leave => 'HEAD', 'HTTP/1.1', $host ],
    put         => [ leave => 'PUT',  'HTTP/1.1', $host, $close ],
    xff         => [ leave => 'POST', 'HTTP/1.1', $host, $close, 'X-Forwarded-For: 192.0.2.1' ],
    forwarded   => [ leave => 'POST', 'HTTP/1.1', $host, 'Forwarded: for=192.0.2.1' ],
    via         => [ leave => 'POST', 'HTTP/1.0', $host, $close, 'Via: 1.1 proxy' ],
    (@remoteip ? (remote => [ leave => 'POST', 'HTTP/1.1', $host, $close, 'X-Client: 192.0.2.1' ]) : ()),
    get_reset   => [ abort => 'GET',  'HTTP/1.1', $host, $close ],
);
my @stays = (keys %reads_on, keys %errands);

sub ask_raw {
    my ($httpd, $id, $does, $method, $protocol, @headers) = @_;
    my $body = $method =~ /^P/ && "@headers" !~ /Content-Length/ ? 'a=b' : '';

    push @headers, 'Content-Length: 3' if $body;
    return $httpd->connect->send(join("\r\n", "$method /cgi-bin/heavy?id=$id $protocol", @headers, '', '') . $body);
}

# Asks for all of them; @return the clients by name.
sub ask_all {
    my ($httpd, $prefix, %requests) = @_;
    return map { $_ => ask_raw($httpd, "$prefix$_", @{ $requests{$_} }) } sort keys %requests;
}

sub hold {
    my ($httpd, $id) = @_;
    my $hold = $httpd->ask("/cgi-bin/heavy?id=$id&until=$id");
    $httpd->zone_becomes('/cgi-bin/', "$id: one runs", Active => 1);
    return $hold;
}

sub tell_story {
    my ($combo, $parking) = @_;
    my $conf = sub {
        return join '', @remoteip ? "RemoteIPHeader X-Client\n" : '', "AdmissionParking $parking\n",
            location('/cgi-bin/', 'MaxConcurrent 1', "AdmissionQueue 30 timeout=$_[0]");
    };
    my $httpd = new_httpd(combo => $combo, tls => 1, modules => \@remoteip, workers => 48, conf => $conf->('60s'));
    my %all = (%reads_on, %errands, %leaves);

    $httpd->start;
    my $hold = hold($httpd, 'hold');
    my %client = ask_all($httpd, '', %all);
    my $curl = start_program(qw(curl -sk --max-time 30 -d a=b), $httpd->tls_url('/cgi-bin/heavy?id=tls'));
    my $late_reset = ask_raw($httpd, 'late-reset', @{ $reads_on{plain} });
    $httpd->zone_becomes('/cgi-bin/', 'all wait', Queued => 2 + keys %all);
    is $httpd->status->{AdmissionParked} > 0, $parking eq 'On' && Admission::Parking::can_park(),
        "... with AdmissionParking $parking";

    for my $name (keys %client) {
        my ($does) = @{ $all{$name} };
        $client{$name}->$does;
    }
    kill KILL => $curl;
    waitpid $curl, 0;
    $httpd->zone_becomes('/cgi-bin/', 'clients leave whose requests nobody wants any more',
                         Queued => 2 + @stays, Gone => scalar keys %leaves);
    $late_reset->half_close;
    $late_reset->abort;
    my %left = (Gone => 1 + keys %leaves);
    $httpd->zone_becomes('/cgi-bin/', 'so does one that half-closes, and resets after all',
                         Queued => 1 + @stays, %left);
    my $before = switches($httpd);
    sleep 0.5;
    cmp_ok switches($httpd) - $before, '<', 2000, 'the others are not polled all the time';

    $httpd->graceful;
    $httpd->zone_becomes('/cgi-bin/', 'a reload leaves them in the queue', Queued => 1 + @stays, %left, Active => 1);
    my $later = $httpd->ask('/cgi-bin/heavy?id=behind');
    $httpd->zone_becomes('/cgi-bin/', 'a later request waits', Queued => 2 + @stays);
    $httpd->serves('hold', 'who reads on gets a response', $hold, $later, @client{ keys %reads_on });
    my @order = map { /^(?:start|end) (\S+)/ } $httpd->record;
    is_deeply [ grep { !($_ % 2) || $order[$_] eq $order[ $_ - 1 ] } 0 .. $#order ],
        [ 0 .. $#order ], 'one program at a time' or diag join ', ', $httpd->record;
    is_deeply [ sort map { /^start (\S+)/ } $httpd->record ], [ sort qw(hold behind tls), @stays ],
        '... for the requests that kept their places';
    is $order[-1], 'behind', '... in the order of the queue';
    $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0, Queued => 0, Admitted => 3 + @stays, %left);
    wait_for {
        1 + @stays == grep { /id=(?!behind)\S+ zone=\S*\/cgi-bin\/ status=queued / } $httpd->access_log
    } 'the access log has their zone and says queued';

    $httpd->configure($conf->('1s'));
    $httpd->graceful;
    $httpd->expect_rejections('/cgi-bin/', 'time');
    $hold = hold($httpd, 'short');
    my %late = ask_all($httpd, 'late-', %errands);
    $_->leave for values %late;
    wait_for { keys %late == grep { /id=late-\S+ .* status=timeout / } $httpd->access_log }
        'timeout= ends their wait';
    $httpd->zone_becomes('/cgi-bin/', '... none is left', Queued => 0, Active => 1);
    $httpd->serves('short', 'the program that ran meanwhile is answered', $hold);

    $httpd->configure($conf->('60s'));
    $httpd->graceful;
    $hold = hold($httpd, 'stop');
    my %stopped = ask_all($httpd, 'stopped-', %errands);
    $httpd->zone_becomes('/cgi-bin/', 'some wait', Queued => scalar keys %stopped);
    $_->leave for values %stopped;
    $httpd->open_gate_when_stopping('stop');
    $httpd->stop;
    is scalar(grep { /^start stopped/ } $httpd->record), 0, 'a stop starts no program';
}

for_each_combo(sub {
    my ($combo) = @_;
    tell_story($combo, $_) for $combo->{mpm} eq 'event' ? qw(On Off) : 'Off';
});

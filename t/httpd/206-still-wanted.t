# A request may be wanted although its client closes, blocked or parked. A client of
# HTTP/1.0, or of a version that there is not, that only closes its sending side, and has
# not said what becomes of the connection, goes on reading. An application that sends a
# POST request to its own server and disconnects, as WordPress does for its cron, has it
# processed. They keep their places in the queue, until the permit or timeout=, also over
# a reload. All others leave, and so do those that a proxy on this server has passed on.

use AdmissionTest;
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

# How often threads of the children have slept: a busy loop does so all the time.
sub switches {
    my ($httpd) = @_;
    my $switches = 0;

    for my $pid ($httpd->children) {
        $switches += $_ for map { $httpd->slurp($_) =~ /ctxt_switches:\s*(\d+)/g }
                            glob "/proc/$pid/task/*/status";
    }
    return $switches;
}

# Asks for all of them at a path, up to their names; @return the clients by name.
sub ask_all {
    my ($httpd, $path, %requests) = @_;
    my %client;

    for my $name (sort keys %requests) {
        my (undef, $method, $protocol, @headers) = @{ $requests{$name} };
        my $body = $method =~ /^P/ && "@headers" !~ /Content-Length/ ? 'a=b' : '';

        push @headers, 'Content-Length: 3' if $body;
        $client{$name} = $httpd->connect->send(
            join("\r\n", "$method /cgi-bin/$path$name $protocol", @headers, '', '') . $body);
    }
    return %client;
}

sub tell_story {
    my ($parking) = @_;
    my $httpd = start_httpd(tls => 1, modules => \@remoteip, workers => 60, places => 8, conf => join '',
        @remoteip ? "RemoteIPHeader X-Client\n" : '', "AdmissionParking $parking\n",
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 30 timeout=60s'),
        location('/cgi-bin/short/', 'MaxConcurrent 1', 'AdmissionQueue 10 timeout=1s'));
    my %all = (%reads_on, %errands, %leaves);

    my ($hold) = $httpd->fill('/cgi-bin/', 'hold', 1);
    my %client = ask_all($httpd, 'heavy?id=', %all);
    my $curl = start_program(qw(curl -sk --max-time 300 -d a=b), $httpd->tls_url('/cgi-bin/heavy?id=tls'));
    my (undef, $late_reset) = ask_all($httpd, 'heavy?id=late-reset-', plain => $reads_on{plain});
    $httpd->zone_becomes('/cgi-bin/', 'all wait', Queued => 2 + keys %all);
    is $httpd->status->{AdmissionParked} > 0, $parking eq 'On' && Admission::Parking::can_park(),
        "... with AdmissionParking $parking";

    for my $name (keys %client) {
        my ($does) = @{ $all{$name} };
        $client{$name}->$does;
    }
    kill KILL => $curl;
    waitpid $curl, 0;
    $httpd->zone_becomes('/cgi-bin/', 'clients leave whose requests are not wanted any more',
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
    $httpd->zone_becomes('/cgi-bin/', 'the zone is at rest', Active => 0, Queued => 0, Admitted => 3 + @stays, %left);
    # The client of "reset" has gone: httpd may end its program before that records its end.
    my @order = map { /^(?:start|end) (\S+)/ } $httpd->record;
    @order = grep { $_ ne 'reset' } @order if 1 == grep { $_ eq 'reset' } @order;
    is_deeply [ grep { !($_ % 2) || $order[$_] eq $order[ $_ - 1 ] } 0 .. $#order ],
        [ 0 .. $#order ], 'one program at a time' or diag join ', ', $httpd->record;
    my @started = map { /^start (\S+)/ } $httpd->record;
    is_deeply [ sort @started ], [ sort qw(- behind tls), @stays ], '... for the requests that kept their places';
    is_in_order($httpd, '/cgi-bin/', [ map { $_ eq 'behind' ? $_ : 'earlier' } @started ],
        [ ('earlier') x (2 + @stays), 'behind' ], '... in the order of the queue');
    $httpd->access_log_becomes('the access log has their zone and reports queued',
        qr/id=(?!behind)\S+ zone=\S*\/cgi-bin\/ status=queued /, 1 + @stays);

    my ($short) = $httpd->fill('/cgi-bin/short/', 'short', 1);
    $httpd->expect_rejections('/cgi-bin/short/', 'time');
    my %late = ask_all($httpd, 'short/heavy?id=late-', %errands);
    $_->leave for values %late;
    $httpd->access_log_becomes('timeout= ends their wait', qr/id=late-\S+ .* status=timeout /,
                               scalar keys %late);
    $httpd->zone_becomes('/cgi-bin/short/', '... none is left', Queued => 0, Active => 1);
    $httpd->serves('short', 'the program that ran meanwhile is answered', $short);

    $httpd->fill('/cgi-bin/', 'stop', 1);
    my %stopped = ask_all($httpd, 'heavy?id=stopped-', %errands);
    $httpd->zone_becomes('/cgi-bin/', 'some wait', Queued => scalar keys %stopped);
    $_->leave for values %stopped;
    $httpd->open_gate_when_stopping('stop');
    $httpd->stop;
    is scalar(grep { /^start stopped/ } $httpd->record), 0, 'a stop starts no program';
}

for_each_combo(sub ($combo) {
    tell_story($_) for $combo->{mpm} eq 'event' ? qw(On Off) : 'Off';
});

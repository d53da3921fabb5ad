# A client that does not read its response holds no permit: what it does not take is stored, and
# the program or the backend of mod_proxy_http ends. What they write goes to its client
# immediately, also when something was stored before; and as slowly as mod_ratelimit wants.

use AdmissionTest;

needs_modules(qw(filter proxy proxy_http ratelimit));

# Two lines, then more than the sockets hold, then two more lines where its name begins with
# "events". It goes on behind a line when the client has read it and opens the gate. It ends a
# moment after its output.
my $SCRIPT = <<"SH";
turn() { echo "event \$1"; until [ -e \$HEAVY_DIR/\$QUERY_STRING-\$1 ]; do sleep 0.02; done; }
printf 'Content-Type: text/event-stream\\n\\n'
turn 1
turn 2
seq -f %09.0f 1 @{[ $BULK / 10 ]}
case \$QUERY_STRING in events*) turn 3; turn 4;; esac
exec <&- >&- 2>&-
sleep 0.2
SH

# Each is written only when the client has read the one before.
sub events_come($httpd, $how, $name, $reader, @events) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my @missing = grep {
        my $event = $_;
        my $came = $httpd->soon(sub { $reader->read_so_far =~ /^event \Q$event\E$/m });
        $httpd->open_gate("$name-$event");
        !$came;
    } @events;

    return is "@missing", '', "$how: each event comes before the next one is written";
}

# A client that stops reading before the bulk, which is stored.
sub stalled_reader($httpd, $how, $name, $url, @options) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $reader = slow_reader("$url?$name", @options);

    events_come($httpd, $how, $name, $reader, 1);
    $reader->stop_reading;
    $httpd->open_gate("$name-2");
    wait_for { $httpd->status->{AdmissionSpooled} } '... what the client does not read is stored';
    return $reader;
}

my %paced = ('/cgi-bin/paced' => 'SetOutputFilter RATE_LIMIT',
             '/cgi-bin/type/paced' => 'AddOutputFilterByType RATE_LIMIT text/plain',
             '/cgi-bin/rule/paced' => "FilterProvider rate RATE_LIMIT true\nFilterChain rate");

# mod_ratelimit makes the thread of a request sleep while it sends: it paces the handler, too,
# and the response is the same as without AdmissionSpool.
sub is_paced($httpd, $how, $url, @options) {
    # In two parts, with a pause between them.
    my $query = '?early=1&ms=200&bulk=';
    my $reader;
    for my $path (sort keys %paced) {
        $reader = slow_reader($httpd->$url("$path${query}1000000"), @options);
        $httpd->zone_becomes('z', "$how: a response is paced, $paced{$path}", Active => 1);
        $reader->leave;
        $httpd->comes_to_rest;    # when its client leaves
    }

    for my $path (qw(/cgi-bin/paced/fast /proxied/paced/fast)) {
        $reader = slow_reader($httpd->$url("$path${query}400000"), @options);
        ok $reader->has_read_all(400_000), "$how: everything arrives from $path";
    }
}

for_each_combo(sub ($combo) {
    my $is_event = $combo->{mpm} eq 'event';
    my @protocols = protocols($combo);
    my $httpd = new_httpd(workers => 20, tls => 1, http2 => @protocols == 3,
                          modules => [qw(filter proxy proxy_http ratelimit)],
                          conf => <<'CONF' . join '',
SetEnvIf Request_URI /paced rate-limit=20
SetEnvIf Request_URI /paced/fast rate-limit=40000
CONF
        section('LocationMatch ^/(limited|proxied|cgi-bin)', 'MaxConcurrent 1', 'AdmissionZone z',
            'AdmissionQueue 5'),
        section('LocationMatch ^/proxied/paced', 'SetOutputFilter RATE_LIMIT'),
        map { location($_, $paced{$_}) } sort keys %paced);
    $httpd->put_script("$_.cgi", $SCRIPT) for qw(limited free);
    $httpd->put_heavy('heavy.cgi');
    $httpd->start;
    # It is its own backend, whose port is known only now.
    $httpd->add_conf(join '', map { "ProxyPass $_->[0] " . $httpd->url("$_->[1]\n") }
                     ['/proxied/paced/fast', '/heavy.cgi'], ['/proxied', '/free.cgi']);
    $httpd->graceful;
    for my $source ('/limited.cgi', '/proxied') {
        for (@protocols) {
            my ($protocol, $url, @options) = @$_;
            my ($how, $name) = ("$source, $protocol", "$source-$protocol" =~ s/\W+/-/gr);
            my $to = $httpd->$url($source);
            my $reader = stalled_reader($httpd, $how, "bulk$name", $to, @options);
            $httpd->zone_becomes('z', '... its permit is released while it does not read',
                                 Active => 0);
            server_becomes($httpd, '... and a worker that waits for it is counted',
                           AdmissionRunning => $is_event || $protocol eq 'HTTP/2' ? 0 : 1);
            is $httpd->get('/cgi-bin/heavy')->{status}, 200, '... the next request runs';
            $reader->read_on;
            ok $reader->has_read_all, '... everything arrives';

            $reader = stalled_reader($httpd, $how, "events$name", $to, @options);
            $reader->read_on;
            events_come($httpd, "$how, later", "events$name", $reader, 3, 4);
            $reader->leave;
            server_becomes($httpd, '... and then nothing is stored', AdmissionSpooled => 0);
        }
    }
    is_paced($httpd, @$_) for @protocols;
});

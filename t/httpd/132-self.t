# A server that is its own backend, directly or behind a filter of this machine, as Anubis and
# Varnish are: what comes back for a request that holds a permit runs with that permit. The
# header that brings it along is worth nothing to a client, and to a filter no more than the
# permit that is held for it. Where a filter drops the header, the log names the cause.

use AdmissionTest;

my ($limit, $clients, $forgers) = (2, 8, 50);
my @modules = qw(proxy proxy_http proxy_balancer slotmem_shm lbmethod_byrequests);

needs_modules(@modules);

# An address of this machine that is no loopback address, as the system chooses it for
# what it would send to another one. Nothing is sent.
sub address_outside {
    my $socket = IO::Socket::INET->new(PeerAddr => '192.0.2.1', PeerPort => 9, Proto => 'udp');
    return $socket ? $socket->sockhost : '';
}

# A backend between both virtual hosts: it sends each request, without a body, on to inner.test,
# so often (times), with its headers, except those that it drops, and answers with the first
# response.
sub filter {
    my ($httpd, %o) = @_;
    return sub {
        my ($client) = @_;
        my $head = (read_head($client) // return) =~ s{\r\n\r\n.*}{\r\n}sr;
        my ($request, @lines) = split /\r\n/, $head;
        my @kept = grep { !/^(?:Host|Connection|Content-Length|Transfer-Encoding):/i
                          && (!$o{drops} || !/$o{drops}/) } @lines;

        open my $seen, '>>', "$httpd->{dir}/heavy/seen" or die "seen: $!\n";
        syswrite $seen, $head;
        my $sent = join "\r\n", $request, 'Host: inner.test', 'Connection: close', @kept, '', '';
        my @servers = map { $httpd->connect->send($sent) } 1 .. $o{times} // 1;
        while (sysread $servers[0]{socket}, my $response, 65536) {
            syswrite $client, $response;
        }
    };
}

# Of what the filters were sent since the last time.
sub seen {
    my ($httpd) = @_;
    my $seen = $httpd->slurp('heavy/seen');
    unlink "$httpd->{dir}/heavy/seen";
    return $seen;
}

# mod_proxy_http2 has a way of its own to send a header.
sub sends_http2 {
    my ($combo) = @_;
    return $combo->{mpm} ne 'prefork' && Admission::Config::version() >= 58
        && !grep { !Admission::Config::is_installed($_) } qw(http2 proxy_http2);
}

# A server of two virtual hosts, and filters. @return it, and the names of all ways to /cgi-bin/.
sub start_with_filters {
    my ($combo) = @_;
    my @http2 = sends_http2($combo) ? 'proxy_http2' : ();
    my $httpd = new_httpd(workers => 120, http2 => $combo->{mpm} ne 'prefork',
                          modules => [ @modules, @http2 ]);
    my ($dir, $outside) = ($httpd->{dir}, address_outside());
    my $conf = "AdmissionReserve 1\nMaxConcurrent $limit\nAdmissionZone all\n"
             . "AdmissionQueue 100 timeout=300s\n";

    $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue
    # 120 children that stop together need 3 s beside other tests, also without the module.
    $httpd->allow_in_log(qr/AH00045: /) if $combo->{mpm} eq 'prefork';
    $httpd->configure($conf);
    $httpd->start;
    start_backend(filter($httpd), "$dir/filter.sock");
    my (undef, $foreign) = start_backend(filter($httpd), $outside || '127.0.0.1');
    my ($self, $filter, $twice, $drops, $app) = map { "127.0.0.1:$_" } $httpd->{port},
        map { (start_backend($_))[1] }
            filter($httpd), filter($httpd, times => 2), filter($httpd, drops => qr/^Admission-/i),
            answers_at_gate($httpd);
    my %to = (
        direct   => "http://$self/cgi-bin/",
        second   => "http://$self/direct/",
        third    => 'balancer://self/second/',
        alias    => 'http://' . ($self =~ s/127.0.0.1/127.1/r) . '/cgi-bin/',
        address  => "http://$filter/cgi-bin/",
        balancer => 'balancer://filters/cgi-bin/',
        name     => 'http://' . ($filter =~ s/127.0.0.1/localhost/r) . '/cgi-bin/ disablereuse=on',
        # A name that says nothing of loopback, and resolves so.
        resolved => 'http://' . ($filter =~ s/127.0.0.1/2130706433/r) . '/cgi-bin/',
        socket   => "unix:$dir/filter.sock|http://localhost/cgi-bin/",
        @http2 ? (http2 => "h2c://$self/cgi-bin/") : (),
    );
    my @ways = ('rule', sort(keys %to), @http2 ? 'file' : ());
    $to{$_} = "http://$self/" for qw(shown failing);
    @to{qw(loop free twice)} = ("http://$self/loop/", map { "http://$_/cgi-bin/" } $filter, $twice);
    @to{qw(app drop)} = ("http://$app/", "http://$drops/cgi-bin/drop/");
    $to{foreign} = "http://$outside:$foreign/" if $outside;
    $to{shown2} = "h2c://$self/" if @http2;

    # mod_proxy fails if it sends a request over a connection that just times out.
    $httpd->configure(join '', $conf, "KeepAliveTimeout 300\n",
        virtual_host('test.example',
            section('Proxy balancer://self', "BalancerMember http://$self"),
            section('Proxy balancer://filters', "BalancerMember http://$filter"),
            (map { "ProxyPass /$_/ $to{$_}" } sort keys %to), 'MergeTrailers On',
            'RewriteEngine On', "RewriteRule ^/rule/(.*) http://$filter/cgi-bin/\$1 [P]"),
        virtual_host('inner.test', 'ServerAlias 127.1'),
        location('/alias/', 'ProxyPreserveHost On'),    # httpd refuses the other host
        (map { location($_, 'MaxConcurrent off') } qw(/shown.cgi /free/ /cgi-bin/unlimited/)),
        # What mod_proxy asks for is the path of the file then.
        (map { location('/file/', "SetHandler proxy:h2c://$self"),
               "ScriptAliasMatch ^/.+/file/x\$ $dir/cgi/heavy\n" } @http2),
        section('LocationMatch ^/(?:failing/|fails.cgi|cgi-bin/page)', 'MaxConcurrent 1',
            'AdmissionZone fails', 'ProxyErrorOverride On',
            'ErrorDocument 500 /cgi-bin/page?id=page&ms=30'),
        section('LocationMatch ^/(?:drop|app|cgi-bin/drop)/', "MaxConcurrent $limit",
            'AdmissionZone drop', 'AdmissionQueue 50 timeout=1s'));
    $httpd->put('file/x', '');
    $httpd->put_script('shown.cgi', "echo Content-Type: text/plain\necho\nenv\n");
    $httpd->put_script('fails.cgi', "echo Status: 500 No\necho Content-Type: text/plain\necho\n");
    $httpd->graceful;
    return ($httpd, @ways);
}

sub each_has_one_permit {
    my ($httpd, $combo, @ways) = @_;
    my $watch = $httpd->watch;
    my $expected = (@ways + 1) * $clients;

    for my $by (@ways) {
        my @line = map { $httpd->ask("/$by/x?id=$by-$_&ms=10") } 1 .. $clients;
        is_deeply statuses(answers(@line)), { 200 => $clients }, "/$by/: $clients are served";
    }
    if ($combo->{mpm} ne 'prefork' && Admission::Config::is_installed('http2')
        && system('h2load --version >/dev/null 2>&1') == 0) {
        my $report = `h2load -n $clients -c 2 -m 4 '@{[ $httpd->url('/address/x?ms=10') ]}' 2>&1`;
        like $report, qr/status codes: $clients 2xx/, '... and streams of HTTP/2';
        $expected += $clients;
    }
    my @hold = map { $httpd->ask("/address/x?id=hold$_&until=go") } 1 .. $clients;
    $httpd->zone_becomes('all', 'each has one permit, and the others wait', Active => $limit,
                         Queued => $clients - $limit);
    server_becomes($httpd, '... before the filter, without a worker where they can be parked',
                   $combo->{mpm} eq 'event' ? 'AdmissionParked' : 'AdmissionBlocked',
                   $clients - $limit);
    $httpd->serves('go', '... until they are served', @hold);
    cmp_ok $watch->most, '<=', $limit, 'no more programs ran than the limit';
    $httpd->zone_becomes('all', 'each was counted once', Active => 0, Queued => 0,
                         Admitted => $expected);
    is $httpd->status->{AdmissionTicketsIgnored}, 0, '... and no ticket was ignored';

    is $httpd->get('/loop/')->{status}, 503,
        'a request that is sent to itself in a loop is rejected before it takes all workers';
    $httpd->zone_becomes('all', '... and is counted', Active => 0, RejectedReserve => 1);
    $httpd->expect_in_log(qr/ADM0202: .* sent it to itself 10 times, .* loop/);
}

# If the request that mod_proxy sends to this server fails, the error page of the first one is
# a program of the same zone: it asks for its own permit, also if the record of the permit
# belongs to another request by then.
sub error_pages_have_their_own {
    my ($httpd) = @_;
    my $watch = $httpd->watch;
    my @line = map { $httpd->ask($_) }
               map { ("/failing/fails.cgi?$_", "/cgi-bin/page?id=other$_&ms=30") } 1 .. 8;

    is_deeply statuses(answers(@line)), { 200 => 8, 500 => 8 }, 'all requests get their response';
    is $watch->most, 1, 'error pages and other programs run one at a time';
}

sub tickets_in { return $_[0] =~ /^Admission-Ticket: (.*?)\r?$/mgi }

# @return the ticket that a filter was sent.
sub only_filters_see_tickets {
    my ($httpd, $combo) = @_;
    my @claimed = (headers => [ 'Admission-Ticket: claimed', 'admission-ticket: again' ]);

    for my $shown ('/shown', sends_http2($combo) ? '/shown2' : ()) {
        my $body = $httpd->get("$shown/shown.cgi")->{body};
        like $body, qr/REQUEST_METHOD/, "$shown: a program prints its environment";
        unlike $body, qr/ADMISSION_TICKET=\S+\//, '... which does not have the ticket';
    }
    seen($httpd);
    SKIP: {
        skip 'this machine has no other address', 2 if !address_outside();
        for my $request ([], \@claimed) {
            is $httpd->get('/foreign/static.txt', @$request)->{status}, 200, 'a backend at an outside address';
            like my $seen = seen($httpd), qr/^Host: /m, '... gets the request';
            unlike $seen, qr/Admission-Ticket/i, '... without a ticket, of ours or of a client';
        }
    }
    is $httpd->get('/free/unlimited/x', @claimed)->{status}, 200, 'a request without a limit';
    is_deeply [ tickets_in(seen($httpd)) ], [], '... is sent to a filter without a ticket';
    $httpd->ask('/free/unlimited/x', method => 'POST',
                headers => [ 'Transfer-Encoding: chunked', 'Trailer: Admission-Ticket' ])
        ->send("1\r\nx\r\n0\r\nAdmission-Ticket: trailed\r\n\r\n")->answer;
    unlike seen($httpd), qr/trailed/, '... nor with one that comes behind a body';
    my $before = $httpd->status->{AdmissionTicketsIgnored};
    is $httpd->get('/address/x?id=first', headers => ['Admission-Ticket: claimed'])->{status}, 200,
        'a request with a permit';
    my ($ticket, @others) = tickets_in(seen($httpd));
    like $ticket, qr{^hops=1/\w{16} m[0-9a-f.]+/\w{16}$}, '... is sent with a ticket of ours';
    unlike $ticket, qr/\w{17}/, '... which has none of what only the server knows';
    is_deeply \@others, [], '... and with no other';
    is $httpd->status->{AdmissionTicketsIgnored}, $before + 1, 'the client\'s ticket was counted';
    return $ticket;
}

# What others might try, with a ticket that was good once.
sub forged {
    my ($ticket, $n) = @_;
    my ($hops, $word) = $ticket =~ m{^(hops=\d+/\w+) (\S+)$} or die "what is $ticket?\n";
    my ($name, $mac) = split m{/}, $word;
    my @ways = (
        'claimed', '', '/', 'm/', $name, "$name/", "$name/" . '0' x 16, "/$mac", "x$word",
        "$word$word", "s" . substr($word, 1), $hops, "$hops $hops", "hops=0/$mac",
        "m1.1/$mac", "m1.0/$mac", 'm' . 'f' x 16 . ".1.1/$mac", "$word " . 'x' x 2000,
        ($word =~ s/\.(\w)/'.' . ($1 eq '0' ? '1' : '0')/er), "$name/" . reverse($mac),
        "\x{ff}\x{fe}", "$hops $word $word", $ticket, join ' ', ($word) x 30);

    return $ways[ $n % @ways ];
}

sub others_wait {
    my ($httpd, $ticket) = @_;
    my $ignored = sub { $httpd->status->{AdmissionTicketsIgnored} };
    my @hold = map { $httpd->ask("/cgi-bin/x?id=hold$_&until=forgers") } 1 .. $limit;
    my $before = $ignored->();

    $httpd->zone_becomes('all', 'the zone is full', Active => $limit);
    my $stale = $httpd->ask('/cgi-bin/x?id=stale', headers => ["Admission-Ticket: $ticket"]);
    $httpd->zone_becomes('all', 'a ticket that has ended waits like any other client',
                         Active => $limit, Queued => 1);
    is $ignored->(), $before + 1, '... and was counted';

    my $watch = $httpd->watch;
    my @line = map {
        $httpd->ask("/cgi-bin/x?id=forger$_&ms=10",
                    headers => [ 'Admission-Ticket: ' . forged($ticket, $_) ])
    } 1 .. $forgers;
    $httpd->zone_becomes('all', "$forgers forgers wait", Active => $limit, Queued => 1 + $forgers);
    $httpd->serves('forgers', '... until they are served', @hold, $stale, @line);
    cmp_ok $watch->most, '<=', $limit, 'with never more programs than the limit';
    cmp_ok $ignored->(), '>=', $before + 1 + $forgers - 8, 'they were counted';

    # One request at a time: the ticket is good for one of two.
    my $one = $httpd->ask('/twice/x?id=twice&until=both');
    $httpd->zone_becomes('all', 'a filter sends two requests for one', Active => 2);
    my $other = $httpd->ask('/cgi-bin/x?id=other&until=both');
    $httpd->zone_becomes('all', '... which need two permits', Active => 2, Queued => 1);
    wait_for { $httpd->live_programs_now == 2 } '... for two programs';
    $httpd->serves('both', 'all requests get their response', $one, $other);
    seen($httpd);
}

# The header of a request that holds a permit, without which the filter has sent it on.
sub only_the_ticket_itself_counts {
    my ($httpd) = @_;
    my $runs = $httpd->ask('/drop/x?id=lives&until=lives');
    my $ask = sub { $httpd->get('/cgi-bin/drop/x', headers => ["Admission-Ticket: $_[0]"])->{status} };

    $httpd->expect_rejections('drop', 'waited too long');
    $httpd->zone_becomes('drop', 'all permits are taken', Active => $limit);
    my ($ticket) = tickets_in(seen($httpd));
    is $ask->($ticket =~ s/(.)\z/$1 eq '0' ? 1 : 0/er), 503, 'a ticket with another MAC has no permit';
    is $ask->($ticket), 200, 'the ticket itself has one';
    $httpd->serves('lives', 'the running request gets its response', $runs);
}

# The filter drops the header: requests wait for each other, until a timeout. If all permits are
# held by programs, or by a backend on this machine, no request waits for itself.
sub a_circle_is_told {
    my ($httpd) = @_;
    my $told = sub { scalar grep { /ADM0215/ } $httpd->error_log };
    my $ask = sub { my ($path, $n) = @_; return map { $httpd->ask("$path?id=$_&ms=10") } 1 .. $n };

    for my $slow (qw(cgi-bin/drop app)) {
        my $gate = $slow =~ s{/}{-}r;
        my @hold = map { $httpd->ask("/$slow/x?id=slow$_&until=$gate") } 1 .. $limit;
        $httpd->zone_becomes('drop', "$slow is busy", Active => $limit);
        is_deeply statuses(answers($ask->("/$slow/x", 3))), { 503 => 3 }, 'others wait too long';
        $httpd->serves($gate, '... the first ones are served', @hold);
        is $told->(), 0, '... and the log has no message about a circle';
    }
    cmp_ok statuses(answers($ask->('/drop/x', 6)))->{503} // 0, '>', 0, 'some clients are rejected';
    $httpd->expect_in_log(qr/admission:warn.*ADM0215: zone drop: .*wait for each other/);
    wait_for { $told->() } '... and the log has the cause';
    answers($ask->('/drop/x', 6));
    is $told->(), 1, '... once a minute';
}

for_each_combo(sub ($combo) {
    my ($httpd, @ways) = start_with_filters($combo);

    each_has_one_permit($httpd, $combo, @ways);
    error_pages_have_their_own($httpd);
    others_wait($httpd, only_filters_see_tickets($httpd, $combo));
    only_the_ticket_itself_counts($httpd);
    a_circle_is_told($httpd);
});

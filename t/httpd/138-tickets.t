# The header that brings a permit along is worth nothing to a client, and to a program of
# this machine no more than the permit that is held for it.

use AdmissionTest;
use AdmissionTest::Relay;

needs_modules(qw(proxy proxy_http));

my ($limit, $forgers) = (2, 50);

sub tickets_in { return $_[0] =~ /^Admission-Ticket: (.*?)\r?$/mgi }

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

for_each_combo(sub {
    my $httpd = new_httpd(workers => 120, modules => [qw(proxy proxy_http)]);
    my $relay = start_relay();
    my $twice = start_relay(each => 2);
    $httpd->allow_in_log(qr/ADM0105: /);
    $httpd->configure(<<"CONF" . join '',
AdmissionReserve 1
MaxConcurrent $limit
AdmissionZone all
AdmissionQueue 100 timeout=300s
CONF
        virtual_host('test.example', "ProxyPass /pass/ http://127.0.0.1:$relay->{port}/cgi-bin/",
            "ProxyPass /twice/ http://127.0.0.1:$twice->{port}/cgi-bin/",
            location('/free/', 'MaxConcurrent off', "ProxyPass http://127.0.0.1:$relay->{port}/cgi-bin/"),
            location('/merged/', 'MaxConcurrent off', "ProxyPass http://127.0.0.1:$relay->{port}/cgi-bin/"),
            'MergeTrailers On'),
        virtual_host('inner.test', location('/cgi-bin/unlimited/', 'MaxConcurrent off')));
    $httpd->start;
    $_->leads_to($httpd) for $relay, $twice;
    my $ignored = sub { $httpd->status->{AdmissionTicketsIgnored} };

    # What a client says is not sent on, with a ticket of ours or without.
    is $httpd->get('/pass/x?id=first', headers => ['Admission-Ticket: claimed'])->{status}, 200,
        'a request is sent to the filter';
    my @sent = tickets_in($relay->seen);
    is @sent, 1, '... with one ticket';
    my ($ticket) = @sent;
    like $ticket, qr{^hops=1/\w{16} m[0-9a-f.]+/\w{16}$}, '... that is ours';
    unlike $ticket, qr/\w{17}/, '... and has none of what only the server knows';
    is $ignored->(), 1, 'the client\'s ticket was counted';
    $relay->forget;
    is $httpd->get('/free/unlimited/x', headers => ['Admission-Ticket: claimed',
                                                    'admission-ticket: again'])->{status},
        200, 'a request without a limit';
    is_deeply [ tickets_in($relay->seen) ], [], '... is sent without a ticket';
    $relay->forget;
    my $client = $httpd->connect->send(
        "POST /merged/unlimited/x HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n"
        . "Transfer-Encoding: chunked\r\nTrailer: Admission-Ticket\r\n\r\n"
        . "1\r\nx\r\n0\r\nAdmission-Ticket: trailed\r\n\r\n");
    $client->answer;
    unlike $relay->seen, qr/trailed/, '... nor with one that comes behind a body';

    # Its request has ended.
    my @hold = map { $httpd->ask("/cgi-bin/x?id=hold$_&until=go") } 1 .. $limit;
    $httpd->zone_becomes('all', 'the zone is full', Active => $limit);
    my $before = $ignored->();
    my $stale = $httpd->ask('/cgi-bin/x?id=stale', headers => ["Admission-Ticket: $ticket"]);
    $httpd->zone_becomes('all', 'a ticket that has ended waits like any other client',
                         Active => $limit, Queued => 1);
    is $ignored->(), $before + 1, '... and was counted';

    # Everything that comes to mind, 50 at a time.
    my $watch = $httpd->watch;
    $before = $ignored->();
    my @line = map {
        $httpd->ask("/cgi-bin/x?id=forger$_&ms=10",
                    headers => ['Admission-Ticket: ' . forged($ticket, $_)])
    } 1 .. $forgers;
    $httpd->zone_becomes('all', "$forgers forgers wait", Active => $limit, Queued => 1 + $forgers);
    $httpd->serves('go', '... until they are served', @hold, $stale, @line);
    cmp_ok $watch->most, '<=', $limit, 'with never more programs than the limit';
    cmp_ok $ignored->(), '>=', $before + $forgers - 8, 'they were counted';

    # One request at a time: the ticket is good for one of two.
    my $one = $httpd->ask('/twice/x?id=twice&until=both');
    $httpd->zone_becomes('all', 'a filter sends two requests for one', Active => 2);
    my $other = $httpd->ask('/cgi-bin/x?id=other&until=both');
    $httpd->zone_becomes('all', '... which need two permits', Active => 2, Queued => 1);
    is $httpd->live_programs_now, 2, '... for two programs';
    $httpd->serves('both', 'all requests get their response', $one, $other);
}, qw(prefork+cgi worker+cgid event+cgid));

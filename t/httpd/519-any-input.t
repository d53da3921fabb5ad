# Any query, form and ticket header gets a response of the module or of httpd, never crashes a
# child, and sets no value that an administrator could not have set.
#
# The inputs are random mutations of valid ones; the seed is printed. ADMISSION_INPUTS is the
# number of inputs of each kind, ADMISSION_SEED another seed.

use AdmissionTest;

my $NUMBER = $ENV{ADMISSION_INPUTS} // 300;
my $SEED = $ENV{ADMISSION_SEED} // 1;
my $ZONE = 'test.example%3A%2Fcgi-bin%2F';
my $MAC = '0123456789abcdef';

my %VALID = (
    query => [ 'json', 'prometheus', 'style', "zone=$ZONE", "json&zone=$ZONE", 'filter=cgi', 'ready',
               "ready&zone=$ZONE", "json&who=$ZONE", "json&history=$ZONE", 'auto',
               'explain=/cgi-bin/heavy&method=POST&host=test.example', 'explain=/&json',
               'explain=http://test.example/%2e%2e/x%00?a=b&header=X%3A+y' ],
    form  => [ "zone=$ZONE&limit=3", "zone=$ZONE&queue=7", "zone=$ZONE&mode=open",
               "limit=config&queue=config&mode=config&zone=$ZONE" ],
    ticket => [ "hops=1/$MAC", "hops=1/$MAC m1.1.1/$MAC", "hops=9/$MAC m1.2.3/$MAC s1.2.4/$MAC" ],
);
my @TOKENS = ('&', '=', '%00', '%', '%ff', '%0a', '+', 'zone', 'limit', 'config', '-1', '0', '65536',
              '99999999999999999999', '/', 'hops=', ' ', 'm', '.', '..', "\xff", '%e4%b8', 'x' x 2000, '');

sub mutated {
    my ($text) = @_;

    for (0 .. rand 4) {
        my ($at, $length) = (int rand 1 + length $text, int rand 8);
        my $piece = substr $text, $at, $length;
        my @ways = ('', $piece x 2, $TOKENS[ rand @TOKENS ], chr(33 + rand 94), $TOKENS[ rand @TOKENS ] . $piece);
        substr $text, $at, $length, $ways[ rand @ways ];
    }
    return $text;
}

# Assertion: all responses, on keep-alive connections, have these statuses. @return
# { status => number }
sub are_answered {
    my ($what, $statuses, $httpd, $send) = @_;
    my %is_expected = map { $_ => 1 } @$statuses;
    my $client = $httpd->connect;
    my %count;

    for (1 .. $NUMBER) {
        $client = $httpd->connect if $client->{ended};
        my ($answer) = answers($send->($client));
        $count{ $answer->{status} }++;
    }
    note join ', ', map { "$_: $count{$_}" } sort keys %count;
    is_deeply [ grep { !$is_expected{$_} } sort keys %count ], [], $what;
    return \%count;
}

for_each_combo(sub {
    my $httpd = start_httpd(modules => [qw(proxy proxy_http)], conf =>
        "KeepAlive On\nMaxKeepAliveRequests 0\n"
        . location('/control', 'SetHandler admission-control')
        . location('/cgi-bin/', 'MaxConcurrent 4', 'AdmissionQueue 9'));
    $httpd->allow_in_log(qr/ADM0(?:202|207|208|215)/, qr/AH\d+/);
    note "ADMISSION_SEED=$SEED";
    srand $SEED;

    are_answered('queries: served or rejected', [ 200, 400, 404, 405, 503 ], $httpd, sub {
        my $query = mutated($VALID{query}[ rand @{ $VALID{query} } ]) =~ s/([\0- \x7f-\xff])/sprintf '%%%02X', ord $1/ger;
        my $page = rand() < 0.8 ? '/control' : '/server-status';
        return $_[0]->ask("$page?$query", keep => 1);
    });
    are_answered('forms: applied or rejected', [ 200, 400, 404, 413 ], $httpd, sub {
        return $_[0]->ask('/control', keep => 1, method => 'POST', body => mutated($VALID{form}[ rand @{ $VALID{form} } ]),
                          headers => [ 'Content-Type: application/x-www-form-urlencoded', 'X-Admission-Control: 1' ]);
    });
    my $zone = $httpd->zone('/cgi-bin/');
    cmp_ok $zone->{$_->[0]}, '>=', $_->[1], "$_->[0] is in range" for [ Limit => 1 ], [ QueueLength => 0 ];
    cmp_ok $zone->{$_}, '<=', 65535, "$_ is in range" for qw(Limit QueueLength);
    is $httpd->order('/control', "zone=$ZONE&limit=config&queue=config&mode=config")->{status}, 200,
        'an override after that';
    $httpd->zone_becomes('/cgi-bin/', '... applies', Limit => 4, QueueLength => 9, Mode => 'open');

    my $before = $httpd->zone('/cgi-bin/')->{Admitted};
    my $count = are_answered('tickets: served, or rejected by httpd', [ 200, 400 ], $httpd, sub {
        my $ticket = mutated($VALID{ticket}[ rand @{ $VALID{ticket} } ]) =~ s/[\r\n\0]//gr;
        return $_[0]->ask('/cgi-bin/heavy', keep => 1, headers => [ "Admission-Ticket: $ticket" ]);
    });
    $httpd->zone_becomes('/cgi-bin/', '... and each request has its own permit', Active => 0, Queued => 0,
                         Admitted => $before + $count->{200});
}, 'event+cgid', 'prefork+cgi');

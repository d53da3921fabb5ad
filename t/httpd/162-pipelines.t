# Pipelined requests behind, before and after one that waits, blocked or parked: all are answered,
# in their order, whatever their method, and only one of a connection is in the queue at a time.

use AdmissionTest;

my $zone = '/cgi-bin/';

# What an answer is of.
sub names { map { $_->{body} =~ /^(?:heavy )?(\S+)/ ? $1 : $_->{status} } @_ }

for_each_combo(sub ($combo) {
    my $parks = $combo->{mpm} eq 'event' && Admission::Parking::can_park();
    my $start = $parks ? \&start_parking_httpd : \&start_httpd;
    my $httpd = $start->(conf => location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 14'));
    my $heavy = sub {
        my ($client, $name, @options) = @_;
        return $client->ask("/cgi-bin/heavy?id=$name", keep => 1, @options);
    };
    my $waits = sub {
        my ($what, $number) = @_;
        $httpd->zone_becomes($zone, $what, Queued => $number);
        my %waits = (AdmissionParked => 0, AdmissionBlocked => 0,
                     ($parks ? 'AdmissionParked' : 'AdmissionBlocked') => $number);
        server_becomes($httpd, $parks ? '... parked' : '... with a worker', %waits);
    };

    my ($hold) = ask_line($httpd, 'mixed', 0, $zone);
    my $mixed = $httpd->connect->ask('/static.txt', keep => 1);
    $heavy->($mixed, 'get');
    $mixed->ask('/static.txt', keep => 1);
    $heavy->($mixed, 'post', method => 'POST', body => 'x' x 5000);
    $heavy->($mixed, 'head', method => 'HEAD');
    $mixed->ask('/missing.txt', keep => 1);
    $heavy->($mixed, 'options', method => 'OPTIONS');
    $heavy->($mixed, '-', headers => ['Range: bytes=0-4']);
    $heavy->($mixed, 'last');
    $waits->('of a whole pipeline one request waits', 1);
    is_deeply [ names($mixed->answer) ], ['static'],
        'what came before it is answered without delay';
    $httpd->serves('mixed', 'the running request gets its response', $hold);
    my @rest = map { $mixed->answer } 1 .. 8;
    my $range = splice @rest, 6, 1;
    is_deeply [ names(@rest) ], [ qw(get static post 200 <!DOCTYPE options last) ],
        'what came behind it is answered in order, with and without body';
    like $rest[2]{body}, qr/^body 5000$/m, 'the body of a pipelined POST arrives';
    # httpd has the whole of a short answer at once, or not.
    my %whole = (206 => 'heavy', 200 => "heavy -\nbody 0\n");
    is $range->{body}, $whole{ $range->{status} } // 'another status',
        'Range is answered with a part, or all';
    is $mixed->ask('/static.txt', keep => 1)->answer->{body}, "static\n",
        'the connection stays open';
    $mixed->leave;

    # A request that comes in two halves, of which the second is late: other MPMs close its
    # connection after the first response, also without a limit.
    if ($parks) {
        ($hold) = ask_line($httpd, 'half', 0, $zone);
        my $half = $heavy->($httpd->connect, 'whole');
        $half->send("GET /cgi-bin/heavy?id=hal");
        $waits->('half a request behind a waiting one does not wake it', 1);
        $httpd->open_gate('half');
        is_deeply [ names($hold->answer, $half->answer) ], [qw(half-runs whole)],
            'the whole one is answered';
        $half->send("f HTTP/1.1\r\nHost: test.example\r\n\r\n");
        is_deeply [ names($half->answer) ], ['half'], 'then the half one';
        $half->leave;
    }

    # Every request of every pipeline waits for those of all others.
    my ($pipelines, $length) = (8, 6);
    ($hold) = ask_line($httpd, 'many', 0, $zone);
    my @many = map { $httpd->connect } 1 .. $pipelines;
    for my $n (1 .. $length) {
        $heavy->($many[$_], "$_-$n") for 0 .. $#many;
    }
    $waits->("$pipelines pipelines of $length requests: one of each waits", $pipelines);
    $httpd->serves('many', 'the running request gets its response', $hold);
    is_deeply [ map { my $n = $_; names(answers(@many)) } 1 .. $length ],
        [ map { my $n = $_; map { "$_-$n" } 0 .. $#many } 1 .. $length ],
        'each pipeline is answered in its order';
    $_->leave for @many;

    $httpd->zone_becomes($zone, 'each was counted once', Active => 0, Queued => 0, Gone => 0,
                         Admitted => 1 + 6 + ($parks ? 3 : 0) + 1 + $pipelines * $length);
}, qw(prefork+cgi worker+cgid event+cgid event+cgi event+cgid+completion));

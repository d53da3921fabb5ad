# Pipelined requests behind, before and after a parked one: all are answered,
# in their order, and only one of a connection stands in line at a time.

use AdmissionTest;
use AdmissionTest::Parking;

my $zone = '/cgi-bin/';

# What an answer is of.
sub names { map { $_->{body} =~ /^(?:heavy )?(\S+)/ ? $1 : $_->{status} } @_ }

for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 50'));
    my $heavy = sub {
        my ($client, $name, @options) = @_;
        return $client->ask("/cgi-bin/heavy?id=$name", keep => 1, @options);
    };

    my $hold = $httpd->ask('/cgi-bin/heavy?id=hold&until=mixed');
    $httpd->zone_becomes($zone, 'one runs', Active => 1);
    my $mixed = $httpd->connect->ask('/static.txt', keep => 1);
    $heavy->($mixed, 'get');
    $mixed->ask('/static.txt', keep => 1);
    $heavy->($mixed, 'post', method => 'POST', body => 'x' x 5000);
    $heavy->($mixed, 'head', method => 'HEAD');
    $mixed->ask('/missing.txt', keep => 1);
    $heavy->($mixed, 'last');
    $httpd->zone_becomes($zone, 'of a whole pipeline one request waits', Queued => 1);
    server_becomes($httpd, '... parked', AdmissionParked => 1, AdmissionBlocked => 0);
    is_deeply [ names($mixed->answer) ], ['static'],
        'what came before it is answered without delay';
    $httpd->serves('mixed', 'the running request gets its response', $hold);
    my @rest = map { $mixed->answer } 1 .. 6;
    is_deeply [ names(@rest) ], [ qw(get static post 200 <!DOCTYPE last) ],
        'what came behind it is answered in order, with and without body';
    like $rest[2]{body}, qr/^body 5000$/m, 'the body of a pipelined POST arrives';
    is $mixed->ask('/static.txt', keep => 1)->answer->{body}, "static\n", 'the connection stays open';

    # A request that comes in two halves, of which the second is late.
    ($hold) = ask_line($httpd, 'half', 0, $zone);
    my $half = $heavy->($httpd->connect, 'whole');
    $half->send("GET /cgi-bin/heavy?id=hal");
    server_becomes($httpd, 'half a request behind a parked one does not wake it',
                   AdmissionParked => 1, AdmissionBlocked => 0);
    $httpd->open_gate('half');
    is_deeply [ names($hold->answer, $half->answer) ], [qw(half-runs whole)],
        'the whole one is answered';
    $half->send("f HTTP/1.1\r\nHost: test.example\r\n\r\n");
    is_deeply [ names($half->answer) ], ['half'], 'then the half one';

    # Every request of every pipeline waits for those of all others.
    my ($pipelines, $length) = (8, 6);
    ($hold) = ask_line($httpd, 'many', 0, $zone);
    my @many = map { $httpd->connect } 1 .. $pipelines;
    for my $n (1 .. $length) {
        $heavy->($many[$_], "$_-$n") for 0 .. $#many;
    }
    server_becomes($httpd, "$pipelines pipelines of $length requests: one of each is parked",
                   AdmissionParked => $pipelines, AdmissionBlocked => 0);
    $httpd->serves('many', 'the running request gets its response', $hold);
    is_deeply [ map { my $n = $_; names(answers(@many)) } 1 .. $length ],
        [ map { my $n = $_; map { "$_-$n" } 0 .. $#many } 1 .. $length ],
        'each pipeline is answered in its order';

    is $httpd->zone($zone)->{Gone}, 0, 'no client is counted as disconnected';
}, 'event+cgid', 'event+cgid+completion');

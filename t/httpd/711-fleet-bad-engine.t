# Engines that are none, or say what cannot be: each is told in one line a minute, httpd
# goes on, the fallback holds, and never more run than MaxConcurrent says.

use AdmissionTest;
use AdmissionTest::FakeRedis;

use Time::HiRes qw(sleep time);

engine_or_skip();

my $fake = AdmissionTest::FakeRedis->start;
my ($ok, $array, $bulk) = map { AdmissionTest::FakeRedis->can($_) } qw(granted array bulk);

sub conf {
    my ($fallback) = @_;
    return fleet_zone("redis://127.0.0.1:$fake->{port} timeout=1s", "lease=3s hold=1s fallback=$fallback", 3,
                      'AdmissionQueue 10 timeout=60s');
}

my $TOLD = qr/ADM0141|ADM0152/;

# What the fake says, and why that is no engine.
my @bad = (
    [ 'garbage',                 qr/Protocol error/,           EVALSHA => "!?garbage\r\n" ],
    [ 'an HTTP server',          qr/Protocol error/,           INFO => "HTTP/1.1 400 Bad Request\r\n\r\n" ],
    [ 'another kind of engine',  qr/it is not Redis/,           INFO => $bulk->("server:other\r\n") ],
    [ 'a Sentinel',              qr/it is a Sentinel, and/,    INFO => $bulk->("redis_mode:sentinel\r\nrun_id:" . 'a' x 40 . "\r\n") ],
    [ 'a node of a Cluster',     qr/it is a node of a Cluster, which is not supported: use one Redis/,
      INFO => $bulk->("redis_mode:cluster\r\nrun_id:" . 'a' x 40 . "\r\n") ],
    [ 'a replica',               qr/it is a replica/,          ROLE => "*3\r\n" . $bulk->('slave') . ":0\r\n*0\r\n" ],
    [ 'READONLY',                qr/READONLY You can't/,       EVALSHA => "-READONLY You can't write against a read only replica.\r\n" ],
    [ 'no right',                qr/NOPERM this user/,         SCRIPT => "-NOPERM this user has no permissions\r\n" ],
    [ 'a password is wanted',    qr/NOAUTH/,                   INFO => "-NOAUTH Authentication required.\r\n" ],
    [ 'a text without an end',   qr/too large/,                EVALSHA => "\$900000000\r\n" ],
    [ 'an array without an end', qr/too large/,                EVALSHA => "*2000000\r\n" ],
    [ 'arrays without an end',   qr/too large/,                EVALSHA => "*256\r\n" . $array->(('x' x 1000) x 250) ],
    [ 'too many words',          qr/unexpected reply/,   EVALSHA => $array->('ok', ('now') x 40) ],
    [ 'a negative share',        qr/unexpected reply/,   EVALSHA => $array->('ok', 1, 1, -5, -5, 1, 1, 1, 0, 1, 0, 0, 0) ],
    [ 'a share above its grant', qr/unexpected reply/,   EVALSHA => $array->('ok', 1, 1, 1, 2, 1, 1, 1, 0, 1, 0, 0, 0) ],
    [ 'an unknown word',         qr/unexpected reply/,   EVALSHA => $array->('yes', 1) ],
    [ 'a wrong list of servers', qr/unexpected reply/,
      EVALSHA => "*14\r\n" . $ok->(1) =~ s/^\*13\r\n//r . $array->('a', 1, 1) ],
    [ 'a key of another type',   qr/ADM0152: zone db: the engine \S+ rejects the zone: WRONGTYPE/,
      EVALSHA => "-WRONGTYPE Operation against a key\r\n" ],
    [ 'silence',                 qr/does not answer in time/,  EVALSHA => 'nothing' ],
    [ 'silence from the start',  qr/cannot be connected in time/, map { $_ => 'nothing' } qw(INFO ROLE SCRIPT TIME SUBSCRIBE) ],
);

sub lines { my ($httpd, $pattern) = @_; return scalar(() = $httpd->slurp('error.log') =~ /$pattern/g) }

# A reload for each: a new agent, which may tell again.
sub is_told {
    my ($httpd, $what, $pattern, %says) = @_;
    my ($agent) = $httpd->agents;
    my (@lines, $next, $told);

    $fake->says(%says);
    # Again where a busy machine was too late for the connection.
    for (1 .. 5) {
        $httpd->graceful;
        $agent = $next = $httpd->next_agent($agent, "$what: a reload");
        $told = sub { @lines = grep { /\[pid $next:.*(?:$TOLD)/ } split /\n/, $httpd->slurp('error.log') };
        wait_for { $told->() } '... there is a queue';
        last if $lines[0] =~ $pattern || $lines[0] !~ /connected in time/;
    }
    like $lines[0], $pattern, '... that says it';
    if ($what eq $bad[0][0]) {
        my $errors = $httpd->status->{AdmissionEngineErrors};
        wait_for { $httpd->status->{AdmissionEngineErrors} > $errors + 2 } '... while it tries again';
    }
    is scalar($told->()), 1, '... in one line';
    cmp_ok $httpd->resident_kb($httpd->agents), '<', 100_000, '... and little memory';
}

for_each_combo(sub {
    $fake->says;
    my $httpd = start_httpd(workers => 40, conf => conf('reject'));
    $httpd->allow_in_log(qr/ADM0105/, $TOLD, qr/ADM0142/, qr/ADM014[34]/, qr/AH10246/);
    $httpd->expect_in_log(qr/ADM0146: zone db: .*late/, qr/ADM0147: zone db: MaxConcurrent is 3 here and 1 on/,
                          qr/ADM0202: zone db: request rejected \(fleet\): the lease of this server/);
    wait_for { $httpd->zone('db')->{FleetLimit} == 1 } 'a Redis that is right grants a share';
    wait_for { lines($httpd, qr/ADM0147/) == 1 } 'another server states a lower limit: told';
    is_told($httpd, @$_) for @bad;

    $httpd->zone_becomes('db', 'no engine, the lease ends', FleetState => 'fallback');
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, '... fallback=reject holds';

    # Never more than the own limit, whatever is granted.
    $fake->says(EVALSHA => $ok->(900) =~ s/:\d{10,}\r/:now\r/gr);
    wait_for { $httpd->zone('db')->{FleetState} eq 'leased' } 'an engine that grants 900';
    my @asked = map { $httpd->ask('/cgi-bin/heavy?until=go') } 1 .. 5;
    $httpd->zone_becomes('db', '... three run', Active => 3, Queued => 2, FleetShare => 3);
    $httpd->serves('go', '... and all are served', @asked);

    my $late = lines($httpd, qr/ADM0146/);
    $fake->says(EVALSHA => "*3\r\n" . $bulk->('late') . ":now\r\n:5000\r\n");
    wait_for { $httpd->status->{AdmissionEngineLate} > 1 } 'an engine whose clock jumps again and again';
    is lines($httpd, qr/ADM0146/), $late + 1, '... is told of once';
    $httpd->zone_becomes('db', '... and the lease ends', FleetState => 'fallback');

    # One that knows no name.
    $fake->says(EVALSHA => "*3\r\n" . $bulk->('stale') . ":now\r\n:5\r\n");
    my ($agent) = $httpd->agents;
    my $stale = sub { return $httpd->status->{AdmissionEngineStale} };
    my $least = $stale->();
    $httpd->graceful;
    $httpd->next_agent($agent, 'a reload');
    wait_for { $stale->() > $least } 'another server is said to have each name';
    my ($began, $before) = (time, $stale->());
    sleep 0.5;
    my $often = $stale->() - $before;
    cmp_ok $often, '<=', 2 + 5 * (time - $began), '... is asked rarely';
}, 'event+cgid');

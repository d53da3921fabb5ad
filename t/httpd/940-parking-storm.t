# Everything at once and at random: parked clients that wait, give up, pipeline,
# post, are rejected for waiting too long, and reloads in between. Who stays
# gets its own answer, and in the end nothing is left over.
# With mod_cgi: a reload takes mod_cgid's daemon from requests that it runs.
# SEED=number repeats the random choices of an earlier run; ADMISSION_SLOW=1
# makes it longer.

use AdmissionTest;
use Time::HiRes qw(sleep time);

my $zone    = '/cgi-bin/';
my $limit   = 3;
my $clients = 80;
my $seconds = $ENV{ADMISSION_SLOW} ? 30 : 4;
my $seed    = $ENV{SEED} // int(time) ^ $$;

note "SEED=$seed";

# What a client may do next: it asks for one thing or several, and remembers
# what it must get.
sub ask_something {
    my ($client, $number) = @_;
    my $kind = int rand 5;
    my @ids  = map { "$number-$_" } 1 .. ($kind == 0 ? 4 : 1);

    @{$client}{qw(asked_at kind)} = (time, (qw(pipeline stream post static one))[$kind]);

    for my $id (@ids) {
        my $ms  = int rand 8;
        my $url = "/cgi-bin/heavy?id=$id&ms=$ms" . ($kind == 1 ? '&stream=5000' : '');
        my @body = $kind == 2 ? (method => 'POST', body => 'x' x int rand 50_000) : ();
        $client->{has_posted} ||= @body > 0;
        $client->ask($url, keep => 1, @body);
    }
    if ($kind == 3) {
        push @ids, 'static';
        $client->ask('/static.txt', keep => 1);
    }
    push @{ $client->{wanted} }, @ids;
}

for_each_parking_combo(sub {
    srand $seed;
    my $httpd = start_parking_httpd(children => 2, conf =>
        "MaxKeepAliveRequests 0\n"
        . location('/cgi-bin/', "MaxConcurrent $limit", 'AdmissionQueue 300 timeout=200ms'));
    my $watch = $httpd->watch;
    my $end   = time + $seconds;
    my ($number, $answers, $left, $rejected, $reloads) = (0) x 5;
    my (@wrong, @clients);

    my $leave = sub {
        my ($client) = @_;
        $left++;
        rand() < 0.5 ? $client->abort : $client->leave;
    };
    # Takes what has come. The server may close a connection that it keeps
    # alive, and one on which it rejects; else it answers all that was asked.
    my $take = sub {
        my ($client) = @_;
        while (@{ $client->{wanted} }) {
            $client->read_some while IO::Select->new($client->{socket})->can_read(0)
                                     && !$client->{ended};
            my $answer = $client->take_answer // return 1;
            return 0 if $answer->{status} == 0 && $client->{may_close};
            my $wanted = shift @{ $client->{wanted} };
            my $got = $answer->{body} =~ /^(?:heavy )?(\S+)/ ? $1 : '';
            $answers++;
            $rejected++ if $answer->{status} == 503;
            push @wrong, sprintf '%s: %s %s (%s, %.3f s, ended by %s, reloads %d)', $wanted,
                     $answer->{status}, $got, $client->{kind}, time - $client->{asked_at},
                     $client->{ended_by} // '-', $reloads
                if $answer->{status} != 503 && $got ne $wanted;
            return 0 if $answer->{status} != 200;
            $client->{may_close} = 1;
        }
        return 1;
    };

    my $stays = sub {
        my ($client) = @_;
        return 1 if $take->($client);
        $client->leave;
        return 0;
    };

    # A busy machine gets less done in that time.
    my $is_enough = sub { $left > 20 && $answers - $rejected > 20 };
    while (time < $end || !$is_enough->() && time < $end + 240) {
        while (@clients < $clients) {
            my $client = eval { $httpd->connect } or last;
            ask_something($client, ++$number);
            push @clients, $client;
        }
        for (1 .. 3) {
            # httpd logs an error when somebody leaves while it reads a body.
            my ($any) = splice @clients, rand @clients, 1;
            $any->{has_posted} || rand() > 0.3 ? push @clients, $any : $leave->($any);
        }
        @clients = grep { $stays->($_) } @clients;
        for my $client (grep { !@{ $_->{wanted} } } @clients) {
            ask_something($client, ++$number) if rand() < 0.7;
        }
        if ($reloads < 2 && $end - time < $seconds * (2 - $reloads) / 3) {
            kill USR1 => $httpd->{pid};
            $reloads++;
        }
        sleep 0.005;
    }
    my $patience = time + 10;
    while (@clients && time < $patience) {
        @clients = grep { @{ $_->{wanted} } && $stays->($_) } @clients;
        sleep 0.005;
    }
    note "$answers answers, $rejected of them rejections; $left clients left";
    is scalar(@clients), 0, 'no request hangs';
    is_deeply \@wrong, [], 'each got what it asked for, or a rejection';
    cmp_ok $answers - $rejected, '>', 20, 'many were answered';
    cmp_ok $left, '>', 20, '... and many left';
    $httpd->zone_becomes($zone, 'the zone is at rest', Active => 0, Queued => 0);
    my $shown = $httpd->zone($zone);
    cmp_ok $rejected, '<=', $shown->{RejectedTimeout} + $shown->{RejectedReserve},
        'the rejected requests had waited too long, or found all workers occupied';
    server_becomes($httpd, 'no request remains parked', AdmissionParked => 0,
                   AdmissionBlocked => 0);
    cmp_ok $watch->most, '<=', $limit, 'the limit was kept';
    wait_for { $httpd->children <= 2 } 'old children are gone';
    $httpd->expect_rejections('test.example:/cgi-bin/', 'long') if $rejected;
    # Requests with a body block. On a slow machine, those of old children still do.
    $httpd->allow_in_log(qr/ADM0202: .*\(reserve\)/);
}, 'event+cgi');

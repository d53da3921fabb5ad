# What is shown of a limit over servers: in all outputs and by admissionctl, with the
# servers that share it, the engine's state, and never the password; the login is that of
# an ACL user who may do no more than the manual says.

use FindBin;
use AdmissionTest;
use AdmissionTest::Outputs;

use JSON::PP ();

engine_or_skip('redis');

my $PROGRAM = "$FindBin::Bin/../../src/control/admissionctl";
my $SECRET = 'do-not-show-this-0815';
my $RIGHTS = '~adm:* &adm:* -@all +evalsha +script|load +hgetall +hset +hdel +pexpire +time '
    . '+publish +subscribe +role +info +select';
my $redis = Admission::Redis->start(conf => ["user fleet on >$SECRET $RIGHTS", 'user default off']);

my $CONF = fleet_zone("redis://127.0.0.1:$redis->{port}/0 user=fleet password-file=password",
                      'lease=3s hold=1s fallback=reject', 4, 'AdmissionQueue 10 timeout=60s')
    . location('/admission', 'SetHandler admission-control')
    . location('/server-info', 'SetHandler server-info')
    . location('/local/', 'MaxConcurrent 2', 'AdmissionZone local');

sub server {
    my $httpd = new_httpd(workers => 40, conf => $CONF);

    $httpd->allow_in_log(map { qr/ADM01$_/ } qw(05 41 42 43 46));
    $httpd->put('../password', "$SECRET\n");
    chmod 0600, "$httpd->{dir}/password";
    return $httpd->start;
}

sub ctl {
    my ($httpd, @words) = @_;
    my $url = $httpd->url('/admission');
    return scalar `'$^X' '$PROGRAM' -u '$url' @words 2>&1 </dev/null`;
}

sub is_shown_everywhere {
    my ($httpd) = @_;
    my $outputs = read_outputs($httpd, 'db');

    for my $output (sort keys %$outputs) {
        my ($server, $zone) = @{ $outputs->{$output} }{qw(server zone)};

        is $server->{EngineState}, 'connected', "$output: the engine is connected";
        is_deeply [ @$zone{qw(FleetState FleetLimit FleetServers)} ], [ 'leased', 4, 2 ],
            '... and the zone has its share';
        cmp_ok $server->{EngineSyncs}, '>', 0, '... of an engine that answers';
        cmp_ok $server->{EngineRoundTripMaxUs}, '>', 0, '... in some time';
    }
}

sub names_sharers {
    my ($httpd, @servers) = @_;
    my ($zone) = @{ JSON::PP::decode_json(ctl($httpd, qw(--json fleet db)))->{zones} };
    my @names = map { $_->{server} } @{ $zone->{sharers}{servers} };

    like $names[0], qr/:$httpd->{port}\z/, 'this server is the first in the list of sharers';
    is scalar(grep { my $port = $_->{port}; grep { /:$port\z/ } @names } @servers), 2, '... which are both';
    is_deeply [ map { $_->{granted} } @{ $zone->{sharers}{servers} } ], [ 3, 0 ], '... with what they have';

    my $said = ctl($httpd, 'fleet');
    like $said, qr/^engine connected, \d+ syncs, \d+ pushes, \d+ errors, round trip mean \d/m, 'admissionctl fleet';
    like $said, qr/^db: leased, limit 4 across 2 servers, 3 granted, 3 wanted; here 3 for \d.* s, 3 running, 0 waiting$/m,
        '... has the zone';
    like $said, qr/^  \S+:$httpd->{port} +3 +3 +3 +\d.* ago  \(this one\)$/m, '... this server';
    like $said, qr/^  \S+:$servers[1]{port} +0 +0 +0 +\d.* ago$/m, '... and the other one';
    like ctl($httpd, qw(fleet local)), qr/The limit of 'local' is not shared/, '... only of limits that are shared';
    like $httpd->get('/admission?zone=db')->{body},
        qr{Limit for 2 servers: 4\. This server may use 3 of them for \d.* s; all servers together hold 3 and need 3\.},
        'the page says it';
    like $httpd->get('/admission')->{body}, qr{data-field="EngineState".*?connected}s, '... and has the engine';
}

sub hides_the_password {
    my ($httpd) = @_;
    my @outputs = ((map { $httpd->get($_)->{body} } '/server-info', '/server-info?config',
                    '/admission', '/admission?zone=db', '/admission?json', '/admission?prometheus'),
                   ctl($httpd, 'fleet'), $httpd->slurp('error.log'),
                   ($httpd->configtest('-D', 'DUMP_ADMISSION', '-D', 'DUMP_CONFIG'))[1]);

    like $outputs[0], qr/AdmissionEngine/, 'mod_info shows the directive';
    like $outputs[-1], qr/^AdmissionEngine.*password-file/m, '... as DUMP_CONFIG does' ;
    is scalar(grep { /\Q$SECRET\E/ } @outputs), 0, '... and nothing shows the password';
}

for_each_combo(sub {
    my @servers = map { server() } 1, 2;
    my $first = $servers[0];
    for my $httpd (@servers) {
        wait_for { my $zone = $httpd->zone('db'); $zone->{FleetState} eq 'leased' && $zone->{FleetServers} == 2 }
            'the servers find each other';
    }
    is_shown_everywhere($first);
    my @held = map { $first->ask('/cgi-bin/heavy?until=go') } 1 .. 3;
    $first->zone_becomes('db', 'three run', Active => 3);
    # The engine is asked for who shares at most once a second.
    wait_for { ctl($first, 'fleet') =~ /3 granted, 3 wanted.*^  \S+:$first->{port} +3 +3 +3 /ms } 'the engine knows';
    names_sharers($first, @servers);
    hides_the_password($first);
    $first->serves('go', 'all are served', @held);

    kill STOP => $redis->{pid};
    wait_for { $first->status->{AdmissionEngineState} eq 'lost' } 'Redis does not reply: lost';
    like $first->get('/admission')->{body}, qr/Not connected to the fleet engine/, '... says the page';
    like ctl($first, 'fleet'), qr/^engine lost/, '... and admissionctl';
    like $first->get('/admission?prometheus')->{body}, qr/^admission_engine_state 2$/m, '... and Prometheus';
    $first->zone_becomes('db', 'the lease ends', FleetState => 'fallback');
    like $first->get('/admission?zone=db')->{body}, qr/lease of this server's share has expired/, '... says the page of the zone';
    kill CONT => $redis->{pid};
    wait_for { $first->status->{AdmissionEngineState} eq 'connected' } 'it goes on: connected';
    $_->stop for @servers;
}, 'event+cgid', 'prefork+cgi');

# admissionctl: shows, orders and measures; says what is wrong; leaves nothing
# behind.

use FindBin;
use AdmissionTest;
use Admission::File 'slurp';
use File::Temp ();
use JSON::PP ();

my $ZONE = 'test.example:/cgi-bin/';
my $PROGRAM = "$FindBin::Bin/../../src/control/admissionctl";
our $url;

# Its output, errors too; dies unless it ends so.
sub ctl {
    my ($expected, @words) = @_;
    local $ENV{ADMISSION_URL} = $url;
    local $ENV{http_proxy} = 'http://127.0.0.1:1';
    open my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1 </dev/null', 'sh', $^X, $PROGRAM, @words
        or die "$PROGRAM: $!\n";
    my $output = do { local $/; <$pipe> };
    close $pipe;
    is $? >> 8, $expected, "admissionctl @words: exit $expected" or diag $output;
    return $output;
}

sub refuses {
    my %wrong = (
        ''                        => [ 2, qr/no command given/ ],
        'lift'                    => [ 2, qr/unknown command 'lift'/ ],
        'limit cgi'               => [ 2, qr/limit: missing argument/ ],
        'explain'                 => [ 2, qr/explain: missing argument/ ],
        'explain /x now'          => [ 2, qr/'now' is not method=/ ],
        'explain x'               => [ 1, qr/takes a path such as/ ],
        'explain /x method=NO'    => [ 1, qr/method= takes a method/ ],
        'show a b'                => [ 2, qr/show: too many arguments/ ],
        '--speed show'            => [ 2, qr/speed/ ],
        'sweep cgi 4'             => [ 2, qr/'4' is not a range/ ],
        'limit nobody 4'          => [ 1, qr/No zone has 'nobody' in its name/ ],
        'limit test.example 4'    => [ 1, qr/part of the names of several zones: .*cgi-bin.*other/ ],
        'limit cgi 0'             => [ 1, qr/limit: '0' is not a number.*mode=pause/ ],
        'queue cgi many'          => [ 1, qr/queue: 'many' is not a number/ ],
        '-u http://127.0.0.1:1/ show' => [ 1, qr/connect/i ],
        "-u $url-not show"        => [ 1, qr/status 404.*SetHandler admission-control/ ],
    );
    for my $words (sort keys %wrong) {
        my ($status, $sentence) = @{ $wrong{$words} };
        like ctl($status, split / /, $words), $sentence, '... with a sentence';
    }
}

# What answers is not what was expected, or wants to write on the terminal.
sub distrusts {
    my $evil = JSON::PP->new->ascii->encode({ version => 2, server => {}, zones => [ {
        name => "evil\e[2J\x{9b}31m\x{202e}", limit => 1, active => 1, queued => 0, queueLength => 1,
        mode => 'open', overridden => 0, limitConfigured => 1, oldestWaitMs => 0, admitted => 1,
        wait => { below2PowNMs => [0] }, service => { count => 1, sumMs => 1, below2PowNMs => [1] },
        requests => [ { state => 'running', ageMs => 1, client => "\e[H", host => "\a", method => 'GET',
                        uri => "/\x{9b}2J" } ] } ] });
    # Status, body, what is reported about it.
    my %answer = (
        redirect => [ "302 Found\r\nLocation: http://127.0.0.1:1/", '',
                      qr{status 302, a redirect to http://127\.0\.0\.1:1/\..* -u } ],
        html     => [ '200 OK', '<html>', qr/status 200/ ],
        list     => [ '200 OK', '[1]', qr/status 200/ ],
        nameless => [ '200 OK', '{"version":2,"server":{},"zones":[{"limit":1}]}', qr/status 200/ ],
        newer    => [ '200 OK', '{"version":9,"server":{},"zones":[]}',
                      qr/version 9, this program knows 2/ ],
        evil     => [ '200 OK', $evil, qr/evil\\x\{1/ ],
        dead     => [ "\0\e[2J", '', qr/./ ],
        map { $_->[0] => [ $_->[1], '{"version":3,"zones":"of the backend"}' ] }
            [ text_behind => "404 Not Found\r\nContent-Type: text/plain; charset=utf-8" ],
            [ json_behind => "200 OK\r\nContent-Type: application/json" ],
            [ html_behind => "200 OK\r\nContent-Type: text/html" ],
    );
    my (undef, $port) = start_backend(sub {
        my ($client) = @_;
        my $head = read_head($client) // return;
        my ($kind) = $head =~ m{^\w+ /(\w+)};
        my ($status, $body) = @{ $answer{$kind} };
        syswrite $client, "HTTP/1.1 $status\r\nConnection: close\r\n\r\n$body";
    });
    for my $kind (grep { $answer{$_}[2] } sort keys %answer) {
        my $is_shown = $kind eq 'evil';
        my @there = ('-u', "http://127.0.0.1:$port/$kind");
        for my $words ([qw(limit evil 3)],
                       $is_shown ? (['show'], [qw(who evil)], [qw(-n 1 top)]) : ()) {
            my $said = ctl($is_shown ? 0 : 1, @there, @$words);
            like $said, $answer{$kind}[2], '... with a sentence, or in numbers';
            unlike $said, qr/[\0-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae/, '... and nothing raw';
        }
        like ctl(0, @there, qw(--json show)), qr/^[\n -~]*\z/, '... nor in JSON' if $is_shown;
    }

    # `ProxyPass "/"` takes the URLs of the module, too: whatever the backend answers, it is not
    # taken for the module's, and the sentence names the remedy.
    for my $kind (grep { /behind/ } sort keys %answer) {
        local $url = "http://127.0.0.1:$port/$kind/admission-control";
        for (['show'], [qw(show x)], [qw(explain /x)], [qw(--json explain /x)]) {
            my $said = ctl(1, @$_);
            like $said, qr{ProxyPass "/$kind/admission-status" "!"}, "... $kind of a backend: with the remedy";
            unlike $said, qr/of the backend/, '... and without what it says';
        }
    }
}

# The remedy works.
sub asks_behind_a_proxy {
    my ($httpd) = @_;
    my $front = start_httpd(modules => [qw(proxy proxy_http)], conf =>
        join('', map { qq(ProxyPass "/$_" "!"\n) }
             qw(server-status admission-status admission-control))
        . qq(ProxyPass "/" "http://127.0.0.1:$httpd->{port}/behind/"\n)
        . location('/admission-status', 'SetHandler admission-status')
        . location('/admission-control', 'SetHandler admission-control')
        . location('/front/', 'MaxConcurrent 2'));
    local $url = $front->url('/admission-control');
    like ctl(0, 'show'), qr{^test\.example:/front/ +idle }m, 'with the remedy the zones are shown';
    like ctl(0, qw(limit front 3)), qr/: limit 3 /, '... and orders obeyed';
    $front->expect_in_log(qr/ADM0207/)->stop;
}

# What it says about a URL has no password, whether httpd refuses it, nobody listens, or it
# is no URL.
sub hides_passwords {
    my ($httpd) = @_;
    my $port = $httpd->{port};
    my %wrong = (
        "http://me:secret\@127.0.0.1:$port/private" => [ 1, qr{http://127\.0\.0\.1:$port/private: status 401\..* rejects these} ],
        "http://127.0.0.1:$port/private"             => [ 1, qr{: status 401\..*http://user:password} ],
        'http://me:secret@127.0.0.1:1/'              => [ 1, qr{http://127\.0\.0\.1:1/: Could not connect} ],
        'http://me:sec/ret@127.0.0.1:1/'             => [ 2, qr{password / \? # \@ are written as %2F} ],
        'http://me:sec@ret@127.0.0.1:1/'             => [ 2, qr{password / \? # \@ are written as %2F} ],
        'http://me:12?secret@127.0.0.1:1/'           => [ 2, qr{password / \? # \@ are written as %2F} ],
        'http://me:12#secret@127.0.0.1:1/'           => [ 2, qr{password / \? # \@ are written as %2F} ],
        'me:secret@127.0.0.1'                        => [ 2, qr{the URL is not like} ],
    );
    for my $place (sort keys %wrong) {
        my ($status, $sentence) = @{ $wrong{$place} };
        my $said = ctl($status, '-u', $place, 'show');
        like $said, $sentence, '... with a sentence';
        unlike $said, qr/secret|sec.ret|ret\@/, '... without the password';
    }
}

# A zone that is named in full is asked for alone: thousands of others take seconds.
sub asks_for_one {
    my ($httpd) = @_;
    my $before = () = $httpd->access_log;
    ctl(0, show => $ZONE);
    my @asked = $httpd->access_log;
    is_deeply [ map { m{ (/control\S*)} } @asked[ $before .. $#asked ] ],
        ['/control?json&zone=test.example%3A%2Fcgi-bin%2F'], 'one zone is asked for';
    my $whole = $httpd->json('/control?json')->{zones};
    my $shown = JSON::PP::decode_json(ctl(0, '--json', 'show'))->{zones};
    # What is measured for `auto` changes meanwhile.
    is_deeply [ grep { $_->{limitMode} ne 'auto' } @$shown ], [ grep { $_->{limitMode} ne 'auto' } @$whole ], 'and all are read as JSON::PP reads them';
}

# What bash offers for a zone that begins so.
sub offers {
    my ($begins) = @_;
    open my $bash, '-|', 'bash', '-c', <<'BASH', 'bash', "$PROGRAM", $begins or die "bash: $!\n";
admissionctl() { perl "$program" "$@"; }
program=$1
. "${1%/*}/completion/admissionctl"
COMP_WORDS=(admissionctl limit "$2") COMP_CWORD=2
_admissionctl
printf '%s\n' "${COMPREPLY[@]}"
BASH
    local $/ = undef;
    return scalar <$bash>;
}

# A server with a certificate that it has signed itself.
sub speaks_tls {
    SKIP: {
        skip 'IO::Socket::SSL is not installed', 8
            if !eval { require IO::Socket::SSL; require IO::Socket::SSL::Utils; 1 };
        my $trusted = File::Temp->new(SUFFIX => '.pem');
        my ($cert, $key) = IO::Socket::SSL::Utils::CERT_create(
            subject => { commonName => 'localhost' }, purpose => 'server',
            subjectAltNames => [ [ DNS => 'localhost' ] ]);
        print $trusted IO::Socket::SSL::Utils::PEM_cert2string($cert);
        close $trusted;
        my (undef, $port) = start_backend(sub {
            my $client = IO::Socket::SSL->start_SSL($_[0], SSL_server => 1, SSL_cert => $cert,
                                                    SSL_key => $key) or return;
            my $head = read_head($client) // return;
            print {$client} "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
                '{"version":2,"server":{},"zones":[]}';
        });
        my @there = ('-u', "https://localhost:$port/");
        like ctl(1, @there, 'show'), qr/certificate verify failed/, 'an untrusted certificate is rejected';
        like ctl(0, @there, '--cacert', "$trusted", 'show'), qr/^ZONE/, '... but the file';
        like ctl(0, @there, '-k', 'show'), qr/^ZONE/, '... or the option that skips the check';
        like ctl(1, '-u', "https://127.0.0.1:$port/", '--cacert', "$trusted", 'show'),
            qr/hostname verification failed/, 'another name';
    }
}

# Its process, and what reads its output.
sub start_sweep {
    my ($zone, $seconds, $place) = @_;
    pipe my $reader, my $writer or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";

    if (!$pid) {
        close $reader;
        open STDOUT, '>&', $writer;
        open STDERR, '>', '/dev/null';
        exec $^X, $PROGRAM, '-u', $place // $url, '-s', $seconds, 'sweep', $zone, '1-9' or POSIX::_exit(127);
    }
    return ($pid, $reader);
}

# The first order of a sweep is answered late: the order that restores the limit comes after the
# answer, whatever signal comes before.
sub waits_for_answers {
    my ($httpd) = @_;
    my ($begun, $gate) = map { "$httpd->{dir}/heavy/$_" } qw(begun gate);
    my (undef, $port) = start_backend(sub {
        my ($client) = @_;
        my $request = '';
        while ($request !~ /\r\n\r\n/ || $request =~ /^POST/ && $request !~ /&limit=\w+\z/) {
            sysread $client, $request, 4096, length $request or return;
        }
        if ($request =~ /&limit=1\z/) {
            $httpd->put('../heavy/begun', '');
            select undef, undef, undef, 0.005 until -e $gate;
        }
        my $server = $httpd->connect->send($request =~ s/\r\n\r\n/\r\nConnection: close\r\n\r\n/r);
        $server->read_some until $server->{ended};
        syswrite $client, $server->{buffer};
    });
    for my $signal (qw(INT TERM HUP QUIT)) {
        unlink $begun, $gate;
        my $before = () = $httpd->lines_of('ADM0207');
        my ($pid, $reader) = start_sweep('cgi', 10, "http://127.0.0.1:$port/control");
        wait_for { -e $begun } 'the first order is under way';
        kill $signal => $pid;
        wait_for {
            my ($pending, $blocked) = map { hex($_ // 0) } slurp("/proc/$pid/status")
                =~ /^ShdPnd:\s*[0-9a-f]*([0-9a-f]{8})\nSigBlk:\s*[0-9a-f]*([0-9a-f]{8})$/m;
            (($pending // 0) & ($blocked // 0)) || $before < $httpd->lines_of('ADM0207');
        } "$signal has come";
        $httpd->open_gate('gate');
        waitpid $pid, 0;
        is $? >> 8, 128, '... and ends it';
        my @orders = map { /limit (\d+ -> \d+)/ } $httpd->lines_of('ADM0207');
        is_deeply [ splice @orders, $before ], [ '2 -> 1', '1 -> 2' ],
            '... when the first order is answered: the limit is restored';
    }
}

# While it measures, and after it was told to end.
sub sweeps {
    my ($httpd) = @_;
    my @load = map { my $at = $_; start_program('curl', '-s', map { $httpd->url("/cgi-bin/heavy?ms=20&n=$at.$_") } 1 .. 200) } 1 .. 4;
    my $table = ctl(0, qw(-s 0.5 sweep cgi 1-2));
    like $table, qr/^ +1 +\d+(\.\d)? .*^ +2 +\d+(\.\d)? .*requests\/s by limit.*^ +2 #+ /ms, 'a table and a plot';
    $httpd->zone_becomes('/cgi-bin/', 'the limit of before holds', Limit => 3, Overridden => 1);

    # Told to end, told so impatiently, and with nobody left who reads; at any moment of the
    # first step, and of a later one.
    for ((map { [ 1, 10, 0, @$_ ] } map({ [$_] } qw(TERM QUIT USR1 ALRM ABRT)), [('INT') x 50], []),
         map { $_ % 2 ? [ 2, 0.2, 0.2 + $_ / 200, 'INT' ] : [ 0, 10, $_ / 200, 'INT' ] } 0 .. 19) {
        my ($step, $seconds, $pause, @signals) = @$_;
        my ($pid, $reader) = start_sweep('cgi', @signals ? $seconds : 1);
        wait_for { $httpd->slurp("/proc/$pid/status") =~ /^SigCgt:.*[2367abef]$/m } 'it can be interrupted';
        $httpd->zone_becomes('/cgi-bin/', "a sweep is at limit $step", Limit => $step) if $step;
        close $reader if !@signals;
        select undef, undef, undef, $pause;
        for my $signal (@signals) { kill $signal => $pid; select undef, undef, undef, 0.0005 }
        waitpid $pid, 0;
        my $zone = $httpd->zone('/cgi-bin/');
        is "@$zone{qw(Limit LimitOrdered)}", '3 3', 'the limit of before is in force after '
            . @signals . ' ' . ($signals[0] // 'SIGPIPE');
    }

    # Another administrator.
    my ($pid, $reader) = start_sweep('cgi', 5); # the order comes within the first step
    $httpd->zone_becomes('/cgi-bin/', 'one more has begun', Limit => 1);
    ctl(0, qw(-q limit cgi 7));
    waitpid $pid, 0;
    is $? >> 8, 1, 'it ends when another user changes the limit';
    is $httpd->zone('/cgi-bin/')->{LimitOrdered}, 7, '... whose order holds';
    ($pid, $reader) = start_sweep('cgi', 10);
    $httpd->zone_becomes('/cgi-bin/', 'the last one has begun', Limit => 1);
    ctl(0, qw(-q limit cgi 9));
    kill INT => $pid;
    waitpid $pid, 0;
    is $httpd->zone('/cgi-bin/')->{LimitOrdered}, 9, '... also if the sweep is interrupted before it sees that';
    ctl(0, qw(-q limit cgi 3));
    kill TERM => @load;
    waitpid $_, 0 for @load;
    $httpd->zone_becomes('/cgi-bin/', 'all is at rest', Active => 0, Queued => 0);
}

for_each_combo(sub {
    my $httpd = start_httpd(modules => [qw(auth_basic authn_core authn_file authz_user)],
                            conf => "Timeout 300\n" . location('/admission-status', 'SetHandler admission-status')
        . location('/control', 'SetHandler admission-control')
        . location('/private', 'SetHandler admission-control', 'AuthType Basic', 'AuthName private',
                   'AuthBasicProvider file', 'AuthUserFile /dev/null', 'Require valid-user')
        . location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 4 timeout=300s',
                   q(AdmissionExempt "%{QUERY_STRING} == 'ms=1'"))
        . location('/other/', 'MaxConcurrent 7')
        . location('/named/', 'MaxConcurrent 1', 'AdmissionZone "a:$(touch pwned)"')
        . location('/found/', 'MaxConcurrent auto 2 9'));
    $url = $httpd->url('/control');
    $httpd->expect_in_log(qr/ADM0207/, qr/AH01618: user me not found/);
    refuses();
    distrusts();
    speaks_tls();
    waits_for_answers($httpd);
    asks_behind_a_proxy($httpd);
    hides_passwords($httpd);
    asks_for_one($httpd);

    # The second one takes the place in memory of one that came before the first.
    my @gone = $httpd->fill('/cgi-bin/', 'leave', 1);
    my @held = $httpd->ask('/cgi-bin/heavy?until=go&n=1');
    $httpd->zone_becomes('/cgi-bin/', 'and another one', Active => 2);
    $httpd->serves('leave', 'which is served', @gone);
    $httpd->zone_becomes('/cgi-bin/', 'and gone', Active => 1);
    push @held, $httpd->ask('/cgi-bin/heavy?until=go&n=2');
    $httpd->zone_becomes('/cgi-bin/', 'two run', Active => 2);
    push @held, $httpd->ask('/cgi-bin/heavy?until=go&n=3');
    $httpd->zone_becomes('/cgi-bin/', 'one waits', Active => 2, Queued => 1);
    my $shown = ctl(0, 'show');
    like $shown, qr{^\Q$ZONE\E +waits +2/2 +1/4 }m, 'show lists running and waiting requests';
    like $shown, qr{^test\.example:/other/ +idle +0/7 }m, '... of every zone';
    unlike $shown, qr/EXEMPT/, '... and nothing of exemptions, of which there was none';
    is $httpd->get('/cgi-bin/heavy?ms=1')->{status}, 200, 'an exempt request';
    like ctl(0, 'show'), qr{^ZONE .* EXEMPT\n\Q$ZONE\E .* 0 +1$}m, '... is shown';
    local $ENV{ADMISSION_URL} = $url;
    is offers('/o'), "/other/\n", 'bash completes zones';
    is offers('$'), q{\$\(touch\ pwned\)} . "\n", '... as text';
    ok !-e 'pwned', '... and runs nothing that a name says';
    is_deeply [ ctl(0, qw(who cgi)) =~ /^  (\w+ ).*&(n=\d)/mg ],
        [ 'running ', 'n=1', 'running ', 'n=2', 'waiting ', 'n=3' ],
        'who lists running requests first, the oldest of them first';
    like ctl(0, qw(show cgi)), qr/^limit +2$/m, 'show of a zone has its fields';
    my $facts = JSON::PP::decode_json(ctl(0, qw(--json show cgi)));
    is_deeply [ map { $_->{queued} } @{ $facts->{zones} } ], [1], '--json is JSON';

    like ctl(0, qw(limit cgi 3)), qr/: limit 3 \(configured 2\).*make it permanent, set MaxConcurrent to 3\./s, 'limit';
    $httpd->zone_becomes('/cgi-bin/', 'it is obeyed', Active => 3, Limit => 3);
    like ctl(0, qw(explain /cgi-bin/x method=POST client=192.0.2.7)),
        qr{^request +POST from 192\.0\.2\.7\n.*^limit +3\nset by .*changed by an override}ms, 'explain has a URL';
    is JSON::PP::decode_json(ctl(0, qw(--json explain /cgi-bin/x)))->{zone}, $ZONE, '... also as JSON';
    is ctl(0, qw(-q queue cgi 9)), '', 'queue, quietly';
    like ctl(0, qw(pause cgi)), qr/: paused, queue 9; .*\nThis applies until [^:]*stopped\.\n\z/,
        'pause has nothing that could be configured';
    $httpd->zone_becomes('/cgi-bin/', 'queue and mode, too', QueueLength => 9, Mode => 'pause');
    ctl(0, qw(drain cgi));
    $httpd->zone_becomes('/cgi-bin/', 'drain', Mode => 'drain');
    ctl(0, qw(open cgi));
    $httpd->zone_becomes('/cgi-bin/', 'open', Mode => 'open', Limit => 3);
    $httpd->serves('go', 'all are served', @held);

    my @looks = ctl(0, qw(-n 2 top)) =~ m{^(\S+ +(?:idle|runs) +0/3\* .*)$}mg;
    is scalar @looks, 2, 'top looks twice, and shows that an order holds';
    sweeps($httpd);
    like ctl(0, qw(queue found 9)), qr/make it permanent, set the length of AdmissionQueue to 9\.$/m, 'queue';
    ctl(0, qw(-s 0.1 sweep found 3-4));
    $httpd->zone_becomes('/found/', 'a limit that finds itself does so again', LimitOrdered => 0,
                         Overridden => 1);
    ctl(0, qw(-q pause cgi));
    like ctl(1, qw(sweep cgi 1-2)), qr/is paused\. Run .admissionctl open. first/, 'a paused zone is not measured';
    unlike ctl(0, qw(reset cgi)), qr/until/, 'reset';
    $httpd->zone_becomes('/cgi-bin/', 'it is obeyed', Limit => 2, QueueLength => 4, Overridden => 0);
    $url = $httpd->url('/admission-control');
    like ctl(0, 'show'), qr{^\Q$ZONE\E +idle }m, 'where admission-control is not, admission-status is shown';
    like ctl(1, qw(limit cgi 3)), qr/admission-control: status 404/, '... and takes no orders';
    $httpd->put('admission-control', '<html>');
    like ctl(0, @$_), qr{idle|Limit }, "... @$_: also if a program serves this URL" for ['show'], [qw(show cgi)];
    unlink "$httpd->{dir}/docs/admission-control";
    $url = $httpd->url('/admission-status');
    like ctl(1, qw(limit cgi 3)), qr/admission-control: status 404, and not from/, 'orders go to the other URL';
    unlike ctl(1, qw(sweep cgi 1-2)), qr/RESTORE|limit +req/, '... so that a sweep has nothing to restore';
}, 'event+cgid');

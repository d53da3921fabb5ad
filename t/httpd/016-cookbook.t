# Every example of conf/examples does behind a real httpd what its first lines promise.

use AdmissionTest;

use Cwd ();
use Digest::SHA 'sha1_base64';
use File::Basename 'dirname';
use IO::Socket::INET;
use MIME::Base64;
use Project;

my $SERVER = 'test.example';
my $redis_module = dirname(Cwd::abs_path($ENV{ADMISSION_MODULE})) . '/mod_admission_redis.so';

# The httpd of the example that is run, and its clients.
my ($httpd, @clients);

# Asks for a program that runs until the end, that many times.
sub hold($times, $path, @headers) {
    push @clients, map { $httpd->ask("$path?until=go", headers => [@headers]) } 1 .. $times;
    return;
}

# The same from another virtual host.
sub hold_at($times, $host, $path) {
    push @clients, map { $httpd->ask("$path?until=go", host => $host) } 1 .. $times;
    return;
}

sub becomes($zone, $active, $queued, $what) {
    return $httpd->zone_becomes($zone, $what, Active => $active, Queued => $queued);
}

# One permit becomes free while $first and then $second wait: the second one gets it.
sub goes_first($zone, $first, $second) {
    push @clients, $httpd->ask('/cgi-bin/heavy?until=one');
    hold(7, '/cgi-bin/heavy');
    becomes($zone, 8, 0, 'eight run');
    push @clients, $httpd->ask("$first->[0]?id=first&until=go", headers => $first->[1]);
    becomes($zone, 8, 1, 'one waits');
    push @clients, $httpd->ask("$second->[0]?id=second&until=go", headers => $second->[1]);
    becomes($zone, 8, 2, 'another one waits');
    $httpd->open_gate('one');
    wait_for { grep { $_ eq 'start second' } $httpd->record } 'the one that came last runs';
    is +(grep { $_ eq 'start first' } $httpd->record), 0, '... and the other one waits';
}

sub basic { return 'Authorization: Basic ' . encode_base64("$_[0]:$_[0]", '') }

# Copies bytes in both directions, as a filter does that changes nothing.
sub start_filter($port) {
    return start_backend(sub {
        my ($client) = @_;
        my $inner = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $$port) or return;
        my $both = IO::Select->new($client, $inner);

        while (1) {
            for my $from ($both->can_read) {
                sysread $from, my $bytes, 65536 or return;
                syswrite $from == $client ? $inner : $client, $bytes;
            }
        }
    });
}

# A site behind a proxy, with a .htaccess that opens all URLs to all clients.
my $ELSEWHERE = 'X-Client: 192.0.2.7';
my %opened = (
    modules => [qw(remoteip access_compat)],
    conf    => "RemoteIPHeader X-Client\nRemoteIPInternalProxy 127.0.0.1\n"
               . "<Directory \${DIR}/docs>\nAllowOverride AuthConfig Limit\n</Directory>\n",
    log     => [qr/AH01(?:630|797)/],
);

sub open_to_all {
    return $httpd->put('.htaccess', "Satisfy Any\nOrder Allow,Deny\nAllow from all\n");
}

# Of each example: show, what it does; and as needed conf, what a site has besides;
# edit, what only this test changes; modules; workers; mpm; log, what is reported there;
# skip, why it cannot be shown.
my %cookbook = (
    'access-log.conf' => {
        conf => 'CustomLog admission.log admission',
        show => sub {
            $httpd->get('/cgi-bin/heavy');
            $httpd->get('/static.txt');
            wait_for { $httpd->slurp('admission.log') =~ m{zone=\S+:/cgi-bin/ status=admitted wait=0} }
                'the log has the decision';
            wait_for { $httpd->slurp('admission.log') =~ m{static.*zone=- status=-} } '... none for a file';
        },
    },
    'accounts.conf' => { show => sub {
        my $zone = "$SERVER:~^/~[^/]+/";
        hold(3, '/~alice/heavy');
        hold(1, '/~%61lice/heavy');
        becomes($zone, 2, 2, 'two of an account run');
        hold(1, '/~bob/heavy');
        becomes($zone, 3, 2, '... and one of another');
    } },
    'bots.conf' => { show => sub {
        my $zone = "$SERVER:/";
        hold(4, '/cgi-bin/heavy', 'User-Agent: Somebot/1.0');
        becomes($zone, 2, 2, 'two crawlers run');
        hold(7, '/cgi-bin/heavy', 'User-Agent: Mozilla/5.0');
        becomes($zone, 8, 3, 'six visitors as well');
        is $httpd->get('/robots.txt', headers => ['User-Agent: Somebot/1.0'])->{status}, 200,
            'robots.txt is served';
        is $httpd->zone($zone)->{Exempt}, 1, '... by a program without a permit';
    } },
    'control.conf' => {
        %opened,
        conf => "$opened{conf}<Location /cgi-bin/>\nMaxConcurrent 4\n</Location>",
        show => sub {
            my $change = sub {
                return $httpd->get('/admission-control', method => 'POST',
                                   body => "zone=$SERVER:/cgi-bin/&limit=1",
                                   headers => [ 'X-Admission-Control: 1', @_,
                                                'Content-Type: application/x-www-form-urlencoded' ])->{status};
            };
            open_to_all();
            is $change->($ELSEWHERE), 403, 'not from elsewhere, whatever .htaccess has';
            is $change->(), 200, 'a limit is changed';
            hold(2, '/cgi-bin/heavy');
            becomes('/cgi-bin/', 1, 1, '... for the next requests');
        },
    },
    'crawlers.conf' => { show => sub {
        goes_first('/', [ '/cgi-bin/heavy', ['User-Agent: Somebot'] ], [ '/checkout', [] ]);
    } },
    'dry-run.conf' => { show => sub {
        hold(6, '/cgi-bin/heavy');
        becomes('/cgi-bin/', 6, 0, 'more run than the limit');
        is $httpd->zone('/cgi-bin/')->{DryQueued}, 2, '... and two are counted';
    } },
    'event-parking.conf' => { mpm => 'event', show => sub {
        hold(54, '/cgi-bin/heavy');
        becomes('/cgi-bin/', 4, 50, 'fifty wait');
        is $httpd->status->{AdmissionBlocked}, 0, '... without a worker';
    } },
    'exempt-monitoring.conf' => {
        edit => sub { s{192\.0\.2\.0/24}{127.0.0.0/8} },
        show => sub {
            hold(5, '/cgi-bin/heavy');
            becomes('/cgi-bin/', 4, 1, 'one waits');
            is $httpd->get('/cgi-bin/health')->{status}, 200, 'the check does not';
        },
    },
    'fair-api.conf' => {
        edit => sub { s/AdmissionQueue 100/AdmissionQueue 4/ },
        show => sub {
            $httpd->expect_rejections("$SERVER:/api", 'share');
            hold(6, '/api/heavy', 'X-Api-Key: a');
            becomes('/api', 4, 2, 'four of a key run');
            my $answer = $httpd->get('/api/heavy', headers => ['X-Api-Key: a']);
            is $answer->{status}, 429, 'half of the queue is left to others';
            is $answer->{headers}{'content-type'}, 'application/json', '... with a JSON body';
            is $answer->{body}, '{"error":"busy"}', '... and gives the reason';
            hold(1, '/api/report', 'X-Api-Key: b');
            becomes('/api', 8, 2, 'a report of another key counts as four');
            $httpd->open_gate('go');
            isnt((answers(@clients))[0]{headers}{'content-type'}, 'application/json', 'other answers keep their type');
            @clients = ();
        },
    },
    'fair-hosts.conf' => { show => \&sites_take_turns },
    'filter.conf' => {
        modules => [qw(proxy proxy_http remoteip)],
        edit    => sub {
            my ($o) = @_;
            my $socket = Admission::Httpd::free_port(0);
            $o->{inner} = $socket->sockport;
            close $socket;
            ($o->{pid}, my $filter) = start_filter(\$o->{inner});
            s/\*:80/*/;
            s/:8923/:$filter/;
            s/:3001/:$o->{inner}/g;
        },
        # A limit for the whole server, which stands still without the example.
        conf => "MaxConcurrent 2\nAdmissionQueue 20 timeout=300s",
        show => sub {
            push @clients, map { $httpd->ask('/cgi-bin/heavy') } 1 .. 20;
            is_deeply statuses(answers(@clients)), { 200 => 20 }, 'all are served through the filter';
            my ($zone) = grep { /^www/ } keys %{ $httpd->status->{zone} };
            is $httpd->zone($zone)->{Admitted}, 20, 'each has had one permit';
            @clients = ();
        },
    },
    'fleet.conf' => {
        skip => !-e $redis_module ? 'no mod_admission_redis' : !Admission::Redis->program && 'no Redis',
        edit => sub {
            my ($o) = @_;
            $o->{redis} = Admission::Redis->start;
            s{redis://127\.0\.0\.1:6379/0}{unix:$o->{redis}{socket}};
            s/lease=30s/lease=3s hold=1s/;    # a new fleet waits that long
            $_ = "LoadModule admission_redis_module $redis_module\n$_";
        },
        show => sub {
            wait_for { $httpd->zone('db')->{FleetState} eq 'leased' } 'the share is leased';
            is $httpd->get('/search')->{status}, 200, 'a request is served';
            is $httpd->zone('db')->{FleetLimit}, 40, 'the limit is that of all servers';
        },
    },
    'git.conf' => { show => sub {
        my $zone = "$SERVER:~^/git/.+/git-upload-pack\$";
        hold(2, '/git/one/git-upload-pack');
        hold(1, '/git/%6fne/git-upload-pack');
        becomes($zone, 2, 1, 'two clones of a repository run');
        hold(1, '/git/two/git-upload-pack');
        becomes($zone, 3, 1, '... and one of another');
        is $httpd->get('/git/one/info/refs')->{status}, 200, 'the rest is not limited';
        is $httpd->zone($zone)->{QueueTimeoutMs}, 600_000, 'the queue is patient';
    } },
    'members.conf' => { show => sub {
        goes_first('/', [ '/cgi-bin/heavy', [] ],
                   [ '/cgi-bin/heavy', ['Cookie: a=b; wordpress_logged_in_1f=x'] ]);
    } },
    'one-line.conf' => { show => sub {
        hold(6, '/cgi-bin/heavy');
        becomes('/cgi-bin/', 4, 2, 'four run, two wait');
        is $httpd->get('/static.txt')->{status}, 200, 'a file is served';
    } },
    'panels.conf'  => { show => \&sites_take_turns },
    'php-fpm.conf' => {
        conf => 'AddHandler cgi-script .php',
        show => sub {
            $httpd->put_heavy('page.php');
            hold(7, '/page.php');
            becomes('php', 5, 2, 'five run, two wait');
        },
    },
    'probes.conf' => { workers => 80, log => [qr/AH01630/], edit => sub { s/target=5s/target=100s/ },
                       show => sub {
        is $httpd->get('/ready?ready')->{body}, "ready\n", 'ready';
        is $httpd->get("/ready$_")->{status}, 403, "no page: /ready$_"
            for '', '?json', '?readyx', '?json&ready';
        hold(58, '/app/page');
        becomes('/app/', 8, 50, 'the queue is full');
        my $answer = $httpd->get('/ready?ready');
        is "$answer->{status} $answer->{body}", "503 full: $SERVER:/app/\n", 'not ready';
        is $httpd->get('/app/health')->{status}, 200, 'the check of the application runs';
        is $httpd->get('/static.txt')->{status}, 200, 'a file is served';
    } },
    'proxy.conf' => {
        modules => [qw(proxy proxy_http)],
        edit    => sub {
            my ($o) = @_;
            ($o->{pid}, my $port) = start_backend(sub {
                my ($client) = @_;
                sysread $client, my $request, 65536;
                my ($gate) = $request =~ /X-Gate: (\S+)/;
                select undef, undef, undef, 0.01 while $gate && !-e $gate;
                syswrite $client, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n";
            });
            s/:8080/:$port/;
        },
        show => sub {
            hold(22, '/app/page', "X-Gate: $httpd->{dir}/heavy/go");
            becomes('/app/', 20, 2, 'twenty run, two wait');
            is $httpd->get('/app/events')->{status}, 200, 'event streams are not limited';
        },
    },
    'recycle.conf' => {
        edit => sub { s/1000-2000/5-10/ },
        mpm  => 'prefork',
        show => sub {
            wait_for { $httpd->get('/static.txt'); $httpd->status->{AdmissionChildrenRecycled} > 1 }
                'children are replaced';
        },
    },
    'rejection.conf' => { show => sub {
        $httpd->expect_rejections("$SERVER:/api/", 'full');
        hold(8, '/api/heavy');
        becomes('/api/', 8, 0, 'eight run');
        my $answer = $httpd->get('/api/heavy');
        is $answer->{status}, 429, 'the next one is rejected';
        like $answer->{headers}{'retry-after'}, qr/^(?:30|31|3[2-8])$/, '... for half a minute';
    } },
    'shared-hosting.conf' => {
        edit => sub { s/\*:80/*/g },
        show => sub {
            hold_at(5, 'www.alice.example', '/cgi-bin/heavy');
            becomes('www.alice.example:*', 4, 1, 'four of one customer run');
            hold_at(5, 'www.bob.example', '/cgi-bin/heavy');
            hold_at(5, 'shop.bob.example', '/cgi-bin/heavy');
            becomes('bob', 8, 2, 'eight of another, at both hosts together');
            hold_at(3, 'shop.bob.example', '/search');
            becomes('shop.bob.example:/search', 2, 1, 'two searches');
        },
    },
    'slow-clients.conf' => { show => sub {
        my $slow = $httpd->connect->send("POST /upload/heavy HTTP/1.1\r\nHost: $SERVER\r\n"
                                         . "Connection: close\r\nContent-Length: 2000000\r\n\r\nabc");
        wait_for { $httpd->status->{AdmissionSpooled} > 0 } 'a part of the body is there';
        is $httpd->zone('/upload/')->{Active}, 0, '... and no permit is held';
        push @clients, $slow->send('x' x 1_999_997);
    } },
    'status.conf' => {
        %opened,
        show => sub {
            my @pages = map { "/admission-status$_" } '', '?prometheus', '?ready';

            open_to_all();
            is $httpd->get($_)->{status}, 200, $_ for @pages, '/server-status';
            is $httpd->get($_, headers => [$ELSEWHERE])->{status}, 403,
                "$_ from elsewhere, whatever .htaccess has" for @pages;
        },
    },
    'strangers.conf' => { show => sub {
        $httpd->expect_rejections("$SERVER:/", 'full');
        hold(18, '/cgi-bin/heavy', 'Cookie: x=y; session=1');
        becomes('/', 8, 10, 'ten with a session wait');
        is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'a stranger is rejected';
        hold(1, '/cgi-bin/heavy', 'Cookie: session=1');
        becomes('/', 8, 11, 'another one with a session waits');
    } },
    'timing.conf' => { show => sub {
        like $httpd->get('/cgi-bin/heavy')->{headers}{'server-timing'},
            qr/^admission;desc=admitted;dur=0$/, 'the browser gets the decision';
        is $httpd->get('/static.txt')->{headers}{'server-timing'}, undef, '... not with a file';
        $httpd->put_script('start.cgi', "printf 'Content-Type: text/plain\\n\\n%s' \"\$HTTP_X_REQUEST_START\"\n");
        like $httpd->get('/start.cgi')->{body}, qr/^t=\d{16}$/, 'the program gets the time of arrival';
    } },
    'webdav.conf' => {
        modules => [qw(authn_core authn_file auth_basic authz_user)],
        conf    => "<Location /dav/>\nAuthType Basic\nAuthName x\nAuthUserFile docs/users\n"
                   . "Require valid-user\n</Location>",
        show => sub {
            $httpd->put('users', join '', map { "$_:{SHA}" . sha1_base64($_) . "=\n" } qw(alice bob));
            hold(7, '/dav/heavy', basic('alice'));
            becomes('/dav/', 5, 2, 'five of a user run');
            hold(1, '/dav/heavy', basic('bob'));
            becomes('/dav/', 6, 2, '... and one of another');
        },
    },
    'whole-server.conf' => { workers => 80, show => sub {
        hold(18, '/cgi-bin/heavy');
        becomes('*', 16, 2, 'sixteen run, two wait');
        is $httpd->get('/download/heavy')->{status}, 200, 'a download runs';
        hold(3, '/tools/heavy');
        becomes('/tools/', 2, 1, 'two tools run');
    } },
    'wordpress.conf' => {
        modules => ['remoteip'],
        conf    => "AddHandler cgi-script .php\nRemoteIPHeader X-Client\nRemoteIPInternalProxy 127.0.0.1",
        show    => sub {
            my $zone = "$SERVER:Files:~\\.php\$";
            $httpd->put_heavy($_) for 'index.php', 'admin-ajax.php';
            hold(4, '/index.php', 'X-Client: 192.0.2.7');
            becomes($zone, 3, 1, 'three visitors run, one waits');
            is $httpd->get('/index.php')->{status}, 200, 'what the site asks itself runs';
            hold(3, '/admin-ajax.php', 'X-Client: 192.0.2.7');
            becomes('ajax', 2, 1, 'two of admin-ajax.php run');
        },
    },
);

# Where else an example is run.
my %elsewhere = (
    'error-page.conf'       => '520-error-page.t',
    'quickstart.conf'       => '018-demo.t',
    'quickstart-fleet.conf' => '018-demo.t',
);

sub sites_take_turns {
    my ($zone) = keys %{ $httpd->status->{zone} };
    hold_at(5, 'a.example', '/cgi-bin/heavy');
    becomes($zone, 3, 2, 'three of a site run');
    hold_at(1, 'b.example', '/cgi-bin/heavy');
    becomes($zone, 4, 2, '... and one of another');
}

sub run_example($name) {
    my %o = %{ $cookbook{$name} };
    my ($combo) = combos($o{mpm} && $o{mpm} eq 'prefork' ? 'prefork+cgi' : 'event+cgid')
        or plan skip_all => 'another MPM is asked for';
    my @absent = grep { !Admission::Config::is_installed($_) } @{ $o{modules} // [] };

    plan skip_all => $o{skip} if $o{skip};
    plan skip_all => "mod_$absent[0] is not installed" if @absent;
    local $_ = slurp("conf/examples/$name");
    s/ timeout=\d+s/ timeout=300s/g;
    $o{edit}->(\%o) if $o{edit};
    my $hosts = join '', map { "<VirtualHost *>\nServerName $_.example\n</VirtualHost>\n" } qw(a b);
    $httpd = new_httpd(combo => $combo, workers => $o{workers} // 60, modules => $o{modules});
    $httpd->configure("Define DIR $httpd->{dir}\n$_\n" . ($o{conf} // '') . "\n" . <<"CONF");
ScriptAliasMatch "^/(?:~|api|app|checkout|dav|download|git|robots|search|tools|upload)" $httpd->{dir}/cgi/heavy
@{[ $o{show} == \&sites_take_turns ? $hosts : '' ]}
CONF
    $httpd->allow_in_log(qr/ADM010[35]|ADM0207|ADM0302|ADM014\d|AH00485/, @{ $o{log} // [] });
    $httpd->start;
    @clients = ();
    $o{show}->();
    $httpd->open_gate('go');
    is_deeply statuses(answers(@clients)), { 200 => scalar @clients }, 'all that waited are served'
        if @clients;
    $httpd->comes_to_rest->stop;
    kill TERM => $o{pid} if $o{pid};
}

my @examples = map { s{.*/}{}r } files(qr/\.conf\z/, 'conf/examples');
my @wanted = @ARGV ? @ARGV : grep { !$elsewhere{$_} } @examples;

for my $name (@wanted) {
    $cookbook{$name} ? subtest($name => sub { run_example($name) }) : fail "$name is not run";
}
none 'an example that is run elsewhere is there',
    grep { slurp("t/httpd/$elsewhere{$_}") !~ /\Q$_\E|\bdemo/ } sort keys %elsewhere;

# The index has one line for each file.
my %listed = map { $_ => 1 } slurp('conf/examples/README.md') =~ /\]\(([^)]+)\)/g;
my %is_there = map { s{.*/}{}r => 1 } grep { !/README/ } files(qr//, 'conf/examples');
none 'the index lists every file', grep { !$listed{$_} } sort keys %is_there;
none 'the index lists no other', grep { !$is_there{$_} } sort keys %listed;

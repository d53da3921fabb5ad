# SetHandler admission-control: an order holds for all children at once, until its
# number is edited; nobody gives one by accident.

use AdmissionTest;
use JSON::PP ();

my $ZONE = 'test.example:/cgi-bin/';
my $FORM = 'Content-Type: application/x-www-form-urlencoded';
my $TOOL = 'X-Admission-Control: 1';

sub conf {
    my ($httpd, $limit) = @_;
    return section("Directory $httpd->{dir}/docs", 'AllowOverride All')
        . location('/control', 'SetHandler admission-control')
        . location('/open', 'SetHandler admission-status')
        . location('/cgi-bin/', "MaxConcurrent $limit", 'AdmissionQueue 4');
}

# The answer to an order.
sub order {
    my ($httpd, $body, %o) = @_;
    my $zone = $o{zone} // $ZONE =~ s/:/%3a/r;
    return $httpd->order($o{path} // '/control', "zone=$zone&$body", @{ $o{headers} // [] });
}

sub obeyed {
    my ($httpd, $body) = @_;
    my $answer = order($httpd, $body);
    is $answer->{status}, 200, "obeyed: $body";
    my $zones = eval { JSON::PP::decode_json($answer->{body})->{zones} } // [];
    is_deeply [ map { $_->{name} } @$zones ], [$ZONE], '... and shows the zone';
    return $zones->[0] // {};
}

# What is wrong with orders, and who may not give any.
sub refuses {
    my ($httpd) = @_;
    my %wrong = (
        'limit=0'              => qr/limit: '0' is not a number from 1 to 65535 or 'config'.*mode=pause/,
        'limit=999999'         => qr/limit: '999999' is not a number/,
        'limit=4x'             => qr/limit: '4x' is not a number/,
        'limit=4&limit=5'      => qr/limit is given twice/,
        'queue=-1'             => qr/queue: '-1' is not a number from 0 to 65535/,
        'mode=<b>'             => qr/mode: '<b>' is not open, pause, drain or config/,
        'limit=4&size=7'       => qr/unknown parameter 'size': use zone, limit, queue or mode/,
        'zone=other&limit=4'   => qr/zone is given twice/,
        ''                     => qr/nothing to change: add limit=, queue= or mode=/,
    );
    for my $body (sort keys %wrong) {
        my $answer = order($httpd, $body);
        is $answer->{status}, 400, "refused: '$body'";
        like $answer->{body}, $wrong{$body}, '... with a sentence';
    }
    is order($httpd, 'limit=7', zone => 'nobody')->{status}, 404, 'no such zone';
    is $httpd->get('/control', method => 'POST', body => '{}', headers => [$TOOL])->{status},
        400, 'no form';

    my %sender = (
        'no header of ours'   => ['X-Other: 1'],
        'a foreign page'      => [ 'Origin: http://evil.example', $TOOL ],
        'no page that is known' => [ 'Origin: null', $TOOL ],
        'another scheme'      => [ "Origin: https://test.example:$httpd->{port}" ],
        'another port'        => [ 'Origin: http://test.example:1' ],
        'through a proxy'     => [ 'X-Forwarded-For: 192.0.2.1', $TOOL ],
        'a foreign site'      => [ 'Sec-Fetch-Site: cross-site', $TOOL ],
    );
    is order($httpd, 'limit=7', headers => $sender{$_})->{status}, 403, "refused: $_"
        for sort keys %sender;
    # A page whose name leads here by its owner's DNS.
    my $evil = "evil.example:$httpd->{port}";
    is $httpd->get('/control', method => 'POST', host => $evil, body => "zone=$ZONE&limit=7",
                   headers => [ "Origin: http://$evil", $TOOL, $FORM ])->{status},
        403, 'refused: a name that is not of this server';
    for my $query ("zone=$ZONE&limit=7", 'queue=7', 'mode=open&limit=7') {
        my $answer = $httpd->get("/control?$query");
        is $answer->{status}, 405, "GET orders nothing: $query";
        is $answer->{headers}{allow}, 'POST', '... and names what does';
        like $answer->{body}, qr/limit=, queue= and mode= are overrides: send them by POST/, '... in a sentence';
    }
    is $httpd->get("/open?zone=$ZONE&limit=7")->{status}, 404, 'nothing of the kind in admission-status';
    is $httpd->get('/control?size=7')->{status}, 404, '... and no other output';
    is $httpd->get('/control')->{status}, 200, 'the page is shown';
    is $httpd->get("/control?json&zone=$ZONE")->{status}, 200, '... and shows';
    my $allowed = sub { join ' ', grep { $_ ne 'TRACE' } sort split /, ?/, $_[0]{headers}{allow} };
    my $put = $httpd->get('/control', method => 'PUT', body => 'x', headers => [$TOOL]);
    is $put->{status}, 405, 'other methods do not exist';
    is $allowed->($put), 'GET HEAD POST', '... and the answer names those that do';
    is $allowed->($httpd->get('/open', method => 'DELETE')), 'GET HEAD', '... and of admission-status';
    is order($httpd, 'limit=7', path => '/open')->{status}, 405, 'admission-status takes no order';
    $httpd->put('ways/page.html', '');
    for my $line ('SetHandler admission-control', 'AddHandler admission-control .html') {
        $httpd->put('ways/.htaccess', "$line\n");
        is order($httpd, 'limit=7', path => '/ways/page.html')->{status}, 403, ".htaccess: $line";
    }
    is $httpd->zone('/cgi-bin/')->{Overridden}, 0, 'nothing has changed';
}

# .htaccess of the document root applies to /control, too, and changes headers there.
sub refuses_hidden_senders {
    my ($httpd) = @_;
    $httpd->put('.htaccess', join "\n", 'RequestHeader set X-Admission-Control 1',
                map({ "RequestHeader unset $_" } qw(X-Forwarded-For Forwarded Via Origin)),
                'RewriteEngine On', 'RewriteRule ^order$ ' . $httpd->url('/control') . ' [P]',
                'RewriteRule ^inside$ /control', '');
    my %sender = (
        'a rule with [P]'  => ['/order'],
        'a proxy'          => [ '/control', 'X-Forwarded-For: 192.0.2.1', $TOOL ],
        'a foreign page'   => [ '/control', 'Origin: http://evil.example', $TOOL ],
        'a missing header' => ['/control'],
        'the same, redirected' => ['/inside'],
    );
    for my $hidden (sort keys %sender) {
        my ($path, @headers) = @{ $sender{$hidden} };
        my $answer = $httpd->get($path, method => 'POST', body => "zone=$ZONE&limit=7",
                                 headers => [ $FORM, @headers ]);
        is $answer->{status}, 403, "refused, although .htaccess hides it: $hidden";
    }
    is $httpd->zone('/cgi-bin/')->{Overridden}, 0, 'nothing has changed';
    unlink "$httpd->{dir}/docs/.htaccess";
}

for_each_combo(sub {
    my $httpd = new_httpd(modules => [qw(proxy proxy_http)]);
    $httpd->configure(conf($httpd, 2));
    $httpd->expect_in_log(qr/ADM0206/, qr/ADM0207/);
    $httpd->expect_rejections($ZONE, 'drain');
    $httpd->start;

    refuses($httpd);
    refuses_hidden_senders($httpd);

    # Raised: who waits runs at once, in whatever child.
    my @first = $httpd->fill('/cgi-bin/', 'first', 2, 2);
    is obeyed($httpd, 'limit=3')->{limit}, 3, 'the answer has the new limit';
    $httpd->zone_becomes('/cgi-bin/', 'one more runs', Active => 3, Queued => 1, Limit => 3,
                         LimitConfigured => 2, Overridden => 1);

    # Lowered below what runs: nobody loses a permit, nobody gets one.
    obeyed($httpd, 'limit=1');
    $httpd->zone_becomes('/cgi-bin/', 'three still run', Active => 3, Queued => 1, Limit => 1);
    obeyed($httpd, 'limit=config');
    $httpd->serves('first', 'all are served', @first);

    # Pause, open.
    obeyed($httpd, 'mode=pause');
    my @paused = map { $httpd->ask('/cgi-bin/heavy') } 1 .. 3;
    $httpd->zone_becomes('/cgi-bin/', 'all wait', Active => 0, Queued => 3, Mode => 'pause');
    my $past = $httpd->json("/control?json&history=$ZONE")->{zones}[0]{history}{limit};
    is_deeply [ @$past[ 0, -1 ] ], [ 2, 0 ], 'the history has the limit of before, and none now';
    my $origin = "http://test.example:$httpd->{port}";
    my $page = $httpd->get("/control?zone=$ZONE");
    like $page->{headers}{'content-security-policy'}, qr/form-action 'self'/,
        'the page may send its forms';
    my $here = '/control?zone=test.example%3a%2fcgi-bin%2f';
    like $page->{body}, qr{<form class="order" method="post" action="\Q?zone=test.example%3a%2fcgi-bin%2f\E">},
        '... and has some';
    my $back = $httpd->get($here, method => 'POST', host => "test.example:$httpd->{port}",
                           body => "zone=$ZONE&mode=open", headers => [ "Origin: $origin", $FORM ]);
    is $back->{status}, 303, 'a form of our own page is obeyed';
    like $back->{headers}{location} // '', qr{\Q$here\E$}, '... and leads back to it';
    is_deeply statuses(answers(@paused)), { 200 => 3 }, 'the waiting request is served';

    # Drain: who waits is served, who comes is rejected.
    my @last = $httpd->fill('/cgi-bin/', 'last', 2, 1);
    obeyed($httpd, 'mode=drain');
    my $rejected = $httpd->get('/cgi-bin/heavy');
    is $rejected->{status}, 503, 'a new request is rejected';
    like $rejected->{headers}{'retry-after'} // '', qr/^3[0-9]$/, '... for half a minute';
    $httpd->serves('last', 'earlier requests are served', @last);

    # An order outlives a reload, but not an edit of the number.
    obeyed($httpd, 'limit=5&queue=7&mode=open');
    $httpd->graceful;
    $httpd->zone_becomes('/cgi-bin/', 'it holds after a reload', Limit => 5, QueueLength => 7,
                         Mode => 'open', RejectedDrain => 1);
    $httpd->graceful(conf($httpd, 3));
    $httpd->zone_becomes('/cgi-bin/', 'an edited number wins', Limit => 3, QueueLength => 4,
                         LimitConfigured => 3, Overridden => 0);

    my @orders = map { /ADM0207: (.*)/ ? $1 : () } $httpd->error_log;
    like $orders[0], qr/^zone \Q$ZONE\E: limit 2 -> 3 \(configured 2\), by 127\.0\.0\.1/,
        'the log says what was ordered, and by whom';
    like $orders[-1], qr/limit 2 -> 5 .*queue 4 -> 7 \(configured 4\), mode drain -> open/,
        '... all of it';
}, 'prefork+cgi', 'event+cgid');

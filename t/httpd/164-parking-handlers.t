# Whatever runs after the wait runs as it would have without: other handlers,
# output filters, conditional and partial requests, HTTP/1.0 with keep-alive.

use AdmissionTest;
use Admission::Config;
use AdmissionTest::Parking;

my @optional = grep { Admission::Config::is_installed($_) }
                    qw(deflate proxy proxy_http auth_basic authn_core authn_file authz_user);

for_each_parking_combo(sub {
    my $httpd = new_parking_httpd(modules => \@optional);
    my $docs = "$httpd->{dir}/docs";

    mkdir "$docs/$_" for qw(all all/dir);
    $httpd->put('all/file.txt', "file\n" x 100);
    $httpd->put('all/dir/index.html', "index\n");
    $httpd->put('all/page.shtml', "page <!--#include virtual=\"/cgi-bin/x?id=included\" -->\n");
    $httpd->put_heavy('all/program.cgi');
    $httpd->put('missing.html', "custom 404\n");
    $httpd->put('../users', "user:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n");    # password
    my $conf = parking_conf() . join '',
        "AddOutputFilter INCLUDES .shtml\n",
        "ErrorDocument 404 /missing.html\n",
        section('IfModule mod_deflate.c',
            location('/all/deflated', 'SetOutputFilter DEFLATE'), "Alias /all/deflated $docs/all/file.txt"),
        section('IfModule mod_authn_file.c',
            location('/all/secret', 'AuthType Basic', 'AuthName secret', 'AuthBasicProvider file',
                "AuthUserFile $httpd->{dir}/users", 'Require valid-user'),
            "Alias /all/secret $docs/all/file.txt"),
        section('LocationMatch ^/(?:all|cgi-bin/hold)', 'MaxConcurrent 1', 'AdmissionZone all',
            'AdmissionHandlers all', 'AdmissionQueue 50'),
        location('/all', 'Header set X-After yes');
    $httpd->configure($conf);
    $httpd->start;
    if (grep { $_ eq 'proxy_http' } @optional) {
        # It is its own backend, whose port is known only now.
        $httpd->configure("${conf}ProxyPass /all/proxied " . $httpd->url('/static.txt') . "\n");
        $httpd->graceful;
    }

    # name => [ what its answer must show, request ]; "module: name" where that is there
    my %all = (
        'a file'                   => [ qr/^200 .*(?:file\n){100}$/s, '/all/file.txt' ],
        'a part of one'            => [ qr/^206 .*\n\nfile\nfi$/s, '/all/file.txt', headers => ['Range: bytes=0-6'] ],
        'HEAD'                     => [ qr/^200 .*content-length: 500\n.*\n\n$/s, '/all/file.txt', method => 'HEAD' ],
        'not modified'             => [ qr/^(?:200|304) /, '/all/file.txt',
                                        headers => ['If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT'] ],
        'a missing file'           => [ qr/^404 .*\n\ncustom 404\n$/s, '/all/missing' ],
        'a page with an include'   => [ qr/^200 .*\n\npage heavy included\n/s, '/all/page.shtml' ],
        'an index'                 => [ qr/^200 .*\n\nindex\n$/s, '/all/dir/' ],
        'a program'                => [ qr/^200 .*heavy program\n/s, '/all/program.cgi?id=program' ],
        'a local redirect'         => [ qr/^200 .*\n\nstatic\n$/s, '/all/program.cgi?loc=/static.txt' ],
        'a bad method'             => [ qr/^405 /, '/all/file.txt', method => 'DELETE' ],
        'deflate: compressed'      => [ qr/^200 .*content-encoding: gzip\n/s, '/all/deflated',
                                        headers => ['Accept-Encoding: gzip'] ],
        'proxy_http: from a backend'    => [ qr/^200 .*\n\nstatic\n$/s, '/all/proxied' ],
        'authn_file: behind a password' => [ qr/^200 .*file\n/s, '/all/secret',
                                             headers => ['Authorization: Basic dXNlcjpwYXNzd29yZA=='] ],
    );
    my %is_there = map { $_ => 1 } @optional;
    my %request = map { !/^(\w+): / || $is_there{$1} ? ($_ => $all{$_}) : () } keys %all;
    is $httpd->get('/all/secret')->{status}, 401, 'without the password it never comes to waiting'
        if $is_there{authn_file};

    my $shown = sub {
        my ($answer) = @_;
        my $headers = $answer->{headers};
        return "$answer->{status} " . join('', map { "$_: $headers->{$_}\n" } sort keys %$headers)
             . "\n$answer->{body}";
    };

    my $hold = $httpd->ask('/cgi-bin/hold?until=go');
    $httpd->zone_becomes('all', 'the zone is full', Active => 1);
    my $queued = 0;
    my @client = map {
        my (undef, @request) = @{ $request{$_} };
        my $client = $httpd->ask(@request, keep => 1);
        $httpd->zone_becomes('all', "$_ waits", Queued => ++$queued);
        $client;
    } sort keys %request;
    server_becomes($httpd, 'all are parked', AdmissionParked => $queued, AdmissionBlocked => 0);
    my $old = $httpd->connect->send(
        "GET /all/file.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    $httpd->zone_becomes('all', 'one of HTTP/1.0 waits', Queued => ++$queued);
    $httpd->serves('go', 'the running request gets its response', $hold);
    for my $name (sort keys %request) {
        my $client = shift @client;
        my $answer = $shown->($client->answer);
        like $answer, $request{$name}[0], "$name: as without a wait";
        like $answer, qr/^x-after: yes$/m, '... through the filters'
            if $name !~ /redirect|missing|method/;
        is $client->ask('/static.txt', keep => 1)->answer->{body}, "static\n",
            '... and keep-alive' if $answer !~ /^40[15]/;
    }
    like $shown->($old->answer), qr/^200 .*^connection: Keep-Alive$/ms, 'HTTP/1.0 with keep-alive gets its response';
    is $old->ask('/static.txt')->answer->{body}, "static\n", '... and another one over its connection';

    is $httpd->zone('all')->{Gone}, 0, 'no client is counted as disconnected';
});

# What a rule in .htaccess leads to is asked for before the redirect: it is
# decided once, what applies is what the target's sections say, and a redirect
# that then leads elsewhere leaves nothing behind.

use AdmissionTest;

for_each_combo(sub {
    my $httpd = new_httpd(workers => 20);
    $httpd->allow_in_log(qr/ADM0105: /);    # no worker is left for a full queue

    $httpd->configure(join '',
        section("Directory $httpd->{dir}/docs", 'AllowOverride FileInfo'),
        location('/cgi-bin/a/', 'MaxConcurrent 1', 'AdmissionZone a', 'AdmissionQueue 1 timeout=1s',
            'AdmissionReject 429 retry-after=7', 'AdmissionExempt "%{QUERY_STRING} =~ /exempt/"',
            'ErrorDocument 429 "sorry of a"'),
        location('/cgi-bin/b/', 'MaxConcurrent 1', 'AdmissionZone b', 'AdmissionQueue 1',
            'AdmissionReject 429 retry-after=7'),
        location('/denied/', 'MaxConcurrent 1', 'AdmissionZone denied', 'AdmissionHandlers all',
            'Require all denied'),
        location('/middle.cgi', 'MaxConcurrent 1', 'AdmissionZone middle'));
    $httpd->put('.htaccess', <<'CONF');
RewriteEngine On
RewriteRule ^to-a$ /cgi-bin/a/x
RewriteRule ^to-b$ /hop
RewriteRule ^hop$ /cgi-bin/b/x
RewriteRule ^to-static$ /static.txt
RewriteRule ^to-denied$ /denied/x
RewriteRule ^loop$ /pool
RewriteRule ^pool$ /loop
RewriteRule ^to-middle$ /middle.cgi
RewriteRule ^middle\.cgi$ /cgi-bin/b/x [NS]
CONF
    $httpd->put_heavy('middle.cgi');
    $httpd->expect_rejections('a', $_) for qw(full timeout);
    $httpd->expect_in_log(qr/core:error.*AH00124/, qr/AH01630/);
    $httpd->start;
    my %at_rest = (Active => 0, Queued => 0);

    is $httpd->get('/to-static')->{body}, "static\n", 'a file';
    is $httpd->get('/to-denied')->{status}, 403, 'a target that is denied';
    is $httpd->get('/loop')->{status}, 500, 'a loop';
    like $httpd->get('/to-b?id=hops')->{body}, qr/heavy hops/, 'by two redirects';
    $httpd->is_noted('hops', code => 200, zone => 'b', status => 'admitted', wait => 0, queued => 0);
    like $httpd->get('/to-middle?id=elsewhere')->{body}, qr/heavy elsewhere/,
        'a rule that only the redirect itself obeys';
    $httpd->is_noted('elsewhere', zone => 'b');
    $httpd->zone_becomes('middle', '... and the other one has its permit back', %at_rest);

    my @hold = map { $httpd->ask("/to-$_?id=hold-$_&until=go", method => 'POST',
                                 body => 'x=1') } qw(a b);
    $httpd->zone_becomes($_, "zone $_ is full", Active => 1) for qw(a b);
    like $httpd->get('/to-a?id=exempt')->{body}, qr/heavy exempt/, 'exempt is the target';
    my $elsewhere = $httpd->ask('/to-middle?id=waits');
    $httpd->zone_becomes('b', 'a request redirected elsewhere waits there', Queued => 1);
    $httpd->zone_becomes('middle', '... with nothing in hand', %at_rest);

    my $late = $httpd->ask('/to-a?id=late');
    $httpd->zone_becomes('a', 'one waits', Queued => 1);
    my $rejected = $httpd->get('/to-a?id=full');
    is_deeply [ @$rejected{qw(status body)}, $rejected->{headers}{'retry-after'} ],
        [ 429, 'sorry of a', 7 ], 'rejected as the sections of the target say';
    $httpd->is_noted('full', code => 429, zone => 'a', status => 'full', wait => 0, queued => 1);
    is $late->answer->{status}, 429, 'the one in the queue waits as long as they say';
    $httpd->is_noted('late', status => 'timeout');

    $httpd->serves('go', 'the others are served', @hold, $elsewhere);
    $httpd->zone_becomes('a', 'each was counted once', %at_rest, Admitted => 1, Exempt => 1,
                         RejectedFull => 1, RejectedTimeout => 1);
    $httpd->zone_becomes('b', '... also here', %at_rest, Admitted => 4);
});

# Which requests count: the default, all, and handlers by name.

use AdmissionTest;

for_each_combo(sub {
    my $httpd = new_httpd(conf => join '',
        "DirectoryIndex index.html index.cgi\n",
        "AdmissionQueue 0\n",
        location('/', 'MaxConcurrent 1'),
        location('/server-info', 'SetHandler server-info'),
        location('/all/', 'MaxConcurrent 1', 'AdmissionHandlers All'),
        location('/cgi-bin/dynamic/', 'MaxConcurrent 1', 'AdmissionHandlers Dynamic'),
        location('/cgi-bin/prefix/', 'MaxConcurrent 1', 'AdmissionHandlers no-such cgi-*'),
        location('/cgi-bin/other/', 'MaxConcurrent 1', 'AdmissionHandlers no-such cgi- script'),
        location('/by-name/', 'MaxConcurrent 1', 'AdmissionHandlers server-info', 'SetHandler server-info'));
    mkdir "$httpd->{dir}/docs/$_" for qw(all list);
    $httpd->put("$_/page.txt", "page\n") for qw(all list);
    $httpd->put('index.html', "index\n");
    $httpd->put_heavy('all/hold.cgi');
    $httpd->expect_rejections("test.example:$_", 'full') for qw(/ /all/ /cgi-bin/prefix/);
    $httpd->start;
    my $status_of = sub { $httpd->get(@_)->{status} };

    my @hold = $httpd->ask('/cgi-bin/heavy?until=go');
    $httpd->zone_becomes('/', 'the only permit of / is taken', Active => 1);
    is $status_of->('/cgi-bin/heavy'), 503, 'a second program is rejected';
    is $status_of->($_), 200, "$_ is not touched"
        for qw(/static.txt / /list/ /server-status /server-info);
    is $status_of->('/no-such-file.txt'), 404, 'a missing page does not count';
    $httpd->zone_becomes('/', 'none of them was counted', Active => 1,
                         Admitted => 1, RejectedFull => 1);

    push @hold, $httpd->ask('/all/hold.cgi?until=go');
    $httpd->zone_becomes('/all/', 'a program counts in a zone of all', Active => 1);
    is $status_of->('/all/page.txt'), 503, 'a static page counts there too';

    push @hold, $httpd->ask('/cgi-bin/prefix/heavy?until=go');
    $httpd->zone_becomes('/cgi-bin/prefix/', 'cgi-* matches cgi-script', Active => 1);
    is $status_of->('/cgi-bin/prefix/heavy'), 503, 'so the next is rejected';

    push @hold, $httpd->ask('/cgi-bin/other/heavy?id=other&until=go');
    # A program that mod_cgi starts at the same moment may inherit the other one's output.
    wait_for { grep { $_ eq 'start other' } $httpd->record } 'one runs';
    is $status_of->('/cgi-bin/other/heavy'), 200,
        'other names, and parts of the name, do not match';
    $httpd->zone_becomes('/cgi-bin/other/', 'so nothing counts', Admitted => 0);

    is $status_of->('/cgi-bin/dynamic/heavy'), 200, 'a program';
    $httpd->zone_becomes('/cgi-bin/dynamic/', '... counts where all dynamic ones do',
                         Admitted => 1);

    is $status_of->('/by-name/'), 200, 'a handler that is not dynamic';
    $httpd->zone_becomes('/by-name/', 'counts where it is named', Admitted => 1);

    $httpd->serves('go', 'all requests get their response', @hold);
});

# Kinds of requests: pipelined, HEAD, Range, large and chunked bodies; each takes one permit
# and gives it back. Of bodies that are slow or announced 190-upload.t tells.

use AdmissionTest;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, conf =>
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10 timeout=5s'));
    my $admitted = 0;
    my $at_rest = sub {
        my ($after, $requests) = @_;
        $admitted += $requests;
        $httpd->zone_becomes('/cgi-bin/', "at rest after $after", Active => 0,
                             Queued => 0, Admitted => $admitted);
    };

    my @pipelines = map { $httpd->connect } 1, 2;
    for my $n (1 .. 4) {
        $pipelines[$_]->ask("/cgi-bin/heavy?id=p$_-$n&ms=5", keep => 1) for 0, 1;
    }
    for my $n (1 .. 4) {
        is_deeply [ map { $_->{body} =~ /^heavy (\S+)/ } answers(@pipelines) ],
            [ "p0-$n", "p1-$n" ], "pipelined request $n is answered in its turn";
    }
    is $pipelines[0]->ask('/static.txt', keep => 1)->answer->{body}, "static\n",
        'the connection is kept alive';
    $at_rest->('pipelining', 8);
    $_->leave for @pipelines;

    my $head = $httpd->get('/cgi-bin/heavy', method => 'HEAD');
    is "$head->{status} $head->{body}", '200 ', 'HEAD is answered without a body';
    my $range = $httpd->get('/cgi-bin/heavy', headers => ['Range: bytes=0-4']);
    # httpd has the whole of a short answer at once, or not.
    my %whole = (206 => 'heavy', 200 => "heavy -\nbody 0\n");
    is $range->{body}, $whole{ $range->{status} } // 'another status', 'Range is answered with a part, or all';
    is $httpd->get('/cgi-bin/heavy', method => 'OPTIONS')->{status}, 200, 'OPTIONS';
    $at_rest->('HEAD, Range and OPTIONS', 3);

    my $hold = $httpd->ask('/cgi-bin/heavy?until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    my $posted = $httpd->ask('/cgi-bin/heavy', method => 'POST', body => 'x' x 300_000);
    my $chunked = $httpd->ask('/cgi-bin/heavy', method => 'POST', headers => ['Transfer-Encoding: chunked'])
        ->send("4\r\nabcd\r\n0\r\n\r\n");
    $httpd->zone_becomes('/cgi-bin/', 'requests with complete bodies wait', Queued => 2);
    $httpd->serves('go', 'the first ends well', $hold);
    is_deeply [ map { $_->{body} =~ /^body (\d+)/m } answers($posted, $chunked) ], [ 300_000, 4 ],
        'large and chunked bodies arrive whole';
    $at_rest->('bodies', 3);
    $httpd->stop;
});

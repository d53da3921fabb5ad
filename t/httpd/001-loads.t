# LoadModule and one line are a complete set-up, on every MPM.

use AdmissionTest;

for_each_combo(sub {
    # The default line of 100 needs workers to wait in.
    my $httpd = start_httpd(workers => 160, conf => location('/cgi-bin/', 'MaxConcurrent 4'));

    like $httpd->get('/cgi-bin/heavy?id=first')->{body}, qr/^heavy first$/m,
        'a heavy request is answered';
    is $httpd->get('/static.txt')->{body}, "static\n", 'a static request is answered';

    my $status = $httpd->status;
    is $status->{AdmissionZones}, 1, 'one section is one zone';
    is_deeply [ keys %{ $status->{zone} } ], ['test.example:/cgi-bin/'],
        'it is called server:section';
    $httpd->zone_becomes('/cgi-bin/', 'limit and defaults are in force',
                         Limit => 4, QueueLength => 100,
                         QueueTimeoutMs => 30_000, Admitted => 1, Active => 0);
});

subtest 'loaded and not used' => sub {
    my ($combo) = combos() or plan skip_all => 'no combination';
    my $httpd = start_httpd(combo => $combo);

    is $httpd->get('/cgi-bin/heavy')->{status}, 200, 'requests pass';
    is $httpd->status->{AdmissionZones}, 0, 'there is no zone';
    $httpd->stop;
};

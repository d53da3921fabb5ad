# Requests that run whatever the count is: exempt ones, and all in a dry run.

use AdmissionTest;
use AdmissionTest::Zone;

my @one = ('MaxConcurrent 1', 'AdmissionQueue 1');

for_each_combo(sub {
    my $httpd = start_httpd(conf => join '',
        location('/cgi-bin/', @one, q(AdmissionExempt "%{HTTP:X-Urgent} == 'yes'")),
        location('/cgi-bin/dry/', @one, 'AdmissionDryRun On'),
        location('/cgi-bin/broken/', @one, q{AdmissionExempt "file('/nowhere/at-all') == 'yes'"}));
    my ($zone, $dry, $broken) = map { in_zone($httpd, $_) } '/cgi-bin/', '/cgi-bin/dry/', '/cgi-bin/broken/';

    # httpd itself has a line for each.
    $httpd->expect_in_log(qr/ADM0204/, qr/Evaluation of expression .* failed/);
    is_deeply statuses(map { $broken->asks('x')->answer } 1 .. 5), { 200 => 5 }, 'where the expression fails';
    $broken->becomes('... no request is exempt', Exempt => 0, Admitted => 5);
    is scalar(grep { /ADM0204/ } $httpd->error_log), 1, '... and the error log reports it once';

    $httpd->expect_rejections('test.example:/cgi-bin/', 'full');
    $zone->runs('go');
    $zone->waits('next');
    is $httpd->get('/cgi-bin/x?id=urgent', headers => ['X-Urgent: yes'])->{status}, 200,
        'an exempt request runs immediately';
    is $httpd->get('/cgi-bin/x?id=other', headers => ['X-Urgent: no'])->{status}, 503,
        'one for which the expression is false does not';
    $zone->becomes('it is counted apart', Exempt => 1, Active => 1, Queued => 1, Admitted => 1);
    $dry->runs("dry$_") for 1 .. 4;
    $httpd->open_gate("dry$_") for 1 .. 3;
    $dry->ends('dry4');
    $zone->ends('go');

    $httpd->is_noted(urgent => zone => 'test.example:/cgi-bin/', status => 'exempt');
    my %would = (dry1 => 'admitted', dry2 => 'dry-queued', dry3 => 'dry-full', dry4 => 'dry-full');
    $httpd->is_noted($_ => zone => 'test.example:/cgi-bin/dry/', status => $would{$_}) for sort keys %would;
    $dry->becomes('the status shows it', DryRun => 1, Admitted => 4, DryQueued => 1, RejectedFull => 2);
    $zone->becomes('... and the one rejection in the other zone', RejectedFull => 1);
});

# Programs that are alive when httpd has finished with the request: the permit
# comes back when they are gone, not before.

use AdmissionTest;
use Admission::Config;

# A process of its own for each answer, which ends with the answer.
my $has_filters = Admission::Config::is_installed('ext_filter');
my $filter = $has_filters ? join '',
    "ExtFilterDefine cat cmd=/bin/cat\n",
    location('/cgi-bin/filtered/', 'SetOutputFilter cat') : '';

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, modules => [ ('ext_filter') x $has_filters ],
                            conf => $filter . join '',
        virtual_host('test.example'),
        virtual_host('impatient.example', 'Timeout 1'),
        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 5'));
    # httpd's own words about the first two; of whoever reads the answer.
    $httpd->expect_in_log(qr/cgid?:(?:warn|error).*[Tt]im(?:eout|ed out)/,
                          qr/admission:error.*timeout.*ADM0213: /);

    # Where the time out is short: the others may take longer to be seen, and run.
    my $impatient = 'http://impatient.example';
    my @programs = (
        [ 'stalls longer than Timeout', 'early=1&until=never', 200, 0 ],
        [ 'sends no header in Timeout', 'until=never', 504 ],
        [ 'closes its outputs and works on', 'close=1&ms=500', 200 ],
    );
    push @programs, [ 'does so behind a filter', 'close=1&ms=500&ignore=1', 200 ] if $has_filters;
    for my $n (0 .. $#programs) {
        my ($what, $query, @statuses) = @{ $programs[$n] };
        my $watch = $httpd->watch;
        my $path = $what =~ /filter/ ? 'filtered/' : '';
        my $host = $what =~ /Timeout/ ? $impatient : '';
        my $first = $httpd->ask("$host/cgi-bin/${path}heavy?id=odd$n&$query");
        wait_for { grep { $_ eq "start odd$n" } $httpd->record }
            "a program $what";
        my @next = map { $httpd->ask("/cgi-bin/heavy?id=next$n&ms=20") } 1 .. 3;

        my $status = $first->answer->{status};
        ok scalar(grep { $_ == $status } @statuses), "its client gets @statuses" or diag $status;
        is_deeply statuses(answers(@next)), { 200 => 3 }, 'the next ones run';
        is $watch->most, 1, 'there were never two concurrent programs';
        $httpd->zone_becomes('/cgi-bin/', 'the permit is back', Active => 0, Queued => 0);
    }
    $httpd->stop;
});

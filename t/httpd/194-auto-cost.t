# AdmissionCost auto: what the programs of a script take in memory is learnt, and then a
# request for it takes as many permits.

use FindBin;
use lib "$FindBin::Bin/../lib";
use AdmissionTest;

my $ZONE = '/kinds/';
# Beside so many permits each stands for little memory, on any machine.
my $MOST = 60_000;

sub conf {
    my ($limit) = @_;
    return "<Location /kinds/>\nMaxConcurrent $limit\nAdmissionCost auto\nAdmissionQueue 0\n"
           . "</Location>\n";
}

# One request, of a program that has its memory until the gate opens.
sub run_one {
    my ($httpd, $script, $mb, @see) = @_;
    my $gate = join '-', $script, ++$httpd->{gates};
    my $client = $httpd->ask("/kinds/$script.cgi?mb=$mb&until=$gate");

    $httpd->zone_becomes($ZONE, "$script runs", Queued => 0);
    $_->() for @see;
    $httpd->open_gate($gate);
    is $client->answer->{status}, 200, '... and is answered';
    $httpd->zone_becomes($ZONE, '... and has ended', Active => 0);
}

sub active { return $_[0]->zone($ZONE)->{Active} }

sub is_measured {
    my ($httpd, $mb) = @_;
    return sub {
        wait_for { $httpd->zone($ZONE)->{ProgramLargestMB} >= $mb } "its $mb MB are seen", 20;
    };
}

sub takes {
    my ($httpd, $least, $most, $what) = @_;
    return sub {
        wait_for { my $active = active($httpd); $active >= $least && $active <= $most }
            "$what: from $least to $most permits" or diag active($httpd);
    };
}

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = new_httpd(combo => $combo, workers => 20, conf => conf("auto 1 $MOST"));

    $httpd->put_heavy("kinds/$_.cgi") for qw(small large);
    $httpd->start;
    $httpd->allow_in_log(qr/ADM0103/);    # more than the workers

    run_one($httpd, 'small', 10, takes($httpd, 1, 1, 'one that is not known'),
            is_measured($httpd, 9));
    run_one($httpd, 'large', 80, takes($httpd, 1, 1, 'another one'), is_measured($httpd, 75));
    wait_for { $httpd->zone($ZONE)->{Limit} >= 4 } 'the limit is at least what the large one takes',
        20;
    run_one($httpd, 'large', 80, takes($httpd, 4, 12, 'one that is known as large'));
    run_one($httpd, 'small', 10, takes($httpd, 1, 1, 'a small one'));

    my ($agent) = $httpd->agents;
    kill KILL => $agent;
    wait_for { my @agents = $httpd->agents; @agents == 1 && $agents[0] != $agent }
        'another agent begins', 40;
    $httpd->expect_in_log(qr/ADM0133/);
    run_one($httpd, 'large', 80, takes($httpd, 4, 12, '... and knows the large one'));

    $httpd->configure(conf(10));
    $httpd->graceful;
    $httpd->zone_becomes($ZONE, 'a number', Limit => 10, LimitMode => 'fixed');
    run_one($httpd, 'large', 80, takes($httpd, 1, 1, 'each takes one'));
    $httpd->expect_in_log(qr/ADM0151: .*AdmissionCost auto is for MaxConcurrent auto/);
    $httpd->stop;
}, 'event+cgid');

done_testing;

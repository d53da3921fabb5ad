# Every field of the tables is in every output, none is anywhere else, and at
# rest all outputs have the same value. Only ?prometheus and the page leave out what
# tells nothing of a zone, and the page what is 0.

use AdmissionTest;
use AdmissionTest::Alone;
use AdmissionTest::Outputs;
use Fields;

my %fields = map { $_ => [ fields_of($_) ] } qw(server zone);
my $ZONE = 'test.example:/cgi-bin/';

# A number, or the word for it.
sub is_zero { return $_[0] =~ /^(?:0|open|fixed|off|none)\z/ }

# All outputs of one moment: the agent looks at the machine's memory now and then, and
# others use that meanwhile.
sub outputs_of_a_moment {
    my ($httpd, $zone) = @_;
    my ($outputs, $next) = map { read_outputs($httpd, $zone) } 1 .. 2;

    for (my $n = 0; $n < 20 && !eq_hash($outputs->{'?auto'}, $next->{'?auto'}); $n++) {
        ($outputs, $next) = ($next, read_outputs($httpd, $zone));
    }
    return $outputs;
}

# Assertions: every output has the fields that it is to have, and if the zone is at
# rest with the same values. Where it is not, what was 0 may have changed until the page came.
sub all_agree {
    my ($httpd, $zone, $is_at_rest) = @_;
    my $outputs = $is_at_rest ? outputs_of_a_moment($httpd, $zone) : read_outputs($httpd, $zone);

    for my $output (sort keys %$outputs) {
        for my $what (sort keys %fields) {
            my ($shown, %auto) = ($outputs->{$output}{$what}, %{ $outputs->{'?auto'}{$what} });
            my $is_short = $output =~ ($what eq 'zone' ? qr/Prometheus|the page/ : qr/the page/);
            my @names = map { $_->{name} }
                grep { !$is_short || tells_of($_, \%auto) }
                grep { $output ne 'the page' || !is_zero($auto{ $_->{name} })
                       || !$is_at_rest && exists $shown->{ $_->{name} } } @{ $fields{$what} };

            is_deeply [ sort keys %$shown ], [ sort @names ],
                "$output of $zone has the fields of the $what and no other";
            is_deeply $shown, { map { $_ => $auto{$_} } @names }, '... with the values of ?auto'
                if $is_at_rest;
        }
    }
}

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_alone(combo => $combo, workers => 40, conf =>
        location('/admission', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 1 timeout=7s')
        . location('/found/', 'MaxConcurrent auto', 'AdmissionQueue 5')
        . location('/dry/', 'MaxConcurrent 1', 'AdmissionQueue 5', 'AdmissionDryRun On'));
    $httpd->expect_rejections($ZONE, 'full');

    # So that not all numbers are zero.
    my @line = $httpd->fill('/cgi-bin/', 'go', 1, 1);
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'a further request is rejected';
    $httpd->serves('go', 'the others are served', @line);
    $httpd->zone_becomes('/cgi-bin/', 'the zone is idle', Active => 0, Queued => 0);

    my %label = $httpd->get('/admission?zone=test.example:/found/')->{body}
        =~ m{<div data-field="(\w+)"[^>]*><dt>([^<]*)}g;
    is_deeply [ @label{qw(QueueTimeoutMs MemoryBudgetMB Limit)} ],
        [ 'Queue timeout', 'Memory budget', 'Limit' ],
        'the page has the units with the numbers';

    all_agree($httpd, $ZONE, 1);
    # What an automatic limit shows changes by itself.
    all_agree($httpd, "test.example:/$_/", 0) for qw(found dry);
}, 'prefork+cgi', 'event+cgid');

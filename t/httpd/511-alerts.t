# The alert rules of conf/examples: promtool, where it is installed, finds each alert in
# made-up numbers. t/httpd/017-examples.t looks whether there are such metrics.

use FindBin;
use File::Temp ();
use Project;

my $RULES = "$FindBin::Bin/../../conf/examples/prometheus-alerts.yml";

# Of a healthy server and its zone.
my %SERVER = (zones => 1, agent => 1, reserve_free => 9, unlimited_total => 0, memory_available_bytes => 9,
              engine_state => 1);
my %ZONE = (active => 2, limit => 4, queued => 1, queue_length => 100, mode => 0, overridden => 0, orphans => 0,
            oldest_wait_seconds => 1, queue_timeout_seconds => 30, program_room => 5, fleet_state => 1,
            programs_ended_total => 9, limit_brakes_total => 0, admitted_total => '0+60', rejected_total => 0);

# Each alert: when it must come, and by which values of these series.
my %ALERT = (
    AdmissionRejects       => [ '15m', rejected_total => '0+10x30', admitted_total => '0+60x30' ],
    AdmissionQueueFull     => [ '5m', queued => '5x30', queue_length => '5x30' ],
    AdmissionWaitsLong     => [ '5m', oldest_wait_seconds => '29x30', queue_timeout_seconds => '30x30' ],
    AdmissionNotOpen       => [ '20m', mode => '2x30' ],
    AdmissionOverridden    => [ '25h', overridden => '1x1600' ],
    AdmissionOrphans       => [ '15m', orphans => '2x30' ],
    AdmissionMemoryShort   => [ '10m', active => '2x30', limit => '8x30', queued => '3x30', program_room => '1x30',
                                programs_ended_total => '9x30', memory_available_bytes => '9x30' ],
    AdmissionBrakes        => [ '20m', limit_brakes_total => '0+1x30' ],
    AdmissionWorkersShort  => [ '5m', reserve_free => '0x30' ],
    AdmissionAgentDead     => [ '5m', agent => '0x30' ],
    AdmissionEngineLost    => [ '5m', engine_state => '2x30' ],
    AdmissionFleetFallback => [ '5m', fleet_state => '3x30' ],
    AdmissionUnlimited     => [ '5m', unlimited_total => '0+1x30' ],
    AdmissionDark          => [ '10m', other => '1x30' ],
);

# A part of a file for "promtool test rules": with these values of series, so many of the
# alerts that this selects come.
sub rules_test {
    my ($selects, $when, $samples, %values) = @_;
    my $text = "  - interval: 1m\n    input_series:\n";

    for my $name (sort keys %values) {
        my $labels = join ',', 'instance="a"', exists $ZONE{$name} ? 'zone="z"' : (),
                     $name eq 'rejected_total' ? 'reason="full"' : ();
        my $series = $name eq 'other' ? $name : "admission_$name\{$labels}";
        $text .= "      - {series: '$series', values: '$values{$name}'}\n";
    }
    return "$text    promql_expr_test:\n"
        . "      - {expr: 'count(ALERTS$selects)', eval_time: $when, exp_samples: [$samples]}\n";
}

sub rules_tests {
    my %healthy = map { my $values = $_; map { $_ => "$values->{$_}x2000" } keys %$values } \%SERVER, \%ZONE;

    return join '', "rule_files: [$RULES]\ntests:\n", rules_test('', '26h', '', %healthy), map {
        my ($when, %values) = @{ $ALERT{$_} };
        rules_test(qq({alertname="$_",alertstate="firing"}), $when, '{value: 1}', %values);
    } sort keys %ALERT;
}

my @alerts = slurp('conf/examples/prometheus-alerts.yml') =~ /- alert: (\w+)/g;
is_deeply [ sort @alerts ], [ sort keys %ALERT ], 'each alert has its numbers here';
SKIP: {
    skip 'promtool is not installed', 2 if system 'command -v promtool >/dev/null';
    is system("promtool check rules $RULES >/dev/null"), 0, 'promtool accepts the alerts';
    my $test = File::Temp->new(SUFFIX => '.yml');
    print $test rules_tests();
    close $test;
    my $said = `promtool test rules $test 2>&1`;
    is $?, 0, '... and finds each of them, and none on a healthy server' or diag $said;
}

# The alert rules of conf/examples: promtool, where it is installed, finds each alert in
# made-up numbers. t/httpd/017-examples.t looks whether there are such metrics.

use strict;
use warnings;

use FindBin;
use Test::More;
use File::Temp ();

my $EXAMPLES = "$FindBin::Bin/../../conf/examples";
my $RULES = "$EXAMPLES/prometheus-alerts.yml";

sub contents {
    my ($path) = @_;
    open my $file, '<', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar <$file>;
}

# Each alert: series by which it must come, and when.
my %SERIES = (
    AdmissionRejects => [ '15m', zone => [
        'admission_rejected_total{instance="a",zone="z",reason="full"} 0+10x30',
        'admission_admitted_total{instance="a",zone="z"} 0+60x30' ] ],
    AdmissionQueueFull => [ '5m', zone => [
        'admission_queued{instance="a",zone="z"} 5x30',
        'admission_queue_length{instance="a",zone="z"} 5x30' ] ],
    AdmissionWaitsLong => [ '5m', zone => [
        'admission_oldest_wait_seconds{instance="a",zone="z"} 29x30',
        'admission_queue_timeout_seconds{instance="a",zone="z"} 30x30' ] ],
    AdmissionNotOpen => [ '20m', zone => ['admission_mode{instance="a",zone="z"} 2x30'] ],
    AdmissionOverridden => [ '25h', zone => ['admission_overridden{instance="a",zone="z"} 1x1600'] ],
    AdmissionOrphans => [ '15m', zone => ['admission_orphans{instance="a",zone="z"} 2x30'] ],
    AdmissionMemoryShort => [ '10m', zone => [
        'admission_active{instance="a",zone="z"} 2x30',
        'admission_limit{instance="a",zone="z"} 8x30',
        'admission_queued{instance="a",zone="z"} 3x30',
        'admission_program_room{instance="a",zone="z"} 1x30',
        'admission_programs_ended_total{instance="a",zone="z"} 9x30',
        'admission_memory_available_bytes{instance="a"} 9x30' ] ],
    AdmissionBrakes => [ '20m', zone => ['admission_limit_brakes_total{instance="a",zone="z"} 0+1x30'] ],
    AdmissionWorkersShort => [ '5m', instance => ['admission_reserve_free{instance="a"} 0x30'] ],
    AdmissionAgentDead => [ '5m', instance => ['admission_agent{instance="a"} 0x30'] ],
    AdmissionEngineLost => [ '5m', instance => ['admission_engine_state{instance="a"} 2x30'] ],
    AdmissionFleetFallback => [ '5m', zone => ['admission_fleet_state{instance="a",zone="z"} 3x30'] ],
    AdmissionUnlimited => [ '5m', instance => ['admission_unlimited_total{instance="a"} 0+1x30'] ],
    AdmissionDark => [ '10m', none => ['other 1x30'] ],
);

# A file for "promtool test rules": with these numbers the alert comes; with those of
# a healthy server none does.
sub rules_test {
    my $text = "rule_files: [$RULES]\ntests:\n";
    for my $alert (sort keys %SERIES) {
        my ($when, $what, $series) = @{ $SERIES{$alert} };
        $text .= "  - interval: 1m\n    input_series:\n";
        $text .= join '', map { my ($name, $values) = /^(\S+) (.*)$/;
                                "      - {series: '$name', values: '$values'}\n" } @$series;
        $text .= "    promql_expr_test:\n"
            . "      - {expr: 'count(ALERTS{alertname=\"$alert\",alertstate=\"firing\"})', "
            . "eval_time: $when, exp_samples: [{value: 1}]}\n";
    }
    my %healthy = (zones => 1, agent => 1, reserve_free => 9, unlimited_total => 0,
                   memory_available_bytes => 9, engine_state => 1);
    my %zone = (active => 2, limit => 4, queued => 1, queue_length => 100, mode => 0, overridden => 0,
                orphans => 0, oldest_wait_seconds => 1, queue_timeout_seconds => 30,
                program_room => 5, fleet_state => 1, programs_ended_total => 9, limit_brakes_total => 0,
                admitted_total => '0+60', rejected_total => 0);
    $text .= "  - interval: 1m\n    input_series:\n";
    $text .= join '', map { "      - {series: 'admission_$_\{instance=\"a\"}', values: '$healthy{$_}x2000'}\n" }
                      sort keys %healthy;
    $text .= join '', map { "      - {series: 'admission_$_\{instance=\"a\",zone=\"z\"}', values: '$zone{$_}x2000'}\n" }
                      sort keys %zone;
    return "$text    promql_expr_test:\n"
        . "      - {expr: 'count(ALERTS)', eval_time: 26h, exp_samples: []}\n";
}

my @alerts = contents($RULES) =~ /- alert: (\w+)/g;
is_deeply [ sort @alerts ], [ sort keys %SERIES ], 'each alert has its numbers here';
SKIP: {
    skip 'promtool is not installed', 2 if system 'command -v promtool >/dev/null';
    is system("promtool check rules $RULES >/dev/null"), 0, 'promtool accepts the alerts';
    my $test = File::Temp->new(SUFFIX => '.yml');
    print $test rules_test();
    close $test;
    my $said = `promtool test rules $test 2>&1`;
    is $?, 0, '... and finds each of them, and none on a healthy server' or diag $said;
}

done_testing;

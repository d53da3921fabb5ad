# The script that Redis runs, and the code that servers run, against an adversary who
# delays, repeats and loses messages, kills servers and restarts Redis with its data
# kept, lost or rolled back: never more than the limit.

use AdmissionTest;

my $adversary = $ENV{ADMISSION_ADVERSARY} // '';
# FLEET_SCHEDULES=1000 plays as many. The rule that is missed last is so by the 36th.
my $schedules = $ENV{FLEET_SCHEDULES} // 60;

plan skip_all => 'no adversary: it was built without hiredis' if !-x $adversary;
plan skip_all => 'no Redis: install redis-tools' if !Admission::Redis->program;

my $redis = Admission::Redis->start;

sub play {
    my ($fallback, $terms, @without) = @_;
    my @said = `'$adversary' '$redis->{socket}' $schedules $fallback $terms @without`;

    is $?, 0, join ' ', "it plays: $fallback, $terms", map { "without $_" } @without;
    my ($deaths, $exceed, $full) = $said[-1]
        =~ /^schedules \d+, deaths of the engine (\d+), exceed (\d+), full (\d+)$/;
    note $said[-1];
    return { deaths => $deaths // 0, exceed => $exceed // -1, full => $full // 0 };
}

for my $terms (qw(equal mixed)) {
    for my $fallback (qw(reject keep)) {
        my $played = play($fallback, $terms);

        is $played->{exceed}, 0, "$fallback, $terms leases: no schedule exceeds the limit";
        cmp_ok $played->{full}, '>', 0, '... which is reached';
        cmp_ok $played->{deaths}, '>', 0, '... while the engine dies';
    }
}
for my $rule (qw(shrink generation learning)) {
    cmp_ok play('reject', 'equal', $rule)->{exceed}, '>', 0, "without the rule '$rule' some do";
}
cmp_ok play('reject', 'mixed', 'span')->{exceed}, '>', 0, "without the rule 'span' some do";

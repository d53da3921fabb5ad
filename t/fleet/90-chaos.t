# Everything that can go wrong in a fleet, at random.
#
#     SECONDS=1800 make check-fleet    half an hour of it; two minutes unless said
#     SEED=4711 ...                    the accidents of an earlier run

use AdmissionTest;
use AdmissionTest::Fleet;
use AdmissionTest::FleetChaos;

engine_or_skip('redis');

my $seconds = $ENV{SECONDS} // 120;
my $seed    = $ENV{SEED} // int rand 1e6;
my @wanted  = qw(event+cgid prefork+cgi);
my $combos  = combos(@wanted) || 1;

diag "SEED=$seed";
for_each_combo(sub {
    my ($combo) = @_;
    fleet_chaos(combo => $combo, seconds => $seconds / $combos, seed => $seed);
}, @wanted);

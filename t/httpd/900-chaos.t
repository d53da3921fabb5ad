# Everything that can go wrong, at random, on every MPM and CGI module: for three seconds
# each, or longer:
#
#     make check-chaos                    five minutes
#     SECONDS=1800 make check-chaos       half an hour, shared by the combinations
#     SEED=4711 make check-chaos          the accidents of an earlier run
#     ADMISSION_COMBOS=event+cgid ...     one combination only
#
# docs/dev/chaos.md says what happens and what long runs found.

use AdmissionTest;
use AdmissionTest::Chaos;

my $seed    = $ENV{SEED} // int rand 1e6;
my $seconds = $ENV{ADMISSION_LONG} ? ($ENV{SECONDS} // 300) / combos() : 3;

diag "SEED=$seed";
for_each_combo(sub {
    my ($combo) = @_;
    chaos(combo => $combo, seconds => $seconds, seed => $seed);
});

# A short chaos run; t/chaos/run is the long one.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use AdmissionTest::Chaos;

my $seed = $ENV{SEED} // int rand 1e6;

diag "SEED=$seed";
for_each_combo(sub {
    my ($combo) = @_;
    chaos(combo => $combo, seconds => 3, seed => $seed);
});

done_testing;

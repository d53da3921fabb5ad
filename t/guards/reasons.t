# Each reason of an automatic limit has its word, its sentence, and its row in the manual.

use AdmissionTest::Outputs;
use Project;

my @reasons = slurp('src/auto/law_tune_state.h') =~ /typedef enum law_tune_reason_t \{(.*?)LAW_TUNE_REASONS/s
    ? $1 =~ /^ +LAW_TUNE_(\w+),/mg : ();
my %word = slurp('src/auto/law_tune_shown.c') =~ /\[LAW_TUNE_(\w+)\] = "(\w+)"/g;
my %sentence = map { $_ => 1 } slurp('src/auto/auto_view.c') =~ /case LAW_TUNE_(\w+):/g;
my %row = slurp('docs/manual/auto.md') =~ /^\| (\d+) \| `(\w+)` \|/mg;

cmp_ok scalar(@reasons), '>', 5, 'there are reasons';
none 'a reason has a word', grep { !$word{$_} } @reasons;
none 'a reason has a sentence, except that of no decision', grep { !$sentence{$_} } grep { $_ ne 'NONE' } @reasons;
is_deeply [ map { $row{$_} } 0 .. $#reasons ], [ map { $word{$_} } @reasons ], 'the manual has their numbers';
is_deeply [ AdmissionTest::Outputs::words('LimitReason') ], [ map { $word{$_} } @reasons ],
    'the tests of the outputs know their words';

# Each step of the model is named in the code and explained in docs/dev/model.md.

use Project;

my $step = qr/[TWRCPBKN]\d+_\w+/;
my %modelled = map { $_ => 1 }
               map { slurp($_) =~ /^($step):/mg } files(qr/\.pml\z/, 't/model');
my %coded = map { $_ => 1 } map { slurp($_) =~ /\b($step)\b/g } files(qr/\.c\z/, 'src');
my %explained = map { $_ => 1 } slurp('docs/dev/model.md') =~ /`($step)`/g;

ok %modelled, 'the model names its steps';
none 'a step of the model is named in the code', grep { !$coded{$_} } sort keys %modelled;
none 'a step that the code names is in the model', grep { !$modelled{$_} } sort keys %coded;
none 'a step is explained in docs/dev/model.md', grep { !$explained{$_} } sort keys %modelled;

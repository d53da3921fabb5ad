# Each variable of the environment that a test, benchmark or tool reads is in the table of
# docs/dev/hacking.md, and each one there is read.

use Project;

# Of the system, or from one process to another of the same run.
my %internal = map { $_ => 1 } qw(ADMISSION_BENCH ADMISSION_URL BUILT BENCH_FILES_RAISED HOME PATH QUERY_STRING TERM TMPDIR);

my ($section) = slurp('docs/dev/hacking.md') =~ /^### Environment\n(.*?)^## /ms;
my %listed = map { $_ => 1 } $section =~ /`([A-Z]{2,}(?:_[A-Z]+)*)\b/g;
my %read = map { $_ => 1 } map { slurp($_) =~ /\$ENV\{([A-Z_]+)\}/g }
           grep { $_ ne 't/guards/environment.t' } files(qr{\.(?:t|pm)\z|/[a-z-]+\z}, qw(t bench demo tools));

none 'each variable is in the table of hacking.md', grep { !$listed{$_} && !$internal{$_} } sort keys %read;
none '... and each one there is read', grep { !$read{$_} } sort keys %listed;

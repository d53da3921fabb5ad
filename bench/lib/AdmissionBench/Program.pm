package AdmissionBench::Program;

# The programs of the experiments, bench/programs/NAME.c.

use strict;
use warnings;

use Exporter 'import';
use File::Temp ();

use AdmissionBench ();

our @EXPORT = qw(run_at_cgi_bin);

# Makes this program the one that each httpd started from now on has below
# /cgi-bin/, in the place of the tests'.
sub run_at_cgi_bin {
    my ($name) = @_;
    our $dir //= File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
    my @build = ($ENV{CC} // 'cc', '-std=gnu11', '-O2', '-Wall', '-o', "$dir/$name",
                 "$AdmissionBench::ROOT/bench/programs/$name.c");

    system(@build) == 0 or die "@build failed\n";
    $ENV{ADMISSION_HEAVY} = "$dir/$name";
}

1;

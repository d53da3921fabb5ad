package AdmissionBench::Program;

# The programs of the experiments, bench/programs/NAME.c.

use strict;
use warnings;

use Exporter 'import';

use AdmissionBench ();

our @EXPORT = qw(run_at_cgi_bin);

# Makes this program the one that each httpd started from now on has below
# /cgi-bin/, in the place of the tests'.
sub run_at_cgi_bin {
    my ($name) = @_;
    $ENV{ADMISSION_HEAVY} = AdmissionBench::compile($name);
}

1;

# What benchmarks and demonstrations use asserts nothing: it dies.
use strict;
use warnings;

use Test::More;

use Project;

my @users = (files(qr//, qw(bench demo)), 't/lib/Admission.pm', files(qr/\.pm\z/, 't/lib/Admission'));

ok @users, 'there are users';
none 'who is no test uses nothing of tests',
    grep { slurp($_) =~ /^\s*use (?:parent ')?(?:Test::|AdmissionTest)/m } @users;

done_testing;

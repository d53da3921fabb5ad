# httpd loads modules into one space of names: ours is admission_module alone.
use strict;
use warnings;

use Test::More tests => 2;

my $module = $ENV{ADMISSION_MODULE} // '.libs/mod_admission.so';

open my $nm, '-|', 'nm', '-D', '--defined-only', $module
    or die "nm: $!";
my @symbols = map { (split)[-1] } <$nm>;

ok close($nm), "nm reads $module";
is_deeply \@symbols, ['admission_module'], 'one dynamic symbol is exported';

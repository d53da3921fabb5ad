# httpd loads modules into one space of names: ours is admission_module alone. And
# it refuses a module that calls what nobody has: the linker lets that pass, as
# it does for httpd's own functions. Seen in the module as it is, and as an older
# httpd gets it.
use strict;
use warnings;

use Test::More tests => 6;

my $module = $ENV{ADMISSION_MODULE} // '.libs/mod_admission.so';
my $older  = $module =~ s{mod_admission\.so\z}{mod_admission_older.so}r;

sub symbols {
    my ($which, $file) = @_;
    open my $nm, '-|', 'nm', '-D', "--$which-only", $file or die "nm: $!";
    my @symbols = map { (split)[-1] } <$nm>;
    ok close($nm), "nm reads the $which symbols of $file";
    return @symbols;
}

is_deeply [ symbols('defined', $module) ], ['admission_module'],
    'one dynamic symbol is exported';
is_deeply [ grep { /^adm(?:ission)?_/ } symbols('undefined', $_) ], [],
    '... and none of ours is missing'
    for $module, $older;

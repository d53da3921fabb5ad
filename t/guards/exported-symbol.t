# httpd loads modules into one space of names: ours is admission_module alone. And
# it refuses a module that calls what nobody has: the linker lets that pass, as
# it does for httpd's own functions. Seen in the module as it is, and with the objects
# that an older httpd gets (libadmission-older).

use File::Basename qw(basename dirname);
use Project;

my $module = $ENV{ADMISSION_MODULE} // '.libs/mod_admission.so';
my $build  = dirname(dirname($module));

# The functions of this project that an object or module defines, or lacks.
sub symbols {
    my ($which, $option, @files) = @_;
    open my $nm, '-|', 'nm', $option, "--$which-only", @files or die "nm: $!";
    my @symbols = map { /(\w+)$/ } grep { / [A-Za-z] / } <$nm>;
    ok close($nm), "nm reads the $which symbols of $files[0]";
    return @symbols;
}

# configure may have left out the capability of a file.
sub is_built { return -e "$build/" . $_[0] =~ s{([^/]*)\.[ch]\z}{.libs/mod_admission_la-$1.o}r }

sub ours { return grep { /^adm(?:ission)?_/ } @_ }

is_deeply [ symbols('defined', '-D', $module) ], ['admission_module'],
    'one dynamic symbol is exported';
is_deeply [ ours(symbols('undefined', '-D', $module)) ], [], '... and none of ours is missing';

# Objects of sources that are still there: a build tree may have others from before.
my @sources = files(qr/\.c\z/, 'src');
sub objects { my ($of) = @_; return grep { -e } map { "$build/" . s{([^/]*)\.c\z}{.libs/${of}_la-$1.o}r } @sources }

my %older  = map { basename($_) =~ s/.*_la-//r => $_ } objects('libadmission_older');
my @module = map { $older{ basename($_) =~ s/.*_la-//r } // $_ } objects('mod_admission');
my @core   = objects('libadmission_core');
my %there  = map { $_ => 1 } symbols('defined', '-g', @module, @core);

ok $older{'mod_admission.o'}, 'files are built as for an older httpd';
is_deeply [ grep { !$there{$_} } ours(symbols('undefined', '-g', @module)) ], [],
    '... and none of ours is missing from that module';

# What httpd 2.4.37 lacks; the headers of a new httpd have it.
my $newer = qr/\b(?:ap_hook_child_stopping|outgoing|AP_MPMQ_CAN_WAITIO|ADMISSION_SINCE|ADMISSION_HAS_\w+)\b/;

none 'a file that uses what only newer versions have is one of these',
    grep { without_comments(slurp($_)) =~ $newer && !$older{ basename($_, '.c') . '.o' } }
    grep { $_ ne 'src/module/since.h' && is_built($_) } files(qr/\.[ch]\z/, 'src');

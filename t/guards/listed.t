# A test that nobody runs is worse than none, and a source file that is not
# distributed is missed late: each is in a list of a .am file.
use strict;
use warnings;

use Test::More;

use Project;

my %listed = map { $_ => 1 } map { split } grep { !/^#/ } map { lines($_) }
             qw(Makefile.am src/sources.am t/tests.am);

# Itself, or with the whole directory that it is in.
sub is_listed {
    my ($path) = @_;
    my ($directory) = $path =~ m{^(\w+/\w+)/};

    return $listed{$path} || $directory && $listed{$directory};
}

my @c_files = files(qr/\.[ch]\z/, qw(src t));
my @programs = grep { slurp($_) =~ /^int main\(/m } @c_files;
my %is_program = map { $_ => 1 } @programs;
# A program is listed by its name, which is that of its source file.
my @tests = (files(qr/\.t\z/, 't'), map { s/\.c\z//r } @programs);
my @sources = grep { !$is_program{$_} } @c_files;

ok @tests && @sources, 'there are tests and sources';
none 'a test is in a list of a .am file', grep { !$listed{$_} } @tests;
none 'a source file is in a list of a .am file',
    grep { !is_listed($_) } @sources;

done_testing;

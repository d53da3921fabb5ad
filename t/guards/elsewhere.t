# What only Linux has is left out elsewhere, and its functions are not: a module that
# misses one of its own is not loaded.
use strict;
use warnings;

use File::Temp;
use Test::More;

use Project;

my $root = $ENV{ADMISSION_SRCDIR} || '.';
my $apxs = $ENV{APXS} // 'apxs';
my $folder = File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);

sub answer {
    my ($command) = @_;
    chomp(my $answer = `$command` // '');
    return $answer;
}

my $apr = answer("$apxs -q APR_CONFIG");
my @compile = ((split ' ', $ENV{CC} // 'cc'), qw(-std=gnu11 -O0 -c),
               (map { "-I$root/src$_" } '', qw(/agent /core /engine /httpd /law)),
               '-I' . answer("$apxs -q INCLUDEDIR"),
               split ' ', answer("$apr --includes --cppflags"));

sub functions_of {
    my ($path, @options) = @_;
    system(@compile, @options, '-o', "$folder/object.o", "$root/$path") == 0 or return;
    # Not those that the compiler adds on i386.
    return sort grep { !/\A__x86[.]/ } map { (split)[0] } split /\n/,
           answer("nm -g --defined-only --format=posix $folder/object.o");
}

my @sources = grep { slurp($_) =~ /\b(?:__linux__|ADMISSION_HAS_STAND_IN)\b/ }
              files(qr/\.c\z/, qw(src/agent src/httpd));

ok scalar(@sources), 'there is something that only Linux has';
for my $path (@sources) {
    my @here = functions_of($path);

    ok @here, "$path has functions";
    is_deeply [ functions_of($path, '-U__linux__') ], \@here, '... and the same elsewhere';
}

done_testing;

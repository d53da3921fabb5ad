# A file fits in one head and a function on two screens.
use strict;
use warnings;

use Test::More;

use Project;

use constant { LINES_IN_FILE => 500, LINES_IN_FUNCTION => 60 };

my @sources = (files(qr/\.(?:am|c|h|t|pm)\z/, qw(src t demo bench)),
               files(qr//, qw(quickstart demo/run configure.ac Makefile.am)));

sub too_long_file {
    my ($path) = @_;
    my $lines = lines($path);

    return $lines <= LINES_IN_FILE ? () : "$path: $lines lines";
}

sub too_long_functions {
    my ($path) = @_;

    return map { "$path: $_->[0]: $_->[1] lines" }
           grep { $_->[1] > LINES_IN_FUNCTION } functions($path);
}

# A function with its brace elsewhere would not be measured.
sub misplaced_braces {
    my ($path) = @_;

    return map { "$path: $_" }
        grep { /^\w.*\)\s*\{\s*\z/ && !/^(?:typedef|struct|union|enum)\b/ }
        lines($path);
}

my @c_files = grep { /\.[ch]\z/ } @sources;

ok scalar(map { functions($_) } @c_files), 'there are functions';
none 'a file has at most ' . LINES_IN_FILE . ' lines',
    map { too_long_file($_) } @sources;
none 'a function has at most ' . LINES_IN_FUNCTION . ' lines',
    map { too_long_functions($_) } @c_files;
none 'the brace of a function has a line of its own',
    map { misplaced_braces($_) } @c_files;

done_testing;

# What stands twice is mended once: no six lines of code are repeated in src.
use strict;
use warnings;

use Test::More;

use Project;

use constant LINES => 6;

# Lines of code as [path, number, text]. Includes, and lines without a word, say
# nothing.
sub code_of {
    my ($path) = @_;
    my $number = 0;

    return map { [$path, @$_] }
           grep { $_->[1] =~ /\w/ && $_->[1] !~ /^#\s*(?:include|endif|else)/ }
           map { [++$number, s/\s+/ /gr =~ s/^ | $//gr] }
           split /\n/, without_comments(slurp($path));
}

my (%first, @repeated);

for my $path (files(qr/\.[ch]\z/, 'src')) {
    my @code = code_of($path);

    for my $at (0 .. @code - LINES) {
        my $text = join "\n", map { $_->[2] } @code[$at .. $at + LINES - 1];
        my $place = "$path:$code[$at][1]";

        push @repeated, "$place stands at $first{$text}, too" if $first{$text};
        $first{$text} //= $place;
    }
}

ok keys %first, 'there is code';
none 'no ' . LINES . ' lines stand twice in src', @repeated;

done_testing;

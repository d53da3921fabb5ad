# Check runs only what its program adds to a case.
use strict;
use warnings;

use Test::More;

use Project;

my ($tests, @forgotten) = (0);

for my $path (files(qr/\.c\z/, 't')) {
    my $code = without_comments(slurp($path));
    my %added = map { $_ => 1 }
                $code =~ /\btcase_add_\w*test\w*\(\s*[^,()]+,\s*(\w+)/g;
    my @names = $code =~ /^START_TEST\(\s*(\w+)\s*\)/gm;

    $tests += @names;
    push @forgotten, map { "$path: $_" } grep { !$added{$_} } @names;
}

ok $tests, 'there are unit tests';
none 'a unit test is added to a case', @forgotten;

done_testing;

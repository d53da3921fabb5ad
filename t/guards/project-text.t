# The files speak of the project alone: no directory of one machine, no number
# of a tracker that readers do not have, nothing left for later.
use strict;
use warnings;

use Test::More;

use Project;

my %foreign = (
    'a directory of one machine' => qr{(?<![\w.])/(?:[w]ork|home|root)/\w},
    'the number of an issue'     => qr{\b(?i:issue) #?\d},
    'work left for later'        => qr{\b(?:TODO|FIXME|XXX)\b},
);

my @texts = grep { $_ ne 't/guards/project-text.t' }
    (files(qr{/adm_\w+\.m4\z}, 'm4'),
     files(qr//, qw(src conf docs t demo bench .ci quickstart README.md CHANGES
                    configure.ac Makefile.am .clang-format .clang-tidy
                    .editorconfig .gitignore)));

ok @texts, 'there are texts';
for my $kind (sort keys %foreign) {
    my @places;

    for my $path (@texts) {
        push @places, map { "$path: $_" }
                      grep { $_ =~ $foreign{$kind} } lines($path);
    }
    none "no text has $kind", @places;
}

done_testing;

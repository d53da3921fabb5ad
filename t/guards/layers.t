# The core knows nothing of httpd and never logs; the glue sees one header of
# the core. The compiler refuses the former where APR and httpd have include
# directories of their own, which they do not have everywhere.
use strict;
use warnings;

use Test::More;

use Project;

my @core = files(qr/\.[ch]\z/, 'src/core');
my @glue = files(qr/\.[ch]\z/, 'src/httpd');

my $httpd_header = qr{
    (?: ^ | / )
    (?: httpd | http_\w+ | ap_\w+ | mod_\w+ | util_\w+ | mpm_\w+ | scoreboard )
    \.h \z
}x;
my $private_header = qr{(?:^|/)adm_\w+\.h\z};

sub includes {
    my ($matching, @paths) = @_;
    my @places;

    for my $path (@paths) {
        push @places, map { "$path: $_" } grep { $_ =~ $matching }
            slurp($path) =~ /^\s*#\s*include\s*["<]([^">]+)/gm;
    }
    return @places;
}

sub words_of_httpd {
    my ($path) = @_;

    return map { "$path: $_" }
        without_comments(slurp($path)) =~ /\b(ap_\w+|APLOG\w*)/g;
}

ok @core && @glue, 'there are two layers';
none 'the core includes no header of httpd', includes($httpd_header, @core);
none 'the core uses no name of httpd', map { words_of_httpd($_) } @core;
none 'the glue includes no private header of the core',
    includes($private_header, @glue);

done_testing;

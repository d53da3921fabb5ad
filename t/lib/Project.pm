# Project.pm - the files of this project, for the guards. A file that uses it has
# strict, warnings and Test::More as well.
package Project;

use File::Basename 'dirname';
use File::Find 'find';

use Admission::File ();
use TestFile;

our @ISA    = ('TestFile');
our @EXPORT = qw(directives_of files path slurp lines without_comments functions none);

my $root = $ENV{ADMISSION_SRCDIR} || dirname(__FILE__) . '/../..';

sub path { return "$root/$_[0]" }

# One test: the list of places that break a rule is empty.
sub none($rule, @places) {
    ok !@places, $rule or diag join "\n", @places;
}

# Paths, relative to the root and sorted, of the text files whose path matches,
# below the given directories; a file may be given too. What a build in place
# leaves beside the sources is left out.
sub files($matching, @where) {
    my @found;

    find({ no_chdir => 1, wanted => sub {
        my $path = substr $File::Find::name, length "$root/";

        $File::Find::prune = 1 if $path =~ m{/\.(?:libs|deps)\z};
        push @found, $path if -f && -T && $path =~ $matching && $path !~ m{\.(?:lo|la|log|trs)\z};
    } }, grep { -e } map { "$root/$_" } @where);
    @found = sort @found;
    return @found;
}

sub slurp { return Admission::File::slurp(path($_[0])) }

sub lines { return split /\n/, slurp($_[0]) }

# C without comments; line numbers stay what they are.
sub without_comments($code) {
    $code =~ s{("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(/\*.*?\*/|//[^\n]*)}
              {defined $1 ? $1 : ' ' . "\n" x ($2 =~ tr/\n//)}gsex;
    return $code;
}

# The directives that may stand in this context of the source, as their lines in conf/admission.conf.
sub directives_of($context) {
    my %line = map { /^#((\w+) .*)/ ? ($2, $1) : () } lines('conf/admission.conf');
    my $code = join '', map { without_comments(slurp($_)) } 'src/module/directives.c', files(qr/_conf\.h\z/, 'src');
    return map { $line{$_} } $code =~ /\bAP_INIT_\w+\([\s\\]*"(\w+)",[^"]*\b$context\b/g;
}

# Functions of a C file as [name, lines]. The layout of the project is what
# makes this simple: the braces of a function stand in column one.
sub functions($path) {
    my ($name, $length, @functions);

    for (split /\n/, without_comments(slurp($path))) {
        $name = $1 if /^START_TEST\((\w+)/ || /^\w[^(]*?(\w+)\(/;
        $length = 0 if /^\{/;
        $length++ if defined $length;
        if (defined $length && /^\}/) {
            push @functions, [$name, $length];
            undef $length;
        }
    }
    return @functions;
}

1;

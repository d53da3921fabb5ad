# The floors of docs/architecture.md hold: files include headers of lower floors,
# calls go down and never in a circle, and a function stands in the file that
# its name says. The core knows nothing of httpd, which sees one header of it.
use strict;
use warnings;

use File::Basename qw(basename dirname);
use File::Find 'find';
use Test::More;

use Project;

use constant PERCENT_AT_HOME => 95;

my @sources = files(qr/\.[ch]\z/, 'src');
my @core = grep { m{^src/(?:agent|core)/} } @sources;
my @glue = grep { m{^src/httpd/} } @sources;

my $httpd_header = qr{
    (?: ^ | / )
    (?: httpd | http_\w+ | ap_\w+ | mod_\w+ | util_\w+ | mpm_\w+ | scoreboard )
    \.h \z
}x;
my $private_header = qr{(?:^|/)(?:adm_|law)\w*\.h\z};

# ---- the table ---------------------------------------------------------------

# A row is a floor, the highest first. A name with a slash is a wing: a directory
# whose files may include and call each other.
my ($rows, %floor) = (0);

for (lines('docs/architecture.md')) {
    my ($folder, $names) = /^\| `(src\/\w+)` \| ([^|]+) \|/ or next;

    $rows++;
    $floor{"$folder/" . s/\.[ch]\z//r} = $rows for $names =~ /`([^`]+)`/g;
}

# Where the table has a file: the file itself without its ending, or its wing.
sub place_of {
    my ($path) = @_;

    $path =~ s/\.[ch]\z//;
    return $path if $floor{$path};
    $path =~ s{/[^/]+\z}{/};
    return $floor{$path} ? $path : undef;
}

sub may_use {
    my ($from, $to) = map { place_of($_) } @_;

    return !defined $from || !defined $to || $from eq $to
           || $floor{$from} < $floor{$to};
}

# Until its wings are built the files of src/httpd are on no floor.
my $has_wings = grep { m{^src/httpd/\w+/} } @glue;
my @placed = grep { $has_wings || !m{^src/httpd/} } @sources;

sub is_there {
    my ($place) = @_;

    return $place =~ m{/\z} || grep { /^\Q$place\E\.[ch]\z/ } @sources;
}

ok $rows, 'docs/architecture.md has a table of floors';
none 'a file is on a floor', grep { !defined place_of($_) } @placed;
none 'a file of the table exists', grep { !is_there($_) } sort keys %floor;
none 'the second line of a file says who calls it',
    grep { slurp($_) !~ m{\A/\* .*\n \* (?:Called|Included|Used) .+} }
    grep { m{^src/(?:agent|core|engine|law)/} } @sources;

# ---- includes ----------------------------------------------------------------

my %path_of = map { basename($_) => $_ } @sources;

sub includes_of {
    return slurp($_[0]) =~ /^\s*#\s*include\s*["<]([^">]+)/gm;
}

sub includes {
    my ($matching, @paths) = @_;

    return map { my $path = $_;
                 map { "$path: $_" } grep { /$matching/ } includes_of($path) }
           @paths;
}

sub includes_upward {
    my ($path) = @_;

    return map { "$path: $_" }
           grep { my $header = $path_of{ basename($_) };
                  $header && !may_use($path, $header) } includes_of($path);
}

sub words_of_httpd {
    my ($path) = @_;

    return map { "$path: $_" }
        without_comments(slurp($path)) =~ /\b(ap_\w+|APLOG\w*)/g;
}

is scalar(keys %path_of), scalar(@sources), 'no two files have the same name';
none 'a file includes headers of lower floors only',
    map { includes_upward($_) } @sources;
none 'the core includes no header of httpd', includes($httpd_header, @core);
none 'the core uses no name of httpd', map { words_of_httpd($_) } @core;
none 'the glue includes no private header of the core',
    includes($private_header, @glue);

# ---- calls -------------------------------------------------------------------

# The objects of the module by their sources, where its build left them.
my $build = dirname($ENV{ADMISSION_MODULE} // '.libs/mod_admission.so') . '/..';
my %object;

find({ no_chdir => 1, wanted => sub {
    my ($name) = m{/\.libs/(?:libadmission_core|libadmission_redis|mod_admission)_la-(\w+)\.o\z};

    $object{ $path_of{"$name.c"} } = $_ if $name && $path_of{"$name.c"};
} }, "$build/src");

# The functions that each defines, and the names that it needs.
my (%definer, %needs);

{
    my %path_of_object = map { $object{$_} => $_ } keys %object;

    open my $nm, '-|', 'nm', '-gA', '--format=posix', sort values %object
        or die "nm: $!";
    while (<$nm>) {
        my ($object, $name, $type) = /^(.+?): (\S+) (\S)/ or next;
        my $path = $path_of_object{$object};

        $definer{$name} = $path if $type eq 'T';
        push @{ $needs{$path} }, $name if $type eq 'U';
    }
}

my %calls;

for my $path (grep { defined place_of($_) } keys %object) {
    $calls{$path} = { map { $_ => 1 } grep { defined place_of($_) }
                      map { $definer{$_} // () } @{ $needs{$path} // [] } };
}

# What is left when every file goes that calls none that is left.
sub in_circles {
    my %left = map { $_ => 1 } keys %calls;
    my @leaves;

    do {
        @leaves = grep { my $from = $_;
                         !grep { $left{$_} } keys %{ $calls{$from} } } keys %left;
        delete @left{@leaves};
    } while (@leaves);
    return sort keys %left;
}

sub calls_upward {
    my ($from) = @_;

    return map { "$from: $_" }
           grep { !may_use($from, $_) } sort keys %{ $calls{$from} };
}

# The engine is built only where its library is.
none 'the build has an object of each file',
    grep { /\.c\z/ && !$object{$_} && !m{^src/engine/} } @placed;
none 'a file calls lower floors only', map { calls_upward($_) } sort keys %calls;
none 'no files call each other in a circle', in_circles();

# ---- names -------------------------------------------------------------------

# mod_admission_lot.c has admission_lot and admission_lot_add.
sub is_at_home {
    my ($function) = @_;
    my $file = basename($definer{$function}, '.c') =~ s/^mod_//r;

    return $function =~ /^\Q$file\E(?:_|\z)/;
}

my @shared = sort grep { $calls{ $definer{$_} } } keys %definer;
my @elsewhere = grep { !is_at_home($_) } @shared;

cmp_ok @elsewhere * 100, '<=', @shared * (100 - PERCENT_AT_HOME),
    PERCENT_AT_HOME . ' % of the shared functions are in the file of their name'
    or diag join "\n", map { "$definer{$_}: $_" } @elsewhere;

done_testing;

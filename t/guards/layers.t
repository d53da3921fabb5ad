# Folders of src include headers of lower folders only, as docs/dev/architecture.md has
# them. The core knows nothing of httpd, which sees one header of it.
use strict;
use warnings;

use File::Basename qw(basename dirname);
use Test::More;

use Project;

my @sources = files(qr/\.[ch]\z/, 'src');
# What is compiled without httpd's include directory.
my ($core) = slurp('src/sources.am') =~ /^CORE_SOURCES = (.*?[^\\])\n/ms;
my @core = $core =~ m{(src/\S+\.[ch])}g;
my @glue = grep { m{^src/httpd/} } @sources;

my $httpd_header = qr{
    (?: ^ | / )
    (?: httpd | http_\w+ | ap_\w+ | mod_\w+ | util_\w+ | mpm_\w+ | scoreboard )
    \.h \z
}x;
my $private_header = qr{(?:^|/)(?:adm_(?!part)|law)\w*\.h\z};

# A row is a folder, the highest first, with the folders that it may include.
my %lower;

for (lines('docs/dev/architecture.md')) {
    my ($folder, $names) = m{^\| `(src[\w/]+)` \| includes ([^|]*) \|} or next;

    $lower{$folder} = { map { $_ => 1 } $names =~ /`([^`]+)`/g };
}

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

# Where the trunk names capabilities, and nowhere else.
my %names_parts = map { $_ => 1 } qw(src/httpd/config/mod_admission_conf.h
                                     src/httpd/config/mod_admission_directives.c);
my @parts = without_comments(slurp('src/parts.h')) =~ /\bpart\((\w+), /g;

sub is_part { my ($folder) = @_; return grep { $folder eq "src/$_" } @parts }

sub may_use {
    my ($from, $to) = map { dirname($_) } @_;

    return $from eq $to || $to eq 'src' || $lower{$from}{$to} || is_part($to) && $names_parts{ $_[0] };
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

ok scalar(keys %lower), 'docs/dev/architecture.md has a table of folders';
none 'a folder of src is in the table',
    grep { $_ ne 'src' && !$lower{$_} } sort keys %{ { map { dirname($_) => 1 } @sources } };
none 'the table names no other folder',
    grep { my $folder = $_; !grep { dirname($_) eq $folder } @sources } sort keys %lower;
is scalar(keys %path_of), scalar(@sources), 'no two files have the same name';
none 'a file includes headers of lower folders only',
    map { includes_upward($_) } @sources;
none 'the table lets no folder include a capability',
    map { my $folder = $_; map { "$folder: $_" } grep { is_part($_) } keys %{ $lower{$folder} } } sort keys %lower;
none 'the core includes no header of httpd', includes($httpd_header, @core);
none 'the core uses no name of httpd', map { words_of_httpd($_) } @core;
none 'the glue includes no private header of the core',
    includes($private_header, @glue);

done_testing;

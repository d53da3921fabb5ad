# Folders of src include headers of lower folders only, as docs/dev/architecture.md has
# them. The core knows nothing of httpd, which sees one header of it.

use File::Basename qw(basename dirname);

use Project;

my @sources = files(qr/\.[ch]\z/, 'src');
# What is compiled without httpd's include directory.
my $core = join '', slurp('src/sources.am') =~ /^CORE_SOURCES \+?= (.*?[^\\])\n/gms;
my @core = $core =~ m{(src/\S+\.[ch])}g;
my @glue = grep { m{^src/(?:module|park|http2|nested|control|view)/} } @sources;

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

my %is_ours = map { $_ => 1 } @sources;

# The file of ours that an include means: of its own folder, or of src.
sub file_of {
    my ($path, $name) = @_;
    my ($file) = grep { $is_ours{$_} } dirname($path) . "/$name", "src/$name";

    return $file;
}

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
my %names_parts = map { $_ => 1 } qw(src/module/conf.h src/module/directives.c);
# It has the list of all hooks.
my $knows_all = 'src/module/mod_admission.c';
# Not `fair`: the core calls its order of the queue by name (decision 0022).
my @parts = grep { $_ ne 'fair' } without_comments(slurp('src/parts.h')) =~ /\bpart\((\w+), /g;

sub is_part { my ($folder) = @_; return grep { $folder eq "src/$_" } @parts }

sub may_use {
    my ($from, $to) = map { dirname($_) } @_;

    return $from eq $to || $to eq 'src' || $lower{$from}{$to} || $_[0] eq $knows_all
        || is_part($to) && $names_parts{ $_[0] };
}

sub includes_upward {
    my ($path) = @_;

    return map { "$path: $_" }
           grep { my $header = file_of($path, $_);
                  $header && !may_use($path, $header) } includes_of($path);
}

# { unit => { unit that it includes => 1 } }: a file and its header are one unit. Not what the
# configuration record includes, which has a member of each capability.
sub units {
    my %units;

    for my $path (grep { $_ ne 'src/module/conf.h' && $_ ne 'src/module/conf.c' } @sources) {
        my $unit = unit_of($path);
        $units{$unit}{$_} = 1
            for grep { $_ ne $unit } map { unit_of($_) } grep { $_ } map { file_of($path, $_) } includes_of($path);
    }
    return \%units;
}

sub unit_of { return $_[0] =~ s/\.[ch]\z//r }

# The units on a circle of includes, and those that include one of these.
sub circles {
    my %left = %{ $_[0] };

    while (my @others = grep { my $unit = $_; !grep { $left{$_} } keys %{ $left{$unit} } } keys %left) {
        delete @left{@others};
    }
    return map { my $unit = $_; "$unit -> " . join ' ', grep { $left{$_} } sort keys %{ $left{$unit} } } sort keys %left;
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
none 'a file includes headers of lower folders only', map { includes_upward($_) } @sources;
none 'includes go down: no files include one another, also not through others', circles(units());
none 'the table lets no folder include a capability',
    map { my $folder = $_; map { "$folder: $_" } grep { is_part($_) } keys %{ $lower{$folder} } } sort keys %lower;
none 'a law, which is pure functions, includes laws and numbers only',
    includes(qr{^(?!.*\b(?:law_\w+|adm_number)\.h\z)(?!std\w+\.h\z|math\.h\z|string\.h\z)},
             grep { basename($_) =~ /^law_/ } @sources);
none 'the core includes no header of httpd', includes($httpd_header, @core);
none 'the core uses no name of httpd', map { words_of_httpd($_) } @core;
none 'the glue includes no private header of the core', includes($private_header, @glue);

package AdmissionBench::Report;

# Output of an experiment: parts of its page in Markdown, plots, and its rows of the
# table of goals. The prose around the parts is docs/benchmarks/NAME.md itself.

use strict;
use warnings;

use List::Util qw(max);
use POSIX ();
use Text::Wrap ();
use Time::HiRes qw(time);

use Admission::File qw(slurp spill);
use Admission::Machine ();
use AdmissionBench::Page;

# Exit status for "cannot run here", as in automake.
our $SKIPPED = 77;

sub new {
    my ($class, $name, $folder) = @_;
    mkdir $folder;
    -d $folder or die "$folder: $!\n";
    unlink glob("$folder/$name.md $folder/$name.targets $folder/$name-*.svg $folder/$name-*.tsv");
    return bless { name => $name, folder => $folder, begin => time, parts => [], opponents => [],
                   targets => [] }, $class;
}

# Exits if one of these is missing; the page keeps its older results.
sub needs {
    my ($self, @what) = @_;
    my @missing = map { my $package = Admission::Machine::package_of($_);
                        $_ eq $package ? $_ : "$_ ($package)" }
                  grep { !$self->has($_) } @what or return;

    $self->progress('needs ' . join ', ', @missing);
    exit $SKIPPED;
}

# Names an available competitor below the results.
sub has {
    my ($self, $what) = @_;
    my $has = Admission::Machine::has($what) or return;
    my $version = Admission::Machine::version_of($what);

    push @{ $self->{opponents} }, $version if $version && !grep { $_ eq $version } @{ $self->{opponents} };
    return $has;
}

sub progress {
    my ($self, $text) = @_;
    printf STDERR "%s  %s: %s\n", POSIX::strftime('%T', localtime), $self->{name}, $text;
}

# ---- parts of the page ------------------------------------------------------------

# The result of the page, which answers its question.
sub result { my ($self, $text) = @_; $self->prose('result', "**Result.** $text") }

sub prose {
    my ($self, $name, $text) = @_;
    $self->part($name, wrapped($text));
}

sub wrapped {
    local $Text::Wrap::columns = 101;
    return Text::Wrap::wrap('', '', $_[0] =~ s/\s+/ /gr =~ s/ \z//r);
}

# part('fixed', text): replaces the text between the marks of this name.
sub part {
    my ($self, $name, $text) = @_;
    push @{ $self->{parts} }, AdmissionBench::Page::part($self->{name}, $name, $text);
}

# table('throughput', [head...], [row...], ...): numbers to the right, words to the left.
sub table {
    my ($self, $name, @rows) = @_;
    $self->part($name, table_of(@rows));
}

sub table_of {
    my ($head, @rows) = @_;
    my @columns = 0 .. $#$head;
    my @all = map { my $row = $_; [ map { $row->[$_] // '' } @columns ] } $head, @rows;
    my @width = map { my $column = $_; max 3, map { length $_->[$column] } @all } @columns;
    my @sign = map { my $column = $_;
                     is_column_of_numbers(map { $_->[$column] } @all[1 .. $#all]) ? '' : '-' } @columns;
    my ($top, @below) = map {
        my $row = $_;
        '| ' . join(' | ', map { sprintf "%$sign[$_]$width[$_]s", $row->[$_] } @columns) . ' |'
    } @all;
    my @rule = map { $sign[$_] ? '-' x $width[$_] : '-' x ($width[$_] - 1) . ':' } @columns;

    return join "\n", $top, '| ' . join(' | ', @rule) . ' |', @below;
}

# A number with a unit, or with other numbers in parentheses.
sub is_column_of_numbers {
    my (@cells) = @_;
    return !grep { !/^(?:-?[\d.,]+(?: ?(?:[mun]?s|[KMG]B|x|%))?(?: \(.*\))?|-|)\z/ } @cells;
}

# plot('name', <<'GNUPLOT', $data, height => 420): the script has plot "DATA" using ...;
# the data are lines of cells with tabs between. The page shows EXPERIMENT-name.svg.
sub plot {
    my ($self, $name, $script, $data, %o) = @_;
    my $base = "$self->{name}-$name";
    my ($image, $table) = map { "$self->{folder}/$base.$_" } qw(svg tsv);

    spill($table, $data);
    $script =~ s/\bDATA\b/$table/g;
    if (!$self->has('gnuplot') || !gnuplot($image, $script, $o{height} // 420)) {
        unlink $image;
        return $self->progress("no plot '$name' without gnuplot");
    }
    spill($image, slim(slurp($image)));
}

sub gnuplot {
    my ($image, $script, $height) = @_;

    open my $gnuplot, '|-', 'gnuplot' or return;
    print $gnuplot <<"PLOT", $script, "\n";
set terminal svg size 800,$height noenhanced background rgb 'white' font 'sans-serif,13'
set output '$image'
set datafile separator tab
set grid
PLOT
    return close $gnuplot;
}

# Removes elements that draw nothing, more than half of the file, and names of local files.
sub slim {
    my ($svg) = @_;

    $svg =~ s{<title>"/[^<]*</title>}{}g;
    1 while $svg =~ s{^\s*<g\b[^>]*>\s*</g>\n}{}mg;
    $svg =~ s{^\s*<filter\b.*?</filter>\n}{}msg;
    for (1 .. 4) {
        $svg =~ s{^(\s*<(?:path|rect|circle|use)\b[^>]*\bid='(\w+)'.*\n)}
                 { my ($line, $id) = ($1, $2); $svg =~ /'#$id'/ ? $line : '' }mge;
    }
    return $svg =~ s{^\s*\n}{}mgr;
}

# A row of the table of goals; the key is its first column.
sub target {
    my ($self, $key, $value, $how) = @_;
    push @{ $self->{targets} }, join "\t", map { s/\s+/ /gr } $key, $value, $how // '';
}

# ---- its end -----------------------------------------------------------------------

sub finish {
    my ($self) = @_;

    $self->write_files;
    $self->progress(sprintf 'took %.0f s', time - $self->{begin});
}

sub write_files {
    my ($self) = @_;
    my $scale = $ENV{BENCH_SCALE} || 1;
    my $run = sprintf '`bench/run %s`%s: %.0f s, %s.', $self->{name},
        $scale == 1 ? '' : ", shortened by BENCH_SCALE=$scale", time - $self->{begin},
        join ', ', Admission::Machine::machine(), @{ $self->{opponents} };

    $self->prose('run', $run);
    spill("$self->{folder}/$self->{name}.md", join "\n", @{ $self->{parts} });
    spill("$self->{folder}/$self->{name}.targets", join '', map { "$_\n" } @{ $self->{targets} });
}

1;

package AdmissionBench::Report;

# What an experiment writes: its section in Markdown, with tables and plots, and
# its rows of the table of goals.

use strict;
use warnings;

use List::Util qw(max);
use POSIX ();
use Time::HiRes qw(time);

use Admission::File qw(slurp spill);
use Admission::Machine ();

# An automake-like word for "could not be run here".
our $SKIPPED = 77;

sub new {
    my ($class, $name, $folder, $title) = @_;
    mkdir $folder;
    -d $folder or die "$folder: $!\n";
    unlink glob("$folder/$name.md $folder/$name.targets $folder/$name-*.svg $folder/$name-*.tsv");
    return bless { name => $name, folder => $folder, title => $title // $name, begin => time,
                   text => [], targets => [] }, $class;
}

# Ends the experiment if one of these is not there.
sub needs {
    my ($self, @what) = @_;
    my @missing = map { my $package = Admission::Machine::package_of($_);
                        $_ eq $package ? $_ : "$_ ($package)" }
                  grep { !$self->has($_) } @what or return;
    my $needs = 'needs ' . join ', ', @missing;

    $self->progress($needs);
    $self->say("Not measured here: $needs.");
    $self->write_files;
    exit $SKIPPED;
}

sub has { my ($self, $what) = @_; return Admission::Machine::has($what) }

sub progress {
    my ($self, $text) = @_;
    printf STDERR "%s  %s: %s\n", POSIX::strftime('%T', localtime), $self->{name}, $text;
}

# ---- the section ---------------------------------------------------------------

sub say {
    my ($self, $text) = @_;
    $text =~ s/\s+\z//;
    push @{ $self->{text} }, "$text\n";
}

# table([head...], [row...], ...): numbers to the right, words to the left.
sub table {
    my ($self, $head, @rows) = @_;
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

    $self->say(join "\n", $top, '| ' . join(' | ', @rule) . ' |', @below);
}

# With a unit, or with others in brackets.
sub is_column_of_numbers {
    my (@cells) = @_;
    return !grep { !/^(?:-?[\d.,]+(?: ?(?:[mun]?s|[KMG]B|x|%))?(?: \(.*\))?|-|)\z/ } @cells;
}

# plot('name', <<'GNUPLOT', $data, height => 420): the script says
# plot "DATA" using ...; the data are lines of cells with tabs between.
sub plot {
    my ($self, $name, $script, $data, %o) = @_;
    my $base = "$self->{name}-$name";
    my ($image, $table) = map { "$self->{folder}/$base.$_" } qw(svg tsv);

    spill($table, $data);
    $script =~ s/\bDATA\b/$table/g;
    if (!$self->has('gnuplot') || !gnuplot($image, $script, $o{height} // 420)) {
        unlink $image;
        return $self->say('Without gnuplot there is no plot.');
    }
    spill($image, slim(slurp($image)));
    $self->say("![$name]($base.svg)");
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

# Without what draws nothing, more than half of it, and the names of files that were here.
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
    my $run = sprintf '`bench/run %s`%s, %.0f s, on %s.', $self->{name},
        $scale == 1 ? '' : " shortened by BENCH_SCALE=$scale", time - $self->{begin},
        Admission::Machine::machine();

    spill("$self->{folder}/$self->{name}.md",
          join "\n", "## $self->{title}\n", @{ $self->{text} }, "$run\n");
    spill("$self->{folder}/$self->{name}.targets", join '', map { "$_\n" } @{ $self->{targets} });
}

1;

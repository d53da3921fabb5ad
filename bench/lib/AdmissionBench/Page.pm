package AdmissionBench::Page;

# docs/benchmarks/README.md: a table of goals, and a section for each experiment. It
# is the only place where goals and results are kept; an experiment replaces its
# section, and what its goals have behind `beyond`. A row of goals is
#
#     | name | measure | at least | beyond | measured | verdict | command |

use strict;
use warnings;

use Admission::Machine ();

my %UNIT = (ns => 1e-9, us => 1e-6, ms => 1e-3, s => 1, KB => 2**10, MB => 2**20);

sub read {
    my ($class, $path) = @_;
    my ($head, @sections) = split /^(?=<a id=")/m, Admission::File::slurp($path);
    my %section = map { /^<a id="([^"]+)">/ ? ($1 => $_) : () }
                  grep { !/^Not measured yet/m } @sections;

    # The table of contents is made anew.
    $head =~ s/^- \[.*\n//mg;
    return bless { head => $head =~ s/\s+\z/\n/r, section => \%section }, $class;
}

# replace('parking', section in Markdown, lines of "goal, tab, value, tab, how")
sub replace {
    my ($self, $name, $text, $targets) = @_;
    my %measured;

    $self->{section}{$name} = qq(<a id="$name"></a>\n\n$text);
    for my $line (split /\n/, $targets) {
        my ($goal, $value, $how) = split /\t/, $line;
        push @{ $measured{$goal} }, [ $value, $how ];
    }
    for my $goal (sort keys %measured) {
        $self->{head} =~ s{^(\|\ \Q$goal\E\ \|[^|]*\|\ ([^|]*?)\ \|\ ([^|]*?)\ \|).*}{
            join ' | ', "$1 " . join('<br>', map { "$_->[0] ($_->[1])" } @{ $measured{$goal} }),
                verdict($2, $3, map { $_->[0] } @{ $measured{$goal} }), "[`bench/run $name`](#$name) |"
        }mxe or die "no such goal: $goal\n";
    }
}

# '1.02 (1.01 to 1.03), 4 ms' is (1.02, 0.004).
sub numbers {
    my ($text) = @_;
    return map { /^([\d.]+) ?(\w*)/ ? $1 * ($UNIT{$2} // 1) : 'nan' }
           split /,\s+/, $text =~ s/\s*\([^)]*\)//gr;
}

# Of several numbers each counts. What is to be beaten tells in which direction.
sub verdict {
    my ($least, $beyond, @values) = @_;
    my @least = numbers($least);
    my @beyond = numbers($beyond);
    my $word = 'beyond';

    for my $value (@values) {
        my @is = numbers($value);
        for my $n (0 .. $#is) {
            my ($low, $high) = ($least[$n] // $least[-1], $beyond[$n] // $beyond[-1]);
            my $is_beaten = sub {
                $low == $high ? $is[$n] == $_[0] : $low < $high ? $is[$n] >= $_[0] : $is[$n] <= $_[0];
            };
            return '**not reached**' if !$is_beaten->($low);
            $word = 'reached' if !$is_beaten->($high);
        }
    }
    return $word;
}

sub text {
    my ($self, @names) = @_;
    my $section = $self->{section};
    my @contents = map { my ($title) = ($section->{$_} // '') =~ /^## (.*)/m;
                         "- [$_](#$_): " . ($title // 'not measured yet') . "\n" } @names;
    my @sections = map { $section->{$_}
                         // qq(<a id="$_"></a>\n\n## $_\n\nNot measured yet: `bench/run $_`.\n) } @names;

    return join "\n", $self->{head}, join('', @contents), map { s/\s*\z/\n/r } @sections;
}

1;

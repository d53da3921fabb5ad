package AdmissionBench::Page;

# docs/benchmarks: README.md with the table of goals, and a page for each experiment. The
# pages are the only place where goals and results are kept, and their prose is written
# by hand. An experiment replaces the text between the marks of its parts
#
#     <!-- throughput: bench/run parking writes it -->
#
#     <!-- end -->
#
# and its results in the table of goals. A row of that table is
#
#     | goal | measure | at least | beyond | measured | verdict | command |

use strict;
use warnings;

use Admission::File qw(slurp spill);

my %UNIT = (ns => 1e-9, us => 1e-6, ms => 1e-3, s => 1, KB => 2**10, MB => 2**20);

# The marks and the text of a part.
sub part {
    my ($experiment, $name, $text) = @_;
    return "<!-- $name: bench/run $experiment writes it -->\n\n" . $text =~ s/\s*\z//r . "\n\n<!-- end -->\n";
}

# replace('docs/benchmarks', 'parking', parts, lines of "goal, tab, value, tab, how")
sub replace {
    my ($folder, $experiment, $parts, $targets) = @_;
    my ($page, $goals) = map { "$folder/$_.md" } $experiment, 'README';
    my $text = slurp($page);

    for my $part (split /^(?=<!-- (?!end))/m, $parts) {
        my ($mark) = $part =~ /^(<!-- .* -->)\n/ or next;
        $text =~ s{^\Q$mark\E\n.*?^<!-- end -->\n}{$part =~ s/\n+\z/\n/r}mse or die "$page has no $mark\n";
    }
    spill($page, $text);
    spill($goals, with_results(slurp($goals), $experiment, $targets));
}

sub with_results {
    my ($text, $experiment, $targets) = @_;
    my %measured;

    for my $line (split /\n/, $targets) {
        my ($goal, $value, $how) = split /\t/, $line;
        push @{ $measured{$goal} }, [ $value, $how ];
    }
    for my $goal (sort keys %measured) {
        $text =~ s{^(\|\ \Q$goal\E\ \|[^|]*\|\ ([^|]*?)\ \|\ ([^|]*?)\ \|).*}{
            join ' | ', "$1 " . join('<br>', map { "$_->[0] ($_->[1])" } @{ $measured{$goal} }),
                verdict($2, $3, map { $_->[0] } @{ $measured{$goal} }),
                "[`bench/run $experiment`]($experiment.md) |"
        }mxe or die "no such goal: $goal\n";
    }
    return $text;
}

# '1.02 (1.01 to 1.03), 4 ms' is (1.02, 0.004).
sub numbers {
    my ($text) = @_;
    return map { /^([\d.]+) ?(\w*)/ ? $1 * ($UNIT{$2} // 1) : 'nan' }
           split /,\s+/, $text =~ s/\s*\([^)]*\)//gr;
}

# With several numbers, each one has to pass. The value to beat gives the direction.
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

1;

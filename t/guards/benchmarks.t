# The pages of docs/benchmarks have a place for everything that the experiments write, and
# README shows their numbers.

use Project;

my $FOLDER = 'docs/benchmarks';
my @experiments = map { m{/(\w+)\z} } files(qr/\A[^.]*\z/, 'bench/experiments');
my $goals = slurp("$FOLDER/README.md");

cmp_ok scalar @experiments, '>', 10, 'there are experiments';
for my $name (@experiments) {
    my $code = slurp("bench/experiments/$name");
    my $page = join '', map { slurp($_) } files(qr/\/$name\.md\z/, $FOLDER);
    my %mark = map { $_ => 1 } $page =~ /^<!-- (\S+): bench\/run $name writes it -->\n\n(?=.*?^<!-- end -->)/msg;
    my @parts = ('run', ($code =~ /->result\(/ ? 'result' : ()),
                 $code =~ /->(?:table|prose)\('([\w-]+)'/g);
    my @targets = $code =~ /->target\('([^']+)'/g;

    is_deeply [ grep { !$mark{$_} } @parts ], [], "$name: its page has a place for each part";
    is_deeply [ grep { index($goals, "\n| $_ |") < 0 } @targets ], [], '... and README.md a row for each goal';
    like $goals, qr/^\| \[[^]]+\]\($name\.md\) \| \S/m, '... and a line for the page';
}

# Cells of the table in README.md, in its words, and of the page.
my %column = ('no limit' => 'no limit', '`MaxRequestWorkers 4`' => 'MaxRequestWorkers 4', 'mod_qos, limit 4' => 'mod_qos',
              '`MaxConcurrent 4`' => 'mod_admission, event\+cgid');
my $readme = slurp('README.md');
my ($measured) = slurp("$FOLDER/memory.md") =~ /^## 40 clients\n(.*?)^<!-- end -->/ms or die;
my ($head, undef, @rows) = map { [ map { s/^\s+|\s+\z//gr } split /\|/ ] }
                           grep { /^\|/ } split /\n/, ($readme =~ /^(\| +\| no limit \|.*?)\n\n/ms)[0];
my %shown = map { $_->[1] => $_ } @rows;
for my $n (2 .. $#$head) {
    my $remedy = $column{ $head->[$n] } // die "README.md: $head->[$n] is not known\n";
    my ($time, $failed, $swapped, $p99) = (map { s/ //gr } split /\|/, ($measured =~ /^\| $remedy +\|(.*)/m)[0])[0, 6, 8, 10];
    my @expected = ($failed ? 100 - $failed . " ($failed rejected)" : 100, $failed ? '-' : "$time s",
                    $swapped ? sprintf('%.1f GB', $swapped / 1000) : 0,
                    sprintf($p99 < 10 ? '%.1f ms' : '%.0f ms', $p99) =~ s/(\d)(\d{3}) /$1,$2 /r . ($failed ? '*' : ''));
    is_deeply [ map { $shown{$_}[$n] } 'requests served', 'total time', 'swapped out', 'static page, p99' ],
        \@expected, "README.md: $head->[$n]";
}

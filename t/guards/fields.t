# One table of fields feeds every output and stands in the manual.
# t/httpd/505-fields.t asks a running server for the outputs. Each reason of an automatic limit
# has its word, its sentence, and its row in the manual.

use AdmissionTest::Outputs;
use Fields;
use Project;

my %fields = map { $_ => [ fields_of($_) ] } qw(server zone);
my %uses = (
    'src/view/view_server_status.c' => 'server-status and ?auto',
    'src/view/view_page_facts.c'    => 'the live page',
    'src/view/view_json.c'          => '?json',
    'src/view/view_prometheus.c'    => '?prometheus',
);

for my $what (sort keys %fields) {
    ok @{ $fields{$what} }, "there are fields of the $what";
    for my $kind (qw(name help kind of)) {
        none "a field of the $what has its $kind",
            map { $_->{name} } grep { !length($_->{$kind} // '') } @{ $fields{$what} };
    }
    my %seen;
    none "no name stands for two fields of the $what",
        grep { $seen{$_}++ } map { $_->{name} } @{ $fields{$what} };
}
is system($^X, path('tools/fields'), '--check'), 0, 'the tables of the manual are those of the code';

# The words of ADMISSION_STATUS: one list in the core.
my @outcomes = slurp('src/core/adm_outcome.h') =~ /^\s+row\(\w+,\s+"([^"]+)"/gm;
my @explained = map { /^\| (`[a-z`, -]+) \|/ ? $1 =~ /`([a-z-]+)`/g : () }
                lines('docs/manual/status.md');
my %is_explained = map { $_ => 1 } @explained;

ok @outcomes, 'there are outcomes';
none 'the manual has a row for each outcome', grep { !$is_explained{$_} } @outcomes;

for my $path (sort keys %uses) {
    my $code = without_comments(slurp($path));

    ok $code =~ /\badmission_(?:fields_of_$_|page_facts_$_)\b/, "$uses{$path}: the facts of the $_"
        for sort keys %fields;
    none "$uses{$path}: no field is named there",
        grep { $code =~ /"(?:[^"\\]|\\.)*\b\Q$_\E\b/ }
        map { ($_->{name} =~ /[a-z][A-Z]/ ? $_->{name} : (), metric_of($_)) }
        map { @$_ } values %fields;
}

my @reasons = slurp('src/auto/law_tune_state.h') =~ /typedef enum law_tune_reason_t \{(.*?)LAW_TUNE_REASONS/s
    ? $1 =~ /^ +LAW_TUNE_(\w+),/mg : ();
my %word = slurp('src/auto/law_tune_shown.c') =~ /\[LAW_TUNE_(\w+)\] = "(\w+)"/g;
my %sentence = map { $_ => 1 } slurp('src/auto/auto_view.c') =~ /case LAW_TUNE_(\w+):/g;
my %row = slurp('docs/manual/auto.md') =~ /^\| (\d+) \| `(\w+)` \|/mg;

cmp_ok scalar(@reasons), '>', 5, 'there are reasons';
none 'a reason has a word', grep { !$word{$_} } @reasons;
none 'a reason has a sentence, except that of no decision', grep { !$sentence{$_} } grep { $_ ne 'NONE' } @reasons;
is_deeply [ map { $row{$_} } 0 .. $#reasons ], [ map { $word{$_} } @reasons ], 'the manual has their numbers';
is_deeply [ AdmissionTest::Outputs::words('LimitReason') ], [ map { $word{$_} } @reasons ],
    'the tests of the outputs know their words';

# One table of fields feeds every output and stands in the manual.
# t/httpd/505-fields.t asks a running server for the outputs.
use strict;
use warnings;

use Test::More;

use Fields;
use Project;

my %fields = map { $_ => [ fields_of($_) ] } qw(server zone);
my %prefix = (server => 'Admission', zone => 'Admission[n]');
my %uses = (
    'src/httpd/view/mod_admission_server_status.c' => 'server-status and ?auto',
    'src/httpd/view/mod_admission_page_facts.c'    => 'the live page',
    'src/httpd/view/mod_admission_json.c'          => '?json',
    'src/httpd/view/mod_admission_prometheus.c'    => '?prometheus',
);

# The row of the manual without its meaning, which may say more than the help
# text does.
sub row_of {
    my ($what, $field) = @_;
    my $label = $field->{reason} ? qq({reason="$field->{reason}"}) : '';

    return "| `$prefix{$what}$field->{name}` | `$field->{json}` "
           . '| `' . metric_of($field) . "$label` |";
}

my @rows = grep { /^\| `Admission/ } lines('docs/manual/mod_admission.md');
# A zone's name is no number, and so no field.
my %meaning = map { /^(\|(?: \S+ \|){3}) (\S.*) \|$/ ? ($1 => $2) : ($_ => '') }
              grep { !/`Admission\[n\]Name`/ } @rows;
my %help = map { my $what = $_;
                 map { (row_of($what, $_) => $_->{help}) } @{ $fields{$what} } }
           keys %fields;

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
none 'the manual has a row for each field', grep { !exists $meaning{$_} } sort keys %help;
none 'the manual has no row more', grep { !exists $help{$_} } sort keys %meaning;
none 'a row of the manual begins with the help text',
    grep { exists $meaning{$_}
           && index($meaning{$_}, $help{$_} =~ s/\.$//r) != 0 } sort keys %help;

# The words of ADMISSION_STATUS: one list in the core.
my @outcomes = slurp('src/core/adm_outcome.h') =~ /^\s+row\(\w+,\s+"([^"]+)"/gm;
my @explained = map { /^\| (`[a-z`, -]+) \|/ ? $1 =~ /`([a-z-]+)`/g : () }
                lines('docs/manual/mod_admission.md');
my %is_explained = map { $_ => 1 } @explained;

ok @outcomes, 'there are outcomes';
none 'the manual has a row for each outcome', grep { !$is_explained{$_} } @outcomes;

for my $path (sort keys %uses) {
    my $code = without_comments(slurp($path));

    ok $code =~ /\b\Qadmission_${_}_fields_count\E\b/, "$uses{$path}: the table of the $_"
        for sort keys %fields;
    none "$uses{$path}: no field is named there",
        grep { $code =~ /"(?:[^"\\]|\\.)*\b\Q$_\E\b/ }
        map { ($_->{name} =~ /[a-z][A-Z]/ ? $_->{name} : (), metric_of($_)) }
        map { @$_ } values %fields;
}

done_testing;

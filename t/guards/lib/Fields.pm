# Fields.pm - the field tables of mod_admission_fields.c, for the tests that
# look for each field in what is made from them.
package Fields;

use strict;
use warnings;

use Exporter 'import';

use Project;

our @EXPORT = qw(fields_of metric_of);

my @TEXTS = qw(name title json metric reason help);
my %SUFFIX = (GAUGE => '', MILLIS => '_seconds', SECONDS => '_seconds', KILOBYTES => '_bytes',
              MEGABYTES => '_bytes', PERCENT => '_ratio', COUNTER => '_total', MODE => '',
              KIND => '', REASON => '', FLEET => '');

# The fields of a 'zone' or of the 'server', in their order, each { name, title,
# json, metric, reason, help, kind }. A reason may be undefined. The layout of
# the project is what makes this simple: a table ends in column one.
sub fields_of {
    my ($what) = @_;
    my $code = without_comments(slurp('src/httpd/view/mod_admission_fields.c'));
    my ($table) = $code =~ /\badmission_${what}_fields\[\] = \{(.*?)^\};/ms;

    $table =~ s/"\s*"//g;    # the parts of one text
    return map { field($_) } $table =~ /\{(.*?)\}/gs;
}

sub field {
    my ($entry) = @_;
    my @values = $entry =~ /("(?:\\.|[^"\\])*"|\w+)/g;
    my %field = (kind => $values[@TEXTS]);

    @field{@TEXTS} = map { /^"(.*)"$/ ? $1 : undef } @values;
    return \%field;
}

# As it stands in ?prometheus, without labels.
sub metric_of {
    my ($field) = @_;
    return "admission_$field->{metric}$SUFFIX{ $field->{kind} }";
}

1;

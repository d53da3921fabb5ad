# Fields.pm - the field tables of src/httpd/view, for the tests that look for each
# field in what is made from them.
package Fields;

use strict;
use warnings;

use Exporter 'import';

use Project;

our @EXPORT = qw(fields_of metric_of tells_of);

my @TEXTS = qw(name title json metric reason help);
my %SUFFIX = (GAUGE => '', MICROS => '_seconds', MILLIS => '_seconds', SECONDS => '_seconds', KILOBYTES => '_bytes',
              MEGABYTES => '_bytes', PERCENT => '_ratio', COUNTER => '_total', MODE => '',
              KIND => '', REASON => '', FLEET => '', ENGINE => '');

my %FILE = (zone   => 'src/httpd/view/mod_admission_fields.c',
            server => 'src/httpd/view/mod_admission_server_fields.c');
# Of which zones, and servers, a field tells anything, by what ?auto shows of them.
my %TELLS = (ANY      => sub { 1 },
             DRY_RUN  => sub { $_[0]{DryRun} },
             AUTO     => sub { $_[0]{LimitMode} eq 'auto' },
             PROGRAMS => sub { $_[0]{ProgramsEnded} > 0 },
             FLEET    => sub { ($_[0]{FleetState} // $_[0]{EngineState}) ne 'off' });

# The fields of a 'zone' or of the 'server', in their order, each { name, title,
# json, metric, reason, help, kind, of }. A reason may be undefined. The layout of
# the project is what makes this simple: a table ends in column one.
sub fields_of {
    my ($what) = @_;
    my $code = without_comments(slurp($FILE{$what}));
    my ($table) = $code =~ /\badmission_${what}_fields\[\] = \{(.*?)^\};/ms;

    $table =~ s/"\s*"//g;    # the parts of one text
    return map { field($_) } $table =~ /\{(.*?)\}/gs;
}

sub field {
    my ($entry) = @_;
    my @values = $entry =~ /("(?:\\.|[^"\\])*"|\w+)/g;
    my %field = (kind => $values[@TEXTS], of => $values[-1] =~ s/^OF_//r);

    @field{@TEXTS} = map { /^"(.*)"$/ ? $1 : undef } @values;
    return \%field;
}

# Whether a field tells anything of a zone, or the server, with these values of ?auto.
# Of other zones ?prometheus has no such series, nor has the page of either.
sub tells_of {
    my ($field, $zone) = @_;
    return $TELLS{ $field->{of} }->($zone);
}

# As it stands in ?prometheus, without labels.
sub metric_of {
    my ($field) = @_;
    return "admission_$field->{metric}$SUFFIX{ $field->{kind} }";
}

1;

# Fields.pm - the field tables of src/httpd/view, for the tests that look for each
# field in what is made from them.
package Fields;

use strict;
use warnings;

use Exporter 'import';

use Project;

our @EXPORT = qw(fields_of metric_of tells_of);

# What the kind takes from the name, and adds to the metric.
my %UNIT = (GAUGE_USEC  => ['Us', '_seconds'], GAUGE_MSEC => ['Ms', '_seconds'],
            GAUGE_SEC   => ['S',  '_seconds'], GAUGE_KB   => ['KB', '_bytes'],
            GAUGE_MB    => ['MB', '_bytes'],   GAUGE_BYTES => ['', '_bytes'],
            GAUGE_PERCENT => ['', '_ratio'],   COUNTER    => ['', '_total']);

# Of the trunk, and of the capabilities in the order of their table.
my @parts = map { "src/$_/$_.c" } without_comments(slurp('src/parts.h')) =~ /\bpart\((\w+), /g;
my %FILES = (zone   => ['src/view/view_fields.c', @parts],
             server => ['src/view/view_server_fields.c', @parts]);
# Of which zones, and servers, a field tells anything, by what ?auto shows of them.
my %TELLS = (ANY      => sub { 1 },
             DRY_RUN  => sub { $_[0]{DryRun} },
             AUTO     => sub { $_[0]{LimitMode} eq 'auto' },
             PROGRAMS => sub { $_[0]{ProgramsEnded} > 0 },
             FLEET    => sub { ($_[0]{FleetState} // $_[0]{EngineState}) ne 'off' });

# The fields of a 'zone' or of the 'server', in their order, each { name, json, metric,
# reason, help, kind, of }. A reason may be undefined. The kind of a field with words is the
# function that has them.
sub fields_of {
    my ($what) = @_;

    return map { fields_in($_, uc $what) } @{ $FILES{$what} };
}

sub fields_in {
    my ($path, $what) = @_;
    my ($rows) = slurp($path) =~ /#define ${what}_FIELDS\(row\) \\\n(.*?[^\\])\n/s or return;

    $rows =~ s/\\\n\s*//g;
    $rows =~ s/"\s*"//g;    # the parts of one text
    return map { field($_) } split /(?:^|\)) *row\(/, $rows =~ s/^\s*row\(//r;
}

sub field {
    my ($row) = @_;
    my ($name, $reason, $kind, $of, $help) = $row =~ /^(\w+), (\w+|"\w+"), (?|(\w+)|WORD\((\w+)\)), (\w+), "((?:\\.|[^"\\])*)"/
        or die "no row: $row\n";

    return { name => $name, json => lcfirst $name, kind => $kind, of => $of, help => $help,
             reason => $reason =~ /"(\w+)"/ ? $1 : undef };
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
    my ($suffix, $added) = @{ $UNIT{ $field->{kind} } // ['', ''] };
    my $name = $field->{reason} ? 'Rejected' : $field->{name} =~ s/$suffix\z//r;

    return 'admission' . $name =~ s/([A-Z])/_\l$1/gr . $added;
}

1;

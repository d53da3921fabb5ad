# Fields.pm - the facts of src/view and of the capabilities, for the tests that look for
# each in what is made from them.
package Fields;

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';

use Project;

our @EXPORT = qw(fields_of metric_of tells_of);

# What the kind takes from the name, and adds to the metric.
my %UNIT = (GAUGE_USEC  => ['Us', '_seconds'], GAUGE_MSEC => ['Ms', '_seconds'],
            GAUGE_SEC   => ['S',  '_seconds'], GAUGE_KB   => ['KB', '_bytes'],
            GAUGE_MB    => ['MB', '_bytes'],   GAUGE_BYTES => ['', '_bytes'],
            GAUGE_PERCENT => ['', '_ratio'],   COUNTER    => ['', '_total']);

# Of the trunk, and of the capabilities in the order of their table.
my @FILES = ('src/view/view_fields.c',
             map { "src/$_/$_.c" } without_comments(slurp('src/parts.h')) =~ /\bpart\((\w+), /g);
# The condition of a group of facts, as written in the code.
my %GROUP = (qr/dry_run/ => 'DRY_RUN', qr/is_auto/ => 'AUTO', qr/account/ => 'PROGRAMS',
             qr/is_shared/ => 'FLEET');
# Of which zones, and servers, a field tells anything, by what ?auto shows of them.
my %TELLS = (ANY      => sub { 1 },
             DRY_RUN  => sub { $_[0]{DryRun} },
             AUTO     => sub { $_[0]{LimitMode} eq 'auto' },
             PROGRAMS => sub { $_[0]{ProgramsEnded} > 0 },
             FLEET    => sub { ($_[0]{FleetState} // $_[0]{EngineState}) ne 'off' });

# The fields of a 'zone' or of the 'server', in their order, each { name, json, metric,
# reason, help, kind, of }. A reason may be undefined.
sub fields_of($what) {
    return map { fields_in($_) } map { slurp($_) =~ /^static void \w+_of_$what\([^)]*\)\n\{\n(.*?)^\}/gms } @FILES;
}

# Those of one function, in which each is a statement.
sub fields_in($code) {
    my $of = 'ANY';
    my @fields;

    for my $statement (split /;\n/, $code =~ s/"\s*"//gr) {
        if ($statement =~ /\bfacts->group = (.*)/s) {
            my $group = $1;
            ($of) = (map({ $group =~ $_ ? $GROUP{$_} : () } keys %GROUP), 'ANY');
        }
        push @fields, field($statement, $of) if $statement =~ /^\s*FACT/;
    }
    return @fields;
}

sub field($statement, $of) {
    my ($macro, $name, $more) = $statement =~ /^\s*(FACT\w*)\((\w+),\s*(.*)/s;
    my ($kind, $help, $reason) = ('COUNTER', 'Requests that were rejected.');

    if ($macro eq 'FACT_REJECTED') {
        ($reason) = $more =~ /^"(\w+)"/;
    }
    else {
        ($kind, $help) = $more =~ /^(?:(\w+),\s*)?"((?:\\.|[^"\\])*)"/ or die "no fact: $statement\n";
        $kind //= 'GAUGE';
    }
    return { name => $name, json => lcfirst $name, kind => $kind, of => $of, help => $help,
             reason => $reason };
}

# Whether a field tells anything of a zone, or the server, with these values of ?auto.
# Of other zones ?prometheus has no such series, nor has the page of either.
sub tells_of($field, $zone) {
    return $TELLS{ $field->{of} }->($zone);
}

# As it stands in ?prometheus, without labels.
sub metric_of($field) {
    my ($suffix, $added) = @{ $UNIT{ $field->{kind} } // ['', ''] };
    my $name = $field->{reason} ? 'Rejected' : $field->{name} =~ s/$suffix\z//r;

    return 'admission' . $name =~ s/([A-Z])/_\l$1/gr . $added;
}

1;

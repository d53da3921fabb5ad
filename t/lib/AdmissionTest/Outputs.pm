package AdmissionTest::Outputs;

# Reads all outputs of a private httpd, in which /admission is the handler
# admission-status:
#
#     my $outputs = read_outputs($httpd, 'test.example:/cgi-bin/');
#     $outputs->{JSON}{zone}{RejectedFull};
#
# Each is { server => {...}, zone => {...} } with the names of ?auto and values in
# its units. What an output shows and no field is called keeps its own name, so
# that a comparison finds it.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';

use Fields;

our @EXPORT = qw(read_outputs);

my %fields = map { $_ => [ fields_of($_) ] } qw(server zone);
my %READ = (
    '?auto'                 => \&read_auto,
    'the page'              => \&read_page,
    'JSON'                  => \&read_json,
    'Prometheus'            => \&read_prometheus,
);

# Of the zone of this name, which must have nothing in it that has to be escaped; ?auto
# first.
sub read_outputs($httpd, $zone) {
    return { map { $_ => $READ{$_}->($httpd, $zone) } sort keys %READ };
}

# What metrics have numbers for.
my %WORDS = (Mode        => [qw(open pause drain)],
             LimitMode   => [qw(fixed auto)],
             LimitReason => [qw(none start memory processors throughput idle new brake bounds
                           estimate silent)],
             FleetState  => [qw(off leased learning fallback)],
             EngineState => [qw(off connected lost)]);

# @return the words of a field, by their numbers.
sub words { return @{ $WORDS{ $_[0] } } }

# So many of a field are one of its metric.
my %UNITS = (GAUGE_USEC => 1e6, GAUGE_MSEC => 1000, GAUGE_KB => 1 / 1024, GAUGE_MB => 1 / 1024 ** 2,
             GAUGE_PERCENT => 100);

sub by_name($kind, $what, %shown) {
    my %field = map { ($_->{$kind} // metric_of($_) . ($_->{reason} ? "/$_->{reason}" : '')) => $_ } @{ $fields{$what} };
    my %value;

    for my $name (keys %shown) {
        my $field = $field{$name} // { name => $name, kind => '' };
        my $units = $kind eq 'metric' && $UNITS{ $field->{kind} };
        my $words = $kind eq 'metric' && $WORDS{ $field->{name} };

        $value{ $field->{name} } = $units ? sprintf '%.0f', $units * $shown{$name}
                                 : $words ? $words->[ $shown{$name} ] : $shown{$name};
    }
    return \%value;
}

sub read_auto($httpd, $name) {
    my $status = $httpd->status;
    my %zone = %{ $status->{zone}{$name} };

    delete $zone{Name};
    return { server => by_name('name', 'server',
                               map { /^Admission(\w+)$/ ? ($1 => $status->{$_}) : () }
                               keys %$status),
             zone => by_name('name', 'zone', %zone) };
}

# { name => value } of a list, with the number that a time for people stands for.
sub facts_of($list) {
    return $list =~ m{<div data-field="(\w+)"[^>]*><dt>[^<]*</dt><dd>(?:<data value=")?(\w+)}g;
}

sub read_page($httpd, $name) {
    my $page = $httpd->get("/admission?zone=$name")->{body};
    my %list = map { m{<h2>(.*?)</h2>(.*)}s } $page =~ m{<section[^>]*>(.*?)</section>}gs;

    return { server => by_name('name', 'server', facts_of($list{'Workers and children'})),
             zone => by_name('name', 'zone', facts_of($list{$name})) };
}

sub read_json($httpd, $name) {
    my $facts = $httpd->json('/admission?json');
    my ($zone) = grep { $_->{name} eq $name } @{ $facts->{zones} };

    delete @$zone{qw(name wait service sharers)};
    return { server => by_name('json', 'server', %{ $facts->{server} }),
             zone => by_name('json', 'zone', %$zone) };
}

sub read_prometheus($httpd, $name) {
    my (%server, %zone);

    for (split /\n/, $httpd->get('/admission?prometheus')->{body}) {
        next if /^#|^admission_(?:wait|service)_duration_seconds/;
        my ($metric, $labels, $value) = /^(\w+)(?:\{(.*)\})? (\S+)$/ or die "$_\n";
        my ($reason) = ($labels // '') =~ /\breason="(\w+)"/;

        if (!$labels) {
            $server{$metric} = $value;
        }
        elsif ($labels =~ /\bzone="\Q$name\E"/) {
            $zone{ $metric . ($reason ? "/$reason" : '') } = $value;
        }
    }
    return { server => by_name('metric', 'server', %server),
             zone => by_name('metric', 'zone', %zone) };
}

1;

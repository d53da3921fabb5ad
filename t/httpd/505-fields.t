# Every field of the tables is in every output, none is anywhere else, and at
# rest all outputs say the same of it.

use FindBin;
use lib "$FindBin::Bin/lib", "$FindBin::Bin/../guards/lib";
use AdmissionTest;
use Fields;
use JSON::PP;

my %fields = map { $_ => [ fields_of($_) ] } qw(server zone);
my $ZONE = 'test.example:/cgi-bin/';

# What an output calls a field.
sub called {
    my ($kind, $field) = @_;
    return $field->{$kind} if $kind ne 'metric';
    return metric_of($field) . ($field->{reason} ? "/$field->{reason}" : '');
}

# { name in ?auto => value } of what an output shows. What no field is called is
# kept under its own name, and so is found by a comparison.
sub by_name {
    my ($kind, $what, %shown) = @_;
    my %name = map { called($kind, $_) => $_ } @{ $fields{$what} };

    return { map {
        my $field = $name{$_};
        my $is_seconds = $field && $kind eq 'metric' && $field->{kind} eq 'MILLIS';
        (($field ? $field->{name} : $_)
             => $is_seconds ? sprintf('%.0f', 1000 * $shown{$_}) : $shown{$_});
    } keys %shown };
}

sub auto {
    my ($httpd) = @_;
    my $status = $httpd->status;
    my %zone = %{ $status->{zone}{$ZONE} };

    delete $zone{Name};
    return { server => by_name('name', 'server',
                               map { /^Admission(\w+)$/ ? ($1 => $status->{$_}) : () }
                               keys %$status),
             zone => by_name('name', 'zone', %zone) };
}

# The table of server-status; the line above it tells of the server.
sub table {
    my ($httpd) = @_;
    my ($line, $table) = $httpd->get('/server-status')->{body}
        =~ m{Admission control</h1>\s*<dl><dt>(.*?)</dt></dl>\s*<table[^>]*>(.*?)</table>}s;
    my @titles = $table =~ m{<th>(.*?)</th>}g;
    my @cells = $table =~ m{<td>(.*?)</td>}g;
    my %zone;

    @zone{@titles} = @cells;
    delete $zone{Zone};
    return { server => by_name('title', 'server', map { split /: /, $_, 2 } split /, /, $line),
             zone => by_name('title', 'zone', %zone) };
}

# server-status?notable
sub lists {
    my ($httpd) = @_;
    my ($line, $list) = $httpd->get('/server-status?notable')->{body}
        =~ m{Admission control</h1>\s*<dl><dt>(.*?)</dt></dl>\s*<dl>(.*?)</dl>}s;

    return { server => by_name('title', 'server', map { split /: /, $_, 2 } split /, /, $line),
             zone => by_name('name', 'zone', $list =~ m{<dd>(.*?): (.*?)</dd>}g) };
}

sub page {
    my ($httpd) = @_;
    my ($zone, $server) = $httpd->get('/admission')->{body} =~ m{<dl>(.*?)</dl>}gs;
    my $fact = qr{<dt>(.*?)</dt><dd>(.*?)</dd>};

    return { server => by_name('name', 'server', $server =~ /$fact/g),
             zone => by_name('name', 'zone', $zone =~ /$fact/g) };
}

sub json {
    my ($httpd) = @_;
    my $facts = decode_json($httpd->get('/admission?json')->{body});
    my %zone = %{ $facts->{zones}[0] };

    delete @zone{qw(name wait service history)};
    return { server => by_name('json', 'server', %{ $facts->{server} }),
             zone => by_name('json', 'zone', %zone) };
}

sub prometheus {
    my ($httpd) = @_;
    my (%server, %zone);

    for (split /\n/, $httpd->get('/admission?prometheus')->{body}) {
        next if /^#|^admission_(?:wait|service)_duration_seconds/;
        my ($metric, $labels, $value) = /^(\w+)(?:\{(.*)\})? (\S+)$/ or die "$_\n";
        my ($reason) = ($labels // '') =~ /\breason="(\w+)"/;

        if ($labels) {
            $zone{ $metric . ($reason ? "/$reason" : '') } = $value;
        }
        else {
            $server{$metric} = $value;
        }
    }
    return { server => by_name('metric', 'server', %server),
             zone => by_name('metric', 'zone', %zone) };
}

my %outputs = (
    '?auto' => \&auto, 'server-status' => \&table, 'server-status?notable' => \&lists,
    'the page' => \&page, 'JSON' => \&json, 'Prometheus' => \&prometheus,
);

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, conf => <<'CONF');
<Location /admission>
    SetHandler admission-status
</Location>
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 1 timeout=7s
</Location>
CONF
    $httpd->expect_rejections($ZONE, 'full');

    # So that not all numbers are zero.
    my @line = $httpd->ask('/cgi-bin/heavy?ms=30&until=go');
    $httpd->zone_becomes('/cgi-bin/', 'one runs', Active => 1);
    push @line, $httpd->ask('/cgi-bin/heavy?ms=30');
    $httpd->zone_becomes('/cgi-bin/', 'one waits', Queued => 1);
    is $httpd->get('/cgi-bin/heavy')->{status}, 503, 'one is rejected';
    $httpd->open_gate('go');
    is_deeply statuses(answers(@line)), { 200 => 2 }, 'the others end well';
    $httpd->zone_becomes('/cgi-bin/', 'all is at rest', Active => 0, Queued => 0);

    my $auto = auto($httpd);
    for my $output (sort keys %outputs) {
        my $shown = $outputs{$output}->($httpd);

        for my $what (sort keys %fields) {
            is_deeply [ sort keys %{ $shown->{$what} } ],
                [ sort map { $_->{name} } @{ $fields{$what} } ],
                "$output has the fields of the $what and no other";
            is_deeply $shown->{$what}, $auto->{$what}, '... with the values of ?auto';
        }
    }
    $httpd->stop;
}, 'prefork+cgi', 'event+cgid');

done_testing;

# admission-status: the page, JSON and Prometheus show the same facts as ?auto.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use JSON::PP;

sub accepts_metrics {
    my ($text) = @_;

    open my $promtool, '|-', 'promtool check metrics 2>&1' or return 0;
    print $promtool $text;
    return close $promtool;
}

my $has_promtool = !system 'command -v promtool >/dev/null';

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = start_httpd(combo => $combo, workers => 40, conf => <<'CONF');
<Location /admission>
    SetHandler admission-status
</Location>
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 3
    AdmissionZone "a \"quoted\" <b>name</b>"
</Location>
CONF
    my $hold = $httpd->ask('/cgi-bin/heavy?ms=10&until=go');
    wait_for { (values %{ $httpd->status->{zone} })[0]{Active} == 1 } 'one runs';
    my @waiters = map { $httpd->ask('/cgi-bin/heavy?ms=10') } 1, 2;
    wait_for { (values %{ $httpd->status->{zone} })[0]{Queued} == 2 } 'two wait';

    my $auto = $httpd->status;
    my ($zone) = values %{ $auto->{zone} };
    my $json = decode_json($httpd->get('/admission?json')->{body});
    my $facts = $json->{zones}[0];
    is $json->{version}, 1, 'JSON has a version';
    is $facts->{name}, 'a "quoted" <b>name</b>', 'and the name as written';
    my @lacking = grep { !exists $facts->{ lcfirst $_ } } grep { $_ ne 'Name' } keys %$zone;
    is_deeply \@lacking, [], 'JSON has every fact of ?auto';
    is_deeply [ @$facts{qw(limit active queued queueLength)} ], [ 1, 1, 2, 3 ],
        'with the same values';
    is scalar @{ $facts->{history}{queued} }, 600, 'and ten minutes of history';
    is $facts->{history}{queued}[-1], 2, 'up to now';

    my $metrics = $httpd->get('/admission?prometheus');
    like $metrics->{headers}{'content-type'}, qr{text/plain; version=0\.0\.4}, 'Prometheus';
    like $metrics->{body}, qr/^admission_queued\{zone="a \\"quoted\\" <b>name<\/b>"\} 2$/m,
        'labels are escaped';
    like $metrics->{body}, qr/^admission_wait_duration_seconds_bucket\{.*le="\+Inf"\} \d+$/m,
        'histograms';
    SKIP: {
        skip 'promtool is not installed', 1 if !$has_promtool;
        ok accepts_metrics($metrics->{body}), 'promtool accepts them';
    }

    my $page = $httpd->get('/admission');
    like $page->{body}, qr/a &quot;quoted&quot; &lt;b&gt;name&lt;\/b&gt;/, 'the page escapes names';
    like $page->{body}, qr/2 wait, the first for \d+ ms/, 'it says who waits';
    unlike $page->{body}, qr{https?://|//}, 'it loads nothing from elsewhere';
    like $page->{headers}{'content-security-policy'}, qr/default-src 'none'/, 'and says so';
    is $httpd->get("/admission?$_")->{status}, 200, "its $_ is there" for qw(style script);
    is $httpd->get('/admission?other')->{status}, 404, 'nothing else is';

    $httpd->open_gate('go');
    is_deeply statuses(answers($hold, @waiters)), { 200 => 3 }, 'all end well';
    $httpd->stop;
}, 'prefork+cgi', 'event+cgid');

# Names that are UTF-8 stay as they are; others are read as ISO-8859-1. What
# begins like UTF-8 and is too long, half of a pair or beyond the last character
# is not.
my %utf8_of = (
    "caf\xe9"             => "caf\xc3\xa9",
    "caf\xc3\xa9"         => "caf\xc3\xa9",
    "\xe2\x82\xac"        => "\xe2\x82\xac",
    "\xf0\x9f\x9a\xa6"    => "\xf0\x9f\x9a\xa6",
    "a\xe2\x82"           => "a\xc3\xa2\xc2\x82",
    "\xc0\xbc"            => "\xc3\x80\xc2\xbc",
    "\xe0\x81\x81"        => "\xc3\xa0\xc2\x81\xc2\x81",
    "\xed\xa0\x80"        => "\xc3\xad\xc2\xa0\xc2\x80",
    "\xf0\x81\x81\x81"    => "\xc3\xb0\xc2\x81\xc2\x81\xc2\x81",
    "\xf4\x90\x80\x80"    => "\xc3\xb4\xc2\x90\xc2\x80\xc2\x80",
    "\xff"                => "\xc3\xbf",
);
for_each_combo(sub {
    my ($combo) = @_;
    my $number = 0;
    # The two that are one word in both are told apart by their ends.
    my %names = map { ("$_-" . $number => "$utf8_of{$_}-" . $number++) } sort keys %utf8_of;
    my $httpd = start_httpd(combo => $combo, conf => join '', "AdmissionQueue 0\n",
        "<Location /admission>\nSetHandler admission-status\n</Location>\n",
        map { /-(\d+)$/; "<Location /$1>\nMaxConcurrent 1\nAdmissionZone \"$_\"\n</Location>\n" }
            sort keys %names);
    my ($json, $metrics, $page) =
        map { $httpd->get("/admission$_")->{body} } '?json', '?prometheus', '';

    is_deeply [ sort map { my $name = $_->{name}; utf8::encode($name); $name }
                         @{ decode_json($json)->{zones} } ],
        [ sort values %names ], 'JSON is UTF-8';
    is_deeply [ sort $metrics =~ /^admission_limit\{zone="(.*?)"\}/mg ],
        [ sort values %names ], 'Prometheus too';
    ok utf8::decode(my $whole = $metrics), '... all of it';
    SKIP: {
        skip 'promtool is not installed', 1 if !$has_promtool;
        ok accepts_metrics($metrics), 'promtool accepts them';
    }
    is_deeply [ sort $page =~ /<h2>(.*-\d+)<\/h2>/g ], [ sort values %names ], 'so is the page';
    $httpd->stop;
}, 'prefork+cgi');

done_testing;

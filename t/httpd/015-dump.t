# httpd -t -D DUMP_ADMISSION prints every zone with its place and numbers.

use AdmissionTest;
use Admission::Config;

my ($combo) = combos() or plan skip_all => 'no combination';

# The places tested below are lines of this text.
my $httpd = AdmissionTest::Httpd->new(combo => $combo, workers => 200, conf => <<'CONF');
<Location /cgi-bin/>
    MaxConcurrent 4
    AdmissionQueue 20 timeout=5s
</Location>
<Location /reports>
    AdmissionZone reports
    MaxConcurrent 7
    AdmissionSpool request=10000 response=off
</Location>
<Location /found>
    MaxConcurrent auto 2
</Location>
<Location /found/within>
    MaxConcurrent auto 2 16
</Location>
<VirtualHost *:1>
    ServerName other.example
    <Location /cgi-bin/>
        MaxConcurrent 2
        AdmissionQueue 0
    </Location>
</VirtualHost>
CONF

my ($status, $output) = $httpd->configtest('-D', 'DUMP_ADMISSION');
is $status, 0, 'the configuration is fine' or diag $output;

my @zones = (
    # name, limit, queue, timeout, line of MaxConcurrent, what is kept if not by default
    [ 'test.example:/cgi-bin/',  4, 20,  qr/5(?:s|000)/,   2 ],
    [ 'reports',                 7, 100, qr/30(?:s|000)/,  7,
      'request=10000 response=off' ],
    [ 'other.example:/cgi-bin/', 2, 0,   qr/30(?:s|000)/,  19 ],
    # Without a maximum: what the reserve, a quarter of 200, leaves.
    [ 'test.example:/found',     'auto 2 150', 100, qr/30(?:s|000)/, 11 ],
    [ 'test.example:/found/within', 'auto 2 16', 100, qr/30(?:s|000)/, 14 ],
);
for (@zones) {
    my ($name, $limit, $queue, $timeout, $place, $spool) = @$_;
    $spool //= 'request=1M response=16M';
    my ($line) = grep { /(?:^|\s)\Q$name\E(?:\s|$)/ } split /\n/, $output;
    ok defined $line, "$name has a line" or diag($output), next;
    like $line, qr/\blimit $limit\b/, "$name: limit";
    like $line, qr/\bqueue $queue\b/, "$name: length of the queue";
    like $line, qr/\btimeout\W$timeout/, "$name: timeout";
    like $line, qr/admission\.conf:$place\b/, "$name: where it is configured";
    like $line, qr/ spool $spool /, "$name: what is kept for slow clients";
}

my (undef, $quiet) = $httpd->configtest;
unlike $quiet, qr/reports/, 'nothing is printed unless asked for';

# What only decides whether something is read is no part of a zone's name.

my $macros = 0;

sub wrapped {
    my ($kind, $argument, $text) = @_;
    my $is_macro = $kind eq 'Macro';

    $argument = 'macro' . ++$macros if $is_macro;
    return "<$kind $argument>\n$text</$kind>\n" . ($is_macro ? "Use $argument\n" : '');
}

my %around = (IfModule => '!none', IfDefine => '!NONE', IfFile => '/',
              IfDirective => 'LoadModule', IfSection => 'Location',
              IfVersion => '>= 2.4', Macro => '');
my %needs   = (IfVersion => 'version', Macro => 'macro');
my @present = grep { Admission::Config::is_installed($_) } values %needs;
for my $kind (keys %needs) {
    delete $around{$kind} if !grep { $_ eq $needs{$kind} } @present;
}

my $conf = '';
for my $kind (sort keys %around) {
    my $limit = "MaxConcurrent 4\n";
    $conf .= wrapped($kind, $around{$kind}, "<Location /$kind>\n$limit</Location>\n")
           . "<Directory /$kind>\n" . wrapped($kind, $around{$kind}, $limit) . "</Directory>\n";
}
my $other = AdmissionTest::Httpd->new(combo => $combo, modules => \@present, conf => $conf);
($status, $output) = $other->configtest('-D', 'DUMP_ADMISSION');
is $status, 0, 'sections around sections' or diag $output;
is_deeply [ sort $output =~ /^  (\S+) limit/mg ],
    [ sort map { ("test.example:/$_", "test.example:Directory:/$_") } keys %around ],
    '... are not in the names';

# Virtual hosts without a name have that of the server, and so one zone together.
my $host = "<VirtualHost *:%d>\n<Location /shared>\nMaxConcurrent 3\n</Location>\n</VirtualHost>\n";
my $unnamed = AdmissionTest::Httpd->new(combo => $combo,
                                        conf => join '', map { sprintf $host, $_ } 1 .. 4);
($status, $output) = $unnamed->configtest('-D', 'DUMP_ADMISSION');
my ($shared) = grep { /:\/shared limit/ } split /\n/, $output;
like $shared, qr/conf:3, also \S+conf:8 and 2 more\)$/, 'a zone of four hosts shows that'
    or diag $output;

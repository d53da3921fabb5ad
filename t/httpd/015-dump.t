# httpd -t -D DUMP_ADMISSION prints every zone with its place and numbers.

use AdmissionTest;

my ($combo) = combos() or plan skip_all => 'no combination';

# The lines of zones that are printed for this configuration.
sub dump_of($conf, @modules) {
    my $httpd = new_httpd(combo => $combo, workers => 200, modules => \@modules, conf => $conf);
    my ($status, $output) = $httpd->configtest('-D', 'DUMP_ADMISSION');
    is $status, 0, 'the configuration is fine' or diag $output;
    my (undef, $quiet) = $httpd->configtest;
    unlike $quiet, qr/^  \S+ limit /m, '... and nothing is printed unless asked for';
    return $output =~ /^  (\S.*? limit .*)$/mg;
}

# The places below are lines of this text. Virtual hosts without a name have that of the server,
# and so one zone together.
my $conf = join '',
    location('/cgi-bin/', 'MaxConcurrent 4', 'AdmissionQueue 20 timeout=5s'),
    location('/reports', 'AdmissionZone reports', 'MaxConcurrent 7',
             'AdmissionSpool response=off', 'AdmissionSpool request=10000'),
    location('/found', 'MaxConcurrent auto 2'),
    location('/found/within', 'MaxConcurrent auto 2 16'),
    section('VirtualHost *:1', 'ServerName other.example',
            location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 0')),
    map { section("VirtualHost *:$_", location('/shared', 'MaxConcurrent 3')) } 2 .. 5;
my ($kept, $file) = (qr/request=1M response=16M/, qr/\S+admission\.conf/);
my @zones = (
    # name, limit, queue, timeout, what is kept for slow clients, where it is configured
    [ 'test.example:/cgi-bin/',     4, 20,  5000,  $kept, qr/$file:2/ ],
    [ 'reports',                    7, 100, 30000, qr/request=10000 response=off/, qr/$file:7/ ],
    # Without a maximum: what the reserve, a quarter of 200, leaves.
    [ 'test.example:/found',        'auto 2 150', 100, 30000, $kept, qr/$file:12/ ],
    [ 'test.example:/found/within', 'auto 2 16',  100, 30000, $kept, qr/$file:15/ ],
    [ 'other.example:/cgi-bin/',    2, 0,   30000, $kept, qr/$file:20/ ],
    [ 'test.example:/shared',       3, 100, 30000, $kept, qr/$file:26, also $file:31 and 2 more/ ],
);
lines_are([ dump_of($conf) ], [ map {
    my ($name, $limit, $queue, $timeout, $spool, $places) = @$_;
    qr/^\Q$name limit $limit queue $queue timeout $timeout\Ems .* spool $spool .*\($places\)$/
} @zones ], 'each zone has its line, and places');

# The rows of the manual's table "Names of zones". Everything but a <Location> has its kind in the name.
my @limit = 'MaxConcurrent 1';
my @rows = (
    [ '*'               => "@limit\n" ],
    [ '/reports'        => location('"/reports"', @limit) ],
    [ '~^/x'            => section('LocationMatch "^/x"', @limit) ],
    [ '~^/y'            => section('Location ~ "^/y"', @limit) ],
    [ 'Files:*.cgi'     => section('Files "*.cgi"', @limit) ],
    [ 'Files:~\.php$'   => section('FilesMatch "\.php$"', @limit) ],
    [ 'Files:~\.pl$'    => section('Files ~ "\.pl$"', @limit) ],
    [ 'Directory:~^/s'  => section('DirectoryMatch "^/s"', @limit) ],
    [ 'Proxy:http://backend/*' => section('Proxy "http://backend/*"', @limit) ],
    [ 'Directory:/srv/www Files:*.pl' => section('Directory "/srv/www"', section('Files "*.pl"', @limit)) ],
    [ 'named'           => section('If "true"', section('Files "*.cgi"', @limit, 'AdmissionZone named')) ],
);
is_deeply [ sort map { s/ limit .*//r } dump_of(join('', map { $_->[1] } @rows), 'proxy') ],
    [ sort map { $_->[0] eq 'named' ? 'named' : "test.example:$_->[0]" } @rows ], 'each kind of section has its name';

# What only decides whether something is read is no part of a zone's name.
my %around = (IfModule => '!none', IfDefine => '!NONE', IfFile => '/', IfDirective => 'LoadModule',
              IfSection => 'Location', IfVersion => '>= 2.4', Macro => '');
my %needs = (IfVersion => 'version', Macro => 'macro');
delete @around{ grep { !Admission::Config::is_installed($needs{$_}) } keys %needs };

my $macros = 0;

sub wrapped($kind, @lines) {
    return section("$kind $around{$kind}", @lines) if $kind ne 'Macro';
    $macros++;
    return section("Macro macro$macros", @lines) . "Use macro$macros\n";
}

my @names = dump_of(join('', map {
    wrapped($_, location("/$_", 'MaxConcurrent 4'))
    . section("Directory /$_", wrapped($_, 'MaxConcurrent 4'))
} sort keys %around), map { $needs{$_} // () } keys %around);
is_deeply [ sort map { /^(\S+)/ } @names ],
    [ sort map { ("test.example:/$_", "test.example:Directory:/$_") } keys %around ],
    'sections around sections are not in the names';

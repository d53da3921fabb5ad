# What AdmissionFair takes for a key: networks of clients, virtual hosts, users,
# texts; and how it is merged.

use AdmissionTest;

my ($combo) = combos() or plan skip_all => 'no combination';
needs_modules('remoteip');

my $hosts = location('/cgi-bin/hosts/', 'AdmissionFair host', 'MaxConcurrent 20', 'AdmissionZone hosts');
my $httpd = start_httpd(combo => $combo, workers => 60, modules => ['remoteip'], conf => <<'CONF' . join '',
RemoteIPHeader X-Client
RemoteIPInternalProxy 127.0.0.1
<Location /cgi-bin/inner/>
    MaxConcurrent 20
    <If "%{HTTP:X-Key} == 'none'">
        AdmissionFair off
    </If>
    <Else>
        AdmissionFair "%{HTTP:X-Key}"
    </Else>
</Location>
CONF
    section('VirtualHost *:*', 'ServerName test.example'),
    location('/admission', 'SetHandler admission-status'),
    location('/cgi-bin/all/', 'MaxConcurrent 20', 'AdmissionFair client'),
    location('/cgi-bin/networks/', 'MaxConcurrent 20', 'AdmissionFair client/24/56'),
    location('/cgi-bin/users/', 'MaxConcurrent 20', 'AdmissionFair user'),
    location('/cgi-bin/plain/', 'MaxConcurrent 20'),
    location('/cgi-bin/failing/', 'MaxConcurrent 20', 'AdmissionFair "%{file:/nonexistent/%{HTTP:X-Key}}"'),
    location('/cgi-bin/failing-rules/', 'MaxConcurrent 20', 'AdmissionFair "%{HTTP:X-Key}"',
        q{AdmissionPriority high "file('/nonexistent') == 'x'"},
        q{AdmissionCost 5 "file('/nonexistent') == 'x'"}, 'AdmissionCost 2'),
    $hosts, section('VirtualHost *:*', 'ServerName two.example', 'ServerAlias *.two.example', $hosts));
$httpd->allow_in_log(qr/ADM0105/);    # its default queue where nobody is parked

my $gates = 0;

# Asks once for each list of headers, or for each host, while all run. @return the
# keys, with their permits.
sub keys_for {
    my ($section, @requests) = @_;
    my $gate = 'keys-' . ++$gates;
    my $path = "/cgi-bin/$section/heavy?until=$gate";
    my @clients = map { ref ? $httpd->ask($path, headers => $_) : $httpd->ask("http://$_$path") }
        @requests;
    my $permits = $section eq 'failing-rules' ? 2 : 1;
    my ($zone, $keys);

    $httpd->soon(sub {
        ($zone) = grep { $_->{name} =~ m{(?:/\Q$section\E/|^\Q$section\E)\z} } @{ $httpd->json('/admission?json')->{zones} };
        return $zone->{active} == $permits * @requests;
    });
    is $zone->{active}, $permits * @requests, "$section: all run";
    $keys = $zone->{keys} && { map { $_->{name} => $_->{held} } @{ $zone->{keys} } };
    $httpd->open_gate($gate);
    answers(@clients);
    return $keys;
}

sub from { my ($address) = @_; return ["X-Client: $address"] }

my @clients = map { from($_) } qw(192.0.2.1 192.0.2.1 192.0.2.77
    2001:db8:0:1::1 2001:db8:0:1:2::3 2001:db8:0:2::1);
is_deeply keys_for('all', @clients),
    { '192.0.2.1' => 2, '192.0.2.77' => 1, '2001:db8:0:1::/64' => 2, '2001:db8:0:2::/64' => 1 },
    'an address of IPv4, 64 bits of IPv6';
is_deeply keys_for('networks', @clients), { '192.0.2.0/24' => 3, '2001:db8::/56' => 3 },
    'as many bits as configured';
is_deeply keys_for('users', [], []), { '' => 2 }, 'requests without a user are one user';
is_deeply keys_for('inner', map { ["X-Key: $_"] } qw(a b a none)), { a => 2, b => 1 },
    'an <If> selects which requests have which key, and which have none';
is_deeply keys_for('inner', [ qq(X-Key: "\\\xe9\t<b>) ], [ 'X-Key: ' . 'x' x 60 ]),
    { qq("\\\x{e9}\t<b>) => 1, 'x' x 31 => 1 }, 'any text is shown, a long one in part';
is_deeply keys_for('hosts', qw(two.example www.two.example test.example whoever.example)),
    { 'two.example' => 2, 'test.example' => 2 }, 'hosts as they are configured';

# An expression that fails is told once a minute; httpd itself tells each time.
$httpd->allow_in_log(qr/Evaluation of expression from .* failed/);
sub is_told_once {
    my ($number, $what) = @_;
    is scalar(grep { /ADM$number: zone test\.example:.*Cannot open file/ } $httpd->error_log), 1, $what;
}
$httpd->expect_in_log(qr/ADM0209: /, qr/ADM0210: .*an expression of AdmissionPriority failed/);
is_deeply keys_for('failing', [], ['X-Key: a'], ['X-Key: b']), { '' => 3 }, 'a key that fails is that of all without';
is_told_once('0209', '... which is logged once');
is_deeply keys_for('failing-rules', [], []), { '' => 4 }, 'a rule that fails is not true, the next one counts';
is_told_once('0210', '... which is logged once');

my ($status, $dump) = $httpd->configtest('-D', 'DUMP_ADMISSION');
like $dump, qr{/cgi-bin/networks/ .* fair client/24/56\b}, 'the key is printed';
$httpd->stop;

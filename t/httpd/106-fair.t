# Which request is next: keys of AdmissionFair take turns, and no key fills the queue or holds
# more than its max; most permits go to the highest priority; a request can take several. And
# what a key is: networks of clients, virtual hosts, users, texts.

use AdmissionTest;

sub zone($name, @lines) {
    return location("/cgi-bin/$name/", "AdmissionZone $name", @lines);
}

# What ?json says of a zone.
sub shown($httpd, $name) {
    return (grep { $_->{name} eq $name } @{ $httpd->json('/admission?json')->{zones} })[0];
}

# ---- turns ------------------------------------------------------------------

# Zone => its requests as they arrive: key; permits taken and requests waiting from then on,
# or only the status of a rejection.
my %arrivals = (
    fair     => [ [ crawler => 1, 0 ], (map { [ crawler => 1, $_ ] } 1 .. 6), [ visitor => 1, 7 ] ],
    share    => [ (map { [ crawler => 1, $_ ] } 0 .. 2), [ crawler => 503 ], [ visitor => 1, 3 ] ],
    max      => [ [ one => 1, 0 ], [ one => 1, 1 ], [ two => 2, 1 ] ],
    priority => [ [ first => 1, 0 ], [ low => 1, 1 ], [ low => 1, 2 ], [ normal => 1, 3 ],
                  [ high => 1, 4 ], [ high => 1, 5 ] ],
    cost     => [ [ cheap => 1, 0 ], [ cheap => 2, 0 ], [ dear => 2, 1 ], [ cheap => 2, 2 ] ],
    whole    => [ [ all => 4, 0 ] ],
);
# The order in which they start, by arrival.
my %order = (fair => [ 0, 7, 1 .. 6 ], priority => [ 0, 4, 3, 1, 5, 2 ]);

sub arrive($httpd, $zone) {
    my ($number, @clients) = 0;

    for (@{ $arrivals{$zone} }) {
        my ($key, $active, $queued) = @$_;
        my $url = "/cgi-bin/$zone/x?until=$zone&id=$zone-" . $number++;
        my $client = $httpd->ask($url, headers => ["X-Key: $key"]);
        if (defined $queued) {
            $httpd->zone_becomes($zone, "$zone: $key comes", Active => $active, Queued => $queued);
            push @clients, $client;
            next;
        }
        my $rejected = $client->answer;
        is $rejected->{status}, $active, "$zone: one more $key is rejected";
        like $rejected->{headers}{'retry-after'}, qr/^\d+$/, '... with a Retry-After';
    }
    return @clients;
}

sub keys_of($httpd, $zone) {
    return { map { $_->{name} => "$_->{held}+$_->{waiting}" } @{ shown($httpd, $zone)->{keys} // [] } };
}

sub they_take_turns($httpd) {
    for my $zone (sort keys %arrivals) {
        my @clients = arrive($httpd, $zone);

        is_deeply keys_of($httpd, $zone), { crawler => '1+6', visitor => '0+1' },
            'each key is shown' if $zone eq 'fair';
        $httpd->serves($zone, "$zone: all others get their response", @clients);
        my @started = map { /^start $zone-(\d+)/ ? $1 : () } $httpd->record;
        is_in_order $httpd, $zone, \@started, $order{$zone}, '... in the order of their turns'
            if $order{$zone};
        wait_for { !%{ keys_of($httpd, $zone) } } '... and no key is left';
    }
    is $httpd->zone('share')->{RejectedShare}, 1, 'the rejection is counted';
}

# ---- keys -------------------------------------------------------------------

my @from = map { ["X-Client: $_"] } qw(192.0.2.1 192.0.2.1 192.0.2.77
    2001:db8:0:1::1 2001:db8:0:1:2::3 2001:db8:0:2::1);
my @keys = (
    # zone, headers or hosts of requests; the keys, with their permits
    [ client => \@from, { '192.0.2.1' => 2, '192.0.2.77' => 1, '2001:db8:0:1::/64' => 2,
                          '2001:db8:0:2::/64' => 1 } ],
    [ networks => \@from, { '192.0.2.0/24' => 3, '2001:db8::/56' => 3 } ],
    [ users => [ [], [] ], { '' => 2 } ],
    # An <If> selects which requests have which key, and which have none.
    [ inner => [ map { ["X-Key: $_"] } qw(a b a none) ], { a => 2, b => 1 } ],
    # Any text is shown, a long one in part.
    [ inner => [ [ qq(X-Key: "\\\xe9\t<b>) ], [ 'X-Key: ' . 'x' x 60 ] ],
      { qq("\\\x{e9}\t<b>) => 1, 'x' x 31 => 1 } ],
    [ hosts => [qw(two.example www.two.example test.example whoever.example)],
      { 'two.example' => 2, 'test.example' => 2 } ],
    # A key that fails is that of all without; a rule that fails is not true, the next one counts.
    [ 'failing' => [ [], ['X-Key: a'], ['X-Key: b'] ], { '' => 3 } ],
    [ 'failing-rules' => [ [], [] ], { '' => 4 } ],
);

# Requests of all keys run at the same time.
sub they_have_keys($httpd) {
    for my $n (0 .. $#keys) {
        my ($name, $requests, $expected) = @{ $keys[$n] };
        subtest $name => sub {
            needs_modules('remoteip') if $requests == \@from;
            my $path = "/cgi-bin/$name/heavy?until=keys-$n";
            my @clients = map { ref ? $httpd->ask($path, headers => $_) : $httpd->ask("http://$_$path") }
                @$requests;

            $httpd->zone_becomes($name, 'all run', Active => @$requests * ($name eq 'failing-rules' ? 2 : 1));
            is_deeply({ map { $_->{name} => $_->{held} } @{ shown($httpd, $name)->{keys} } }, $expected,
                      '... with their keys');
            $httpd->serves("keys-$n", '... and get their response', @clients);
        };
    }
}

for_each_combo(sub {
    my ($fair, $no_file) = ('AdmissionFair "%{HTTP:X-Key}"', q("file('/nonexistent') == 'x'"));
    my $hosts = zone('hosts', 'MaxConcurrent 20', 'AdmissionFair host');
    my @remoteip = grep { Admission::Config::is_installed($_) } 'remoteip';
    my $httpd = start_httpd(workers => 60, modules => \@remoteip, conf => join '',
        section('IfModule mod_remoteip.c', 'RemoteIPHeader X-Client', 'RemoteIPInternalProxy 127.0.0.1'),
        location('/admission', 'SetHandler admission-status'),
        "$fair\nAdmissionPriority low true\n",
        zone('fair', 'MaxConcurrent 1'),
        zone('share', 'MaxConcurrent 1', 'AdmissionQueue 4'),
        zone('max', 'MaxConcurrent 3', "$fair max=1"),
        zone('priority', 'MaxConcurrent 1', 'AdmissionFair off',
             (map { qq(AdmissionPriority $_ "%{HTTP:X-Key} == '$_'") } qw(high low)),
             q(AdmissionPriority low "%{HTTP:X-Key} == 'high'")),
        zone('cost', 'MaxConcurrent 4', 'AdmissionFair off',
             q(AdmissionCost 3 "%{HTTP:X-Key} == 'dear'")),
        zone('whole', 'MaxConcurrent 4', 'AdmissionFair off', 'AdmissionCost 99'),
        zone('client', 'MaxConcurrent 20', 'AdmissionFair client'),
        zone('networks', 'MaxConcurrent 20', 'AdmissionFair client/24/56'),
        zone('users', 'MaxConcurrent 20', 'AdmissionFair user'),
        zone('inner', 'MaxConcurrent 20',
             section(q(If "%{HTTP:X-Key} == 'none'"), 'AdmissionFair off')),
        zone('failing', 'MaxConcurrent 20', 'AdmissionFair "%{file:/nonexistent/%{HTTP:X-Key}}"'),
        zone('failing-rules', 'MaxConcurrent 20', "AdmissionPriority high $no_file",
             "AdmissionCost 5 $no_file", 'AdmissionCost 2'),
        virtual_host('test.example'), $hosts,
        virtual_host('two.example', 'ServerAlias *.two.example', $hosts));
    $httpd->expect_in_log(qr/ADM0202.*its key has no more slots in the queue/,
                          qr/ADM0118: .*AdmissionCost 99 exceeds MaxConcurrent 4/,
                          qr/ADM0209: /, qr/ADM0210: .*an expression of AdmissionPriority failed/);
    unlike $httpd->slurp('stderr.log'), qr/ADM0118/,
        'httpd reads the configuration twice and warns once';
    # Its default queue where nobody is parked; httpd itself tells of each failure.
    $httpd->allow_in_log(qr/ADM0105/, qr/Evaluation of expression from .* failed/);

    they_take_turns($httpd);
    they_have_keys($httpd);
    for my $tag (qw(ADM0209 ADM0210)) {
        is scalar(grep { /zone failing.*Cannot open file/ } $httpd->lines_of($tag)), 1, "$tag once";
    }
    my (undef, $dump) = $httpd->configtest('-D', 'DUMP_ADMISSION');
    like $dump, qr{\bnetworks .* fair client/24/56\b}, 'a key is printed';
});

# A thousand zones: no output leaves memory in a child, none grows faster than
# the number of zones, and the page stays short.

use AdmissionTest;
use IO::Socket::INET;
use JSON::PP;

my $LOOKS   = 80;
my @OUTPUTS = qw(/server-status /server-status?auto /server-status?notable /admission
                 /admission?json /admission?prometheus);

# One child, so that it is the one that answers.
sub start_with_zones {
    my ($zones) = @_;

    return start_httpd(conf => join '', <<'CONF',
StartServers 1
ServerLimit 1
MaxRequestWorkers 10
MaxSpareThreads 10
AdmissionParking Off
AdmissionQueue 0
AdmissionHandlers all
CONF
        location('/admission', 'SetHandler admission-status'),
        map { location($_, 'MaxConcurrent 1') } '/cgi-bin/', map { "/zone/$_" } 1 .. $zones - 1);
}

# HTTP/1.0 has no chunks to put together: the size of the answer, its first line.
sub look {
    my ($httpd, $path) = @_;
    my $client = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $httpd->{port})
        // die "connect: $@\n";
    my ($size, $first, $part) = (0, '');

    print {$client} "GET $path HTTP/1.0\r\nHost: test.example\r\n\r\n";
    while (sysread $client, $part, 1 << 18) {
        $first = $part if !$size;
        $size += length $part;
    }
    return ($size, $first =~ /^(.*?)\r\n/);
}

# Private memory of the only child, in kilobytes.
sub memory_kb {
    my ($httpd) = @_;
    my ($child, @others) = $httpd->children;
    die "more than one child\n" if @others;
    my ($kb) = $httpd->slurp("/proc/$child/status") =~ /^RssAnon:\s+(\d+) kB$/m
        or die "no RssAnon in /proc/$child/status\n";
    return $kb;
}

# Clock ticks of processor time that it has taken.
sub ticks {
    my ($httpd) = @_;
    my ($child) = $httpd->children;
    my ($fields) = $httpd->slurp("/proc/$child/stat") =~ /.*\) (.*)/;
    my ($user, $system) = (split ' ', $fields)[11, 12];
    return $user + $system;
}

# { path => { bytes, ticks, kb } } of so many looks.
sub measure {
    my ($httpd) = @_;
    my %cost;

    for my $path (@OUTPUTS) {
        my ($kb, $ticks, $bytes) = (memory_kb($httpd), ticks($httpd));
        my %said;

        for (1 .. $LOOKS) {
            ($bytes, my $line) = look($httpd, $path);
            $said{$line}++;
        }
        is_deeply \%said, { 'HTTP/1.1 200 OK' => $LOOKS }, "$path answers";
        $cost{$path} = { bytes => $bytes, ticks => ticks($httpd) - $ticks,
                         kb => memory_kb($httpd) - $kb };
        note sprintf '%s: %d bytes, %d ticks, %d KB more', $path, @{ $cost{$path} }{qw(bytes ticks kb)};
    }
    return \%cost;
}

for_each_combo(sub {
    my $few = start_with_zones(100);
    my $cost_of_few = measure($few);
    $few->stop;

    my $httpd = start_with_zones(1000);
    look($httpd, '/static.txt') for 1 .. 100;
    my $before = memory_kb($httpd);
    my $cost = measure($httpd);
    cmp_ok memory_kb($httpd) - $before, '<=', 1024, 'all looks together leave no megabyte';
    for my $path (@OUTPUTS) {
        my ($of_many, $of_few) = ($cost->{$path}, $cost_of_few->{$path});

        cmp_ok $of_many->{bytes}, '<=', 11 * $of_few->{bytes}, "$path: ten times the zones, as many bytes";
        # Far above noise, and far below the hundred of what is quadratic.
        cmp_ok $of_many->{ticks}, '<=', 30 * ($of_few->{ticks} < 5 ? 5 : $of_few->{ticks}),
            '... and in time';
    }
    cmp_ok $cost->{'/admission'}{bytes}, '<=', 100_000, 'the page is short';
    unlike $httpd->get('/admission?prometheus')->{body}, qr/duration_seconds_bucket/,
        'zones that were never used have no histograms';

    # Every zone used, readers that read later.
    look($httpd, "/zone/$_") for 1 .. 999;
    $before = memory_kb($httpd);
    my @lazy = map { $httpd->ask('/admission?json') } 1 .. 6;
    look($httpd, $_) for @OUTPUTS;
    cmp_ok memory_kb($httpd) - $before, '<=', 4096, 'slow readers hold no megabytes';
    my @answers = answers(@lazy);
    is scalar(grep { @{ decode_json($_->{body})->{zones} } == 1000 } @answers), @lazy,
        'they read all in the end';

    cmp_ok((look($httpd, '/admission'))[0], '<=', 100_000, 'the page of zones in use is short, too');
    my $shown = sub { [ $httpd->get("/admission$_[0]")->{body}
                        =~ m{<a href="\?zone=[^"]*">test\.example:(/\S+)</a>}g ] };
    like $httpd->get('/admission')->{body}, qr/940 more are not shown/, 'it says what it leaves out';
    is_deeply $shown->('?filter=/ZONE/77'), [ map { "/zone/$_" } 77, 770 .. 779 ],
        '... and on demand the zones with a text in the name';
    my ($link) = $httpd->get('/admission?filter=/zone/777')->{body} =~ m{<a href="(\?zone=[^"]*)">};
    like $httpd->get("/admission$link")->{body}, qr{<h2>test\.example:/zone/777</h2>.*Admitted</dt><dd>1<}s,
        '... with a link to everything of each';

    my @runs = $httpd->fill('/cgi-bin/', 'go', 1);
    is $shown->('')->[0], '/cgi-bin/', 'first comes the one where a request runs';
    $httpd->serves('go', 'which ends well', @runs);
}, 'event+cgid');

# As many zones as are possible: the configuration is read in time that grows with their number.
# With more, configtest and a start log one line each, which names the first zone without a limit
# and how many there are.
for_each_combo(sub {
    my $httpd = new_httpd();
    my $read = sub {
        my ($zones) = @_;
        $httpd->configure(join '', "AdmissionHandlers all\n", map {
            location("/zone/$_", 'MaxConcurrent 1') } 1 .. $zones);
        my $before = (times)[2] + (times)[3];
        my ($rv, $output) = $httpd->configtest;
        is $rv, 0, "$zones zones" or diag $output;
        return ($output, (times)[2] + (times)[3] - $before);
    };
    my (undef, $few) = $read->(1_000);
    my ($output, $many) = $read->(65_536);
    unlike $output, qr/ADM0008/, '... are possible without a warning';
    # Far below the 4,300 of what is quadratic.
    cmp_ok $many, '<=', 260 * ($few < 0.03 ? 0.03 : $few),
        sprintf '66 times the zones: %.2f s, %.2f s', $few, $many;

    ($output) = $read->(65_540);
    is scalar(() = $output =~ /ADM0008/g), 1, '... are no error, but a warning';
    my $first = qr{zone test\.example:/zone/65537 \(.*admission\.conf:\d+\) and all after it};
    like $output, qr{65540 zones exceed the maximum of 65536: $first, 4 in total, have no limit},
        '... which names the first without a limit';

    # The start alone: a page that shows all zones takes minutes.
    $httpd->expect_in_log(qr/ADM0008/);
    $httpd->launch;
    wait_for { grep { /AH00489/ } $httpd->error_log } 'httpd starts';
    is scalar(grep { /ADM0008/ } $httpd->error_log), 1, 'the start logs it once';
    is scalar(grep { /ADM0102/ } $httpd->error_log), 0, '... and none for each zone';
    $httpd->allow_in_log(qr/AH00045/);    # 65,540 sections: 1.4 s to stop without the module, 2.5 s with it
    $httpd->stop;
}, 'event+cgid');

# Children that cannot use the shared memory run requests without a limit, and the
# error log says so once a minute, not only when they start.

use AdmissionTest;

# Makes the shared memory one that the module did not write. $memory is that of
# httpd's parent.
sub spoil_segment {
    my ($httpd, $memory) = @_;
    my $written = 0;

    no warnings 'portable';    # addresses have 64 bits
    for my $line (split /\n/, $httpd->slurp("/proc/$httpd->{pid}/maps")) {
        my ($start) = map { hex } $line =~ /^([0-9a-f]+)-[0-9a-f]+ rw-s/ or next;
        sysseek $memory, $start, 0 or next;
        sysread $memory, my $magic, 8 or next;
        next if $magic ne 'dmission';
        sysseek $memory, $start, 0;
        $written += syswrite($memory, 'spoiled!') // 0;
    }
    return $written == 8;
}

for_each_combo(sub {
    my $httpd = start_httpd(conf => location('/page', 'SetHandler admission-status')
        . location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 0'));
    is $httpd->get('/cgi-bin/heavy?id=before')->{status}, 200, 'a request';
    is $httpd->logged('before')->{status}, 'admitted', 'has a permit';

    # Both that event starts with: one that has its memory and not yet its threads is not
    # told from mod_cgid's daemon, and would go on with the limit.
    wait_for { 2 <= $httpd->children && $httpd->status->{AdmissionAgent} } 'the children and the agent are there';
    my $is_spoiled = 0;
    SKIP: {
        open my $memory, '+<', "/proc/$httpd->{pid}/mem"
            or skip 'nobody may write into httpd here', 1;
        $is_spoiled = ok spoil_segment($httpd, $memory), 'the shared memory is overwritten';
    }
    return if !$is_spoiled;

    my @old = $httpd->children;
    kill KILL => @old;
    my %is_old = map { $_ => 1 } @old;
    wait_for { !grep { $is_old{$_} } $httpd->children } 'all children have ended';
    wait_for { $httpd->lines_of('ADM0108') } 'new ones start without a limit';

    my @asked = map { $httpd->ask("/cgi-bin/heavy?id=all$_&until=go") } 1 .. 3;
    wait_for { 3 == grep { /^start all/ } $httpd->record } 'all run concurrently';
    $httpd->serves('go', 'all end well', @asked);
    is $httpd->logged("all$_")->{status}, 'unlimited', "the access log says so of number $_"
        for 1 .. 3;

    my $page = $httpd->get('/page');
    is $page->{status}, 503, 'the page has no figures';
    like $page->{body}, qr/its requests run without a limit/, '... and gives the reason';

    kill KILL => $httpd->agents;
    wait_for { $httpd->lines_of('ADM0131') } 'the agent is killed: there is none any more';
    is_deeply [ $httpd->agents ], [], '... and the next one is gone';
    is scalar($httpd->lines_of('ADM0130')), 1, '... which says once why';

    $httpd->expect_in_log(qr/ADM0133: admission-agent ended \(exit code or signal 9\)/,
                          qr/ADM0130: cannot register admission-agent: the shared memory is corrupt/,
                          qr/ADM0131/);
    $httpd->expect_in_log(qr/ADM0108/, qr/ADM0203: zone test\.example:\/cgi-bin\/: this child/);
    is scalar($httpd->lines_of('ADM0203')), 1, 'and the error log once';
}, 'prefork+cgi', 'event+cgid');

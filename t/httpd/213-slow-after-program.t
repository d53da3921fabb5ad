# A program has ended, or left the rest to httpd; its client does not read. The permit is for the
# program: the next request runs.

use AdmissionTest;
use Admission::Parking;
use Admission::Slow;
use Time::HiRes qw(sleep);

needs_modules(qw(include lua buffer));

# Each ends some time after its output.
my %script = (
    late   => "printf 'Content-Type: text/plain\\n\\n'; seq -f %09.0f 1 500000",
    moved  => "printf 'Location: /big.txt\\n\\n'",
    faulty => "echo nonsense",
    silent => '',
    brief  => "printf 'Content-Type: text/plain\\n\\n'; seq -f %09.0f 1 \$QUERY_STRING",
);
my $BIG = 20_000_000;

sub start {
    my ($seconds, @options) = @_;
    my $httpd = new_httpd(workers => 40, modules => [qw(lua buffer)], @options, conf => join '',
        "SendBufferSize 65536\n", "ErrorDocument 500 /big.txt\n",
        section('LocationMatch ^/\w+\.cgi', 'MaxConcurrent 12', 'AdmissionZone z', 'AdmissionQueue 5'),
        section('LocationMatch ^/solo', 'MaxConcurrent 1', 'AdmissionZone solo', 'AdmissionQueue 0',
                'ErrorDocument 500 /solo-brief.cgi?7'),
        location('/plain-brief.cgi', 'MaxConcurrent 12', 'AdmissionQueue 5', 'AdmissionSpool response=off'),
        location('/exec.shtml', 'MaxConcurrent 12', 'AdmissionQueue 5', 'AdmissionHandlers all'),
        location('/end.lua', 'MaxConcurrent 12', 'AdmissionQueue 5', 'SetHandler lua-script',
                 'SetOutputFilter BUFFER', 'BufferSize 9000000'),
        location('/direct.lua', 'MaxConcurrent 12', 'AdmissionQueue 5', 'SetHandler lua-script', 'AdmissionSpool request=off'),
        location('/file.txt', 'MaxConcurrent 12', 'AdmissionQueue 5', 'AdmissionHandlers all', 'EnableSendfile on'),
        location('/other.cgi', 'MaxConcurrent 1', 'AdmissionZone other', 'AdmissionQueue 5'));
    for my $name (keys %script) {
        $httpd->put_script("$_$name.cgi", "$script{$name}\nexec <&- >&- 2>&-\nsleep $seconds\n") for '', 'plain-', 'solo-';
    }
    $httpd->put_heavy('other.cgi');
    $httpd->put($_, 'x' x $BIG) for 'big.txt', 'file.txt';
    $httpd->put('exec.shtml', '<!--#exec cmd="seq -f %09.0f 1 500000" -->');
    $httpd->put($_, 'function handle(r) r:puts(string.rep("x", 5000000)) return apache2.OK end') for qw(end.lua direct.lua);
    $httpd->put('page.shtml', '<!--#include virtual="/brief.cgi?1" --><!--#include virtual="/other.cgi" -->');
    $httpd->put('solo-exec.shtml', '<!--#exec cmd="echo executed" -->');
    $httpd->put('solo.shtml', '<!--#include virtual="/solo-brief.cgi?1" --><!--#include virtual="/solo-brief.cgi?2" -->');
    $httpd->add_conf(section("Directory $httpd->{dir}/docs", 'AddOutputFilter INCLUDES .shtml'));
    return $httpd->allow_in_log(qr/cgid?:error|ADM0211|core:error/)->start;
}

for_each_combo(sub {
    my ($combo) = @_;
    my ($has_http2, $is_event) = (3 == (() = protocols($combo)), $combo->{mpm} eq 'event');

    for my $seconds (0.3, 1.5) {
        my $httpd = start($seconds, tls => $has_http2, http2 => $has_http2);
        my ($admitted, $free) = (0, $httpd->status->{AdmissionReserveFree});
        my $released = sub {
            my ($what, $number) = (@_, 1);
            $httpd->zone_becomes('z', "$what: the permit is released $seconds s after the output", Active => 0,
                                 Admitted => $admitted += $number);
        };
        for my $name (qw(late moved faulty silent)) {
            my $client = silent_client($httpd, "/$name.cgi", 16_384);
            $released->($name);
            server_becomes($httpd, '... its worker sends the rest, unless the MPM does', AdmissionReserveFree =>
                           $is_event ? $free : $free - 1) if $is_event || $name eq 'late';
            close $client;
        }
        # Around what fits into the sockets: what is left may be in any buffer.
        for my $url ('/brief.cgi', '/plain-brief.cgi', $seconds < 1 ? ('/exec.shtml', '/end.lua') : ()) {
            my @clients = map { silent_client($httpd, "$url?" . (12_800 + 400 * $_), 16_384) } 0 .. 11;
            $released->('twelve lengths', 12) if $url eq '/brief.cgi';
            sleep $seconds + 0.5; # until the programs have ended
            wait_for { my $s = $httpd->status; $s->{AdmissionReserveFree} == $free + 1 - ($s->{Scoreboard} =~ tr/W//) }
                "$url: the workers that wait for clients are counted";
            close $_ for @clients;
        }
        my $upload = $httpd->ask('/direct.lua', method => 'POST', headers => ['Content-Length: 10'])->send('123');
        $httpd->zone_becomes('/direct.lua', 'a body that its handler does not read: no permit', Active => 0, Admitted => 1);
        server_becomes($httpd, '... its worker is counted', AdmissionReserveFree => $free - 1, BusyWorkers => 2) if !$is_event;
        is length $upload->send('4567890')->answer->{body}, 5_000_000, '... the response comes when it has been read';
        if ($has_http2) {
            my $reader = slow_reader($httpd->tls_url('/late.cgi'), qw(--http2 --limit-rate 64k))->stop_reading;
            $released->('HTTP/2');
            $reader->leave;
            for my $url ('url', 'tls_url') {
                my $waits = !$is_event || $url eq 'tls_url' ? 1 : 0;
                $reader = slow_reader($httpd->$url('/file.txt'), qw(--http1.1 --limit-rate 64k))->stop_reading;
                server_becomes($httpd, "$url: a worker is counted while it waits for the client",
                               AdmissionReserveFree => $free - $waits, BusyWorkers => 1 + $waits);
                $httpd->zone_becomes('/file.txt', '... and has no permit', Active => 0);
                $reader->leave;
            }
        }

        my $hold = $httpd->ask('/other.cgi?until=go');
        $httpd->zone_becomes('other', 'another zone is full', Active => 1);
        my $page = $httpd->ask('/page.shtml');
        $httpd->zone_becomes('other', '... and a part of a page waits there', Active => 1, Queued => 1);
        $released->('the part before it');
        $httpd->open_gate('go');
        is $hold->answer->{status}, 200, '... the first is served';
        like $page->answer->{body}, qr/^000000001\n.*\S/s, '... and the page is complete';
        my $client = silent_client($httpd, '/brief.cgi?1000', 16_384, 40);
        wait_for { my $s = $httpd->zone('z'); $s->{Admitted} > $admitted + 5 && $s->{Active} == 0 } 'requests in a row';
        server_becomes($httpd, '... share a worker', AdmissionReserveFree => $is_event ? $free : $free - 1);
        close $client;

        # Alone in its zone, which has no queue.
        like $httpd->get('/solo-faulty.cgi')->{body}, qr/^000000007$/m, 'an error page has the permit of the program that failed';
        $httpd->zone_becomes('solo', '... which is released', Active => 0);
        if ($has_http2) {
            my $body = `curl -skN --http2 --max-time 60 '@{[ $httpd->tls_url('/solo-faulty.cgi') ]}'`;
            like $body, qr/^000000007$/m, '... also over HTTP/2';
            $httpd->zone_becomes('solo', '... which is released', Active => 0);
            $body = `curl -skN --http2 --max-time 60 '@{[ $httpd->tls_url('/solo-exec.shtml') ]}'`;
            is $body . $httpd->zone('solo')->{Orphans}, "executed\n0", 'an unseen program is not left the permit of its page';
            $httpd->zone_becomes('solo', '... which is released, too', Active => 0);
        }
        is $httpd->get('/solo.shtml')->{body}, "000000001\n000000001\n000000002\n", 'two parts of a page share a permit';
        $httpd->comes_to_rest->stop;
    }
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

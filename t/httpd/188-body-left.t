# A program that ends before it has read its body: what it wrote arrives, and the
# connection is not used again where some of the body may follow.

use AdmissionTest;
use Admission::Slow;

my $tries = 10;

# Begins to read, so that the rest of the body is on its way when it ends.
my $program = <<'PROGRAM';
#!/bin/sh
dd bs=1 count=1 of=/dev/null 2>/dev/null
printf 'Status: 413 Too Large\r\nContent-Type: text/plain\r\n\r\nleft body'
PROGRAM

# Of each: [ status, body ]
sub over_tls {
    my ($httpd, @options) = @_;
    my $file = "$httpd->{dir}/body";

    Admission::File::spill($file, 'x' x 300_000);
    return map {
        my $url = $httpd->tls_url('/cgi-bin/leaves?left%20body');
        my $got = `curl -sk --max-time 30 -H 'Expect:' -w '\n%{http_code}' \\
            --data-binary \@$file @options '$url'`;
        [ $got =~ /^(.*)\n(\d+)$/s ? ($2, $1) : (0, $got) ];
    } 1 .. $tries;
}

for_each_combo(sub {
    my ($combo) = @_;
    my $has_streams = $combo->{mpm} ne 'prefork' && can_read_http2();
    my $httpd = start_httpd(tls => 1, http2 => $has_streams, conf =>
        location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 10'));
    Admission::File::spill("$httpd->{dir}/cgi/heavy", $program);
    $httpd->allow_in_log(qr/\[cgid?:error\]/);

    my @clients = map {
        $httpd->ask('/cgi-bin/leaves?left%20body', method => 'POST', keep => 1,
                    body => 'x' x 300_000)
    } 1 .. $tries;
    my @got = answers(@clients);
    is_deeply [ map { [ $_->{status}, $_->{body} ] } @got ],
        [ ([ 413, 'left body' ]) x $tries ], 'each client gets what the program wrote'
        or diag explain [ map { "$_->{status} $_->{body}" } @got ];
    is_deeply [ over_tls($httpd, '--http1.1') ], [ ([ 413, 'left body' ]) x $tries ],
        '... over TLS';
    is_deeply [ over_tls($httpd, '--http2') ], [ ([ 413, 'left body' ]) x $tries ],
        '... and HTTP/2' if $has_streams;
    # mod_cgi reads from a pipe, which tells nothing.
    is scalar(grep { ($_->{headers}{connection} // '') =~ /\bclose$/ } @got), $tries,
        'the connection ends' if $combo->{cgi} eq 'cgid';
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

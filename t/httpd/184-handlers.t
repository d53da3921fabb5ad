# What a handler tells the filters in addition to its data means the same with a limit as without.
# A program that ends before it has read its body: what it wrote arrives, and the connection is
# not used again where some of the body may follow.

use AdmissionTest;
use Admission::Program qw(build_module);

# It says that it has failed, and returns as if it had done nothing: the client learns
# that, and gets nothing behind it.
sub error_in_stream {
    my ($httpd, $path) = @_;
    my $url = $httpd->tls_url($path);
    my $body = `curl -sk --http2 --max-time 300 $url`;
    my $status = $?;

    # The page of an error names the URL, before httpd 2.4.41.
    return { body => $body =~ s{\Q$path\E}{(path)}r, status => $status };
}

# What stands before data that cannot be read arrives, and its end is not taken for that
# of the answer.
sub unread_is_told {
    my ($httpd, $path, @options) = @_;
    my $url = $httpd->tls_url($path);
    my $answer = `curl -sik --max-time 300 @options $url`;

    isnt $?, 0, "data that cannot be read, @options: the client learns of it";
    like $answer, qr{^HTTP/1.1 200 .*\r\n\r\nten bytes$}s, '... behind what came before them'
        if "@options" eq '--http1.1';
    unlike $answer, qr{<html}i, '... and gets no page of an error';
}

# Reads one byte, so that the rest of the body is on its way when it ends.
my $LEAVES = <<'PROGRAM';
dd bs=1 count=1 of=/dev/null 2>/dev/null
printf 'Status: 413 Too Large\r\nContent-Type: text/plain\r\n\r\nleft body'
PROGRAM

sub bodies_are_left {
    my ($httpd, $is_cgid, @options) = @_;
    my $tries = 10;
    my $file = "$httpd->{dir}/body";

    Admission::File::spill($file, 'x' x 300_000);
    my @got = answers(map {
        $httpd->ask('/leaves.cgi', method => 'POST', keep => 1, body => 'x' x 300_000)
    } 1 .. $tries);
    is_deeply [ map { "$_->{body} $_->{status}" } @got ], [ ('left body 413') x $tries ],
        'each client gets what the program wrote that left its body';
    # mod_cgi reads from a pipe, which tells nothing.
    is scalar(grep { ($_->{headers}{connection} // '') =~ /\bclose$/ } @got), $tries,
        '... and the connection ends' if $is_cgid;
    for my $option (@options) {
        my $url = $httpd->tls_url('/leaves.cgi');
        is_deeply [ map { scalar `curl -sk --max-time 300 -H 'Expect:' -w ' %{http_code}' \\
                                  --data-binary \@$file $option '$url'` } 1 .. $tries ],
            [ ('left body 413') x $tries ], "... over TLS, $option";
    }
}

for_each_combo(sub ($combo) {
    my (undef, @options) = map { $_->[2] } protocols($combo);    # of curl over TLS
    my $has_streams = @options == 2;
    my $module = build_module('mod_answers');
    my $httpd = new_httpd(tls => 1, http2 => $has_streams, conf => join '',
        "LoadModule answers_module $module\n",
        (map { section("LocationMatch /$_", "SetHandler $_") } qw(broken unread flushed refused)),
        location('/limited', 'MaxConcurrent 1', 'AdmissionZone z', 'AdmissionQueue 5',
            'AdmissionHandlers all'),
        location('/leaves.cgi', 'MaxConcurrent 2', 'AdmissionQueue 10', 'AdmissionHandlers dynamic'));
    $httpd->put_script('leaves.cgi', $LEAVES);
    $httpd->allow_in_log(qr/\[cgid?:error\]/)->start;
    my %length = map { $_ => $httpd->get("$_/flushed")->{headers}{'content-length'} }
        qw(/unlimited /limited);

    is $length{'/limited'}, $length{'/unlimited'},
        'a FLUSH at the end: the length is known, or not, as without a limit';
    if ($has_streams) {
        my %got = map { $_ => error_in_stream($httpd, "$_/broken") } qw(/unlimited /limited);
        is $got{'/limited'}{status}, $got{'/unlimited'}{status},
            'an error: the stream ends as without a limit';
        if (Admission::Config::ends_failed_streams_well()) {
            is $got{'/limited'}{body}, $got{'/unlimited'}{body}, '... with the same body';
        }
        else {
            unlike $got{'/limited'}{body}, qr/<html>/i, '... no page is behind the data';
            isnt $got{'/limited'}{status}, 0, '... and the client gets an error';
        }
    }
    for my $path (qw(/unlimited/refused /limited/refused)) {
        my $url = $httpd->url($path);
        `curl -s --http1.1 --max-time 300 $url`;
        wait_for { grep { m{\Q$path\E: the flush fails} } $httpd->error_log }
            "$path: a filter that refuses data: its error reaches the handler";
    }
    $httpd->expect_in_log(qr/ADM0213: AdmissionSpool/);
    unread_is_told($httpd, '/limited/unread', $_) for @options;
    $httpd->zone_becomes('z', 'the permits are back', Active => 0,
                         Admitted => $has_streams ? 5 : 3);
    bodies_are_left($httpd, $combo->{cgi} eq 'cgid', @options);
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

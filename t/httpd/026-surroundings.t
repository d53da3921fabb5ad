# What the server does besides can weaken a limit: where the module can know, it
# warns at start. Of the threads that it gives mod_http2 for waiting streams it says so.

use AdmissionTest;

my $zone = location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 10');

sub long { my ($queue) = @_; return location('/cgi-bin/', 'MaxConcurrent 2', "AdmissionQueue $queue") }

# 29 instead of 15: a notice of the threads.
sub instead {
    my ($now, $default) = @_;
    return qr/:notice\].*ADM0126: H2MaxWorkers is not set; using $now instead of mod_http2's default of $default,/;
}

for_each_combo(sub {
    needs_modules('http2');
    for (
        # what, all lines about it, configuration; of 16 threads of mod_http2 the reserve takes 4
        [ 'a queue that fits a number that is set', [], "H2MaxWorkers 16\n$zone" ],
        [ 'a queue that does not', [ qr{:warn\].*ADM0115: zone test\.example:/cgi-bin/ .*\b12\b.*\b11\b.*H2MaxWorkers} ],
          "H2MaxWorkers 15\n$zone" ],
        [ 'mod_http2 without its protocol', [], "H2MaxWorkers 15\n$zone", http2 => 0, modules => ['http2'] ],
        # Ten workers a child: mod_http2 would have 15 threads.
        [ 'no number of threads', [ instead(29, 15) ], $zone ],
        [ 'another minimum', [ instead(35, 21) ], "H2MinWorkers 14\n$zone" ],
        [ 'as many as may be', [ instead(512, 15) ], long(495) ],
        [ 'a queue beyond that', [ qr/:warn\].*ADM0115: .*\b498\b.*\b497\b.*H2MaxWorkers/, instead(512, 15) ], long(496) ],
        [ 'no zone', [], '' ],
    ) {
        my ($what, $lines, $conf, @options) = @$_;
        # Of parking, too, which depends on how many files may be open.
        my $httpd = new_httpd(http2 => 1, conf => $conf, @options);
        $httpd->allow_in_log(qr/ADM01(?:05|15)|ADM0302/)->start;
        lines_are([ grep { /ADM011[3-9]|ADM0126/ } $httpd->error_log ], $lines, $what);
        $httpd->stop;
    }
}, 'event+cgid', 'worker+cgid');

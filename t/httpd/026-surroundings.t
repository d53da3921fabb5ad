# What the server does besides can weaken a limit: where the module can know, it
# warns at start.

use AdmissionTest;

my $zone = "<Location /cgi-bin/>\nMaxConcurrent 2\nAdmissionQueue 10\n</Location>\n";

# Starts a server with these warnings and no other one but for parking, which depends on
# how many files may be open.
sub warns {
    my ($what, $combo, $warnings, %options) = @_;
    my $httpd = new_httpd(combo => $combo, %options)->allow_in_log(qr/ADM0105: |ADM0302: /);

    $httpd->expect_in_log(@$warnings)->start;
    is scalar(grep { /ADM011[3-9]/ } $httpd->error_log), scalar(@$warnings),
        "$what: " . (@$warnings ? 'one warning' : 'no warning');
    $httpd->stop;
}

# ... and says so of the threads of mod_http2, or, with undef, does not.
sub notices {
    my ($what, $combo, $notice, %options) = @_;
    my $httpd = new_httpd(combo => $combo, %options)->allow_in_log(qr/ADM0105|ADM0302/);

    $httpd->start;
    my @notices = grep { /admission:notice.*ADM0126: H2MaxWorkers is not set/ }
        $httpd->error_log;
    is scalar(@notices), $notice ? 1 : 0, "$what: " . ($notice ? 'a notice' : 'none');
    like $notices[0], $notice, '... of how many' if @notices && $notice;
    $httpd->stop;
}

# ---- HTTP/2 ------------------------------------------------------------------

for_each_combo(sub {
    my ($combo) = @_;

    needs_modules('http2');
    # Of 16 threads of mod_http2 the reserve takes 4.
    my @fits = (conf => "H2MaxWorkers 16\n$zone");
    my @short = (conf => "H2MaxWorkers 15\n$zone");

    warns('a queue that fits', $combo, [], http2 => 1, @fits);
    warns('a queue that does not', $combo,
          [ qr/admission:warn.*ADM0115: zone test\.example:\/cgi-bin\/ .*\b12\b.*\b11\b.*H2MaxWorkers/ ],
          http2 => 1, @short);
    warns('mod_http2 without its protocol', $combo, [], modules => ['http2'], conf => $short[1]);

    # Ten workers a child: mod_http2 would have 15 threads.
    my $long = "<Location /cgi-bin/>\nMaxConcurrent 2\nAdmissionQueue %d\n</Location>\n";
    notices('no number of threads', $combo, qr/using 29 instead of mod_http2's default of 15,/,
            http2 => 1, conf => $zone);
    notices('another minimum', $combo, qr/using 35 instead of mod_http2's default of 21,/,
            http2 => 1, conf => "H2MinWorkers 14\n$zone");
    notices('as many as may be', $combo, qr/using 512 instead of mod_http2's default of 15,/,
            http2 => 1, conf => sprintf $long, 495);
    notices('a number that is set', $combo, undef, http2 => 1, @fits);
    notices('no zone', $combo, undef, http2 => 1, conf => '');
    warns('a queue beyond that', $combo,
          [ qr/admission:warn.*ADM0115: .*\b498\b.*\b497\b.*H2MaxWorkers/ ],
          http2 => 1, conf => sprintf $long, 496);
}, 'event+cgid', 'worker+cgid');

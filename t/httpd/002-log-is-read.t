# What no test has declared is found in the error log: a warning, an error, a
# child that crashed. What is declared, or less, is not.

use AdmissionTest;

for_each_combo(sub {
    my $httpd = start_httpd(conf => '');
    my $unexpected = sub { join ' ', map { /ADM(\d+)|AH(\d+)/ ? $1 // $2 : $_ }
                           $httpd->unexpected_lines };

    is $unexpected->(), '', 'nothing';
    $httpd->graceful(location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 1000'));
    is $unexpected->(), '0105', 'a warning';
    $httpd->expect_in_log(qr/ADM0105: /);
    is $unexpected->(), '', '... that is declared';

    unlink "$httpd->{dir}/cgi/heavy";
    is $httpd->get('/cgi-bin/heavy')->{status}, 404, 'the program is gone';
    like $unexpected->(), qr/^\d{5}$/, 'an error';
    $httpd->allow_in_log(qr/\[cgid:error\]/);
    is $unexpected->(), '', '... that is allowed';

    my ($child) = $httpd->children;
    kill SEGV => $child;
    $httpd->soon(sub { $unexpected->() });
    like $unexpected->(), qr/^0005[12]$/, 'a crash';
    $httpd->allow_in_log(qr/exit signal Segmentation fault/)->stop;
}, 'worker+cgid');

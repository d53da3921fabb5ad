# PHP in the server runs executable pages as programs where .htaccess says so. To
# httpd these are files.

use AdmissionTest;
use Admission::Program qw(build_module);

for_each_combo(sub {
    my ($combo) = @_;
    my $conf = "MaxConcurrent 1\nAdmissionZone z\nAdmissionQueue 10\n";
    my @with = ([ 'with PHP', "LoadModule php_module " . build_module('mod_php') . "\n", 1 ],
                [ 'without it', '', 0 ]);

    for (@with) {
        my ($what, $load, $counts) = @$_;
        my $httpd = new_httpd(combo => $combo, conf => $load . $conf);

        $httpd->put($_, "a page\n") for qw(page.html program.html script.txt);
        chmod 0755, map { "$httpd->{dir}/docs/$_" } qw(program.html script.txt);
        $httpd->start;
        is $httpd->get('/program.html')->{body}, $counts ? "run by PHP\n" : "a page\n",
            "$what: an executable page";
        is $httpd->get("/$_")->{body}, "a page\n", "$what: $_ is a file"
            for qw(page.html script.txt);
        $httpd->zone_becomes('z', "$what, $counts counted", Active => 0, Admitted => $counts);
        $httpd->stop;
    }
}, 'prefork+cgi', 'event+cgid');

# AdmissionNice: programs of a zone run at a lower priority, httpd does not.

use AdmissionTest;

# The nice value of a process, and of its parent, which is httpd or mod_cgid's daemon.
my $PROGRAM = <<'SH';
#!/bin/sh
read -r stat < /proc/self/stat
printf 'Content-Type: text/plain\n\n'
set -- ${stat##*) }
echo "program=${17}"
read -r stat < /proc/$PPID/stat
set -- ${stat##*) }
echo "httpd=${17}"
SH

sub nice_of {
    my ($httpd, $url) = @_;
    my %nice = $httpd->get($url)->{body} =~ /(\w+)=(-?\d+)/g;

    return \%nice;
}

# Tests may run at a lower priority themselves.
my $ours = getpriority 0, 0;

for_each_combo(sub {
    my ($combo) = @_;
    my $httpd = new_httpd(combo => $combo);

    $httpd->configure(<<"CONF");
<Directory $httpd->{dir}/docs>
    Options +ExecCGI
    AddHandler cgi-script .sh
</Directory>
<LocationMatch "^/(?:nice|file|usual)">
    MaxConcurrent 2
    AdmissionZone all
    AdmissionQueue 5
</LocationMatch>
<Location /nice>
    AdmissionNice 19
    Alias $httpd->{dir}/docs/program.sh
</Location>
<Location /usual>
    Alias $httpd->{dir}/docs/program.sh
</Location>
<Location /own>
    MaxConcurrent 1
    AdmissionQueue 5
    AdmissionNice 7
</Location>
<Location /nice/not>
    AdmissionNice 0
    Alias $httpd->{dir}/docs/program.sh
</Location>
CONF
    $httpd->put('program.sh', $PROGRAM);
    chmod 0755, "$httpd->{dir}/docs/program.sh";
    $httpd->start;
    # Alternately, in few processes: no request inherits the nice value of another.
    for (1 .. 2) {
        is_deeply nice_of($httpd, '/nice'), { program => 19, httpd => $ours }, 'nice 19';
        is_deeply nice_of($httpd, '/usual'), { program => $ours, httpd => $ours }, 'no AdmissionNice';
        is_deeply nice_of($httpd, '/nice/not'), { program => $ours, httpd => $ours }, 'nice 0';
    }
    like(($httpd->configtest(qw(-D DUMP_ADMISSION)))[1], qr{\/own limit 1 .* nice 7 }, "the dump has it");
    $httpd->stop;
});

# Who is no test has the same httpds: what is not as it must be is its end there, and
# httpd ends with whoever wanted it, in whatever way.

use FindBin;
use AdmissionTest;

my ($combo) = combos('event+cgid') or plan skip_all => 'event+cgid is not asked for';

# Runs it in a program of its own. @return its exit status, and what it said.
sub outside {
    my ($code) = @_;
    my $begin = "\$| = 1; my \$httpd = start_httpd(combo => (combos('event+cgid'))[0]); print \"\$httpd->{pid} \$httpd->{dir}\\n\";";
    open my $program, '-|', $^X, "-I$FindBin::Bin/../lib", '-MAdmission', '-e', "open STDERR, '>&STDOUT'; $begin $code"
        or die "$^X: $!\n";
    my $said = join '', readline $program;
    close $program;
    return ($?, $said);
}

my ($status, $said) = outside(q($httpd->must(1, 'the sky is blue'); $httpd->stop));
is $status, 0, 'all is well';
like $said, qr/\A\d+ \S+\n\z/, '... without any output about it';

($status, $said) = outside(q($httpd->must(0, 'the sky is green', 'but blue'); print 'on'));
isnt $status, 0, 'something is not as it must be';
like $said, qr/^not so: the sky is green\nbut blue$/m, '... which is said';
unlike $said, qr/^(?:on$|(?:not )?ok )/m, '... and is the end, no test';

($status, $said) = outside('kill KILL => $$');
my ($pid, $dir) = split ' ', $said;
wait_for { !kill 0 => $pid } 'httpd ends with the killed test';
wait_for { !-e $dir } '... and so does its directory';

package AdmissionBench::Instructions;

# Instructions that httpd executes per request, by callgrind: the same in every run,
# independent of other activity of the machine.

use strict;
use warnings;

use Exporter 'import';
use POSIX ();
use Time::HiRes qw(sleep);

use AdmissionBench::Load qw(ab);
use Admission;
use Admission::Config;

our @EXPORT = qw(instructions_a_request);

my $PATIENCE = 60;    # seconds for httpd to start or stop below valgrind
my ($FEW, $MANY) = (200, 1200);

# instructions_a_request('/static.txt', combo => {...}, conf => 'text', ...), the
# options as for new_httpd(): the difference of two runs, which excludes start and end
# of httpd.
sub instructions_a_request {
    my ($path, %o) = @_;
    return (run($path, $MANY, %o) - run($path, $FEW, %o)) / ($MANY - $FEW);
}

# Instructions of a whole run with $requests requests.
sub run {
    my ($path, $requests, %o) = @_;
    my $httpd = new_httpd(%o);
    my $counts = "$httpd->{dir}/heavy/counts";

    $httpd->choose_ports;
    give_to_httpd($httpd, 'heavy/counts');
    my $pid = start_counting($httpd, $counts);
    my $answers = $httpd->soon(sub { eval { $httpd->get($path)->{status} == 200 } }, $PATIENCE);
    ab($httpd->url($path), requests => $requests, clients => 1, keepalive => 1) if $answers;
    kill TERM => $pid;
    my $has_ended = $httpd->soon(sub { waitpid($pid, POSIX::WNOHANG()) != 0 }, $PATIENCE);
    kill KILL => $pid if !$has_ended;
    $answers && $has_ended or die "httpd below valgrind: " . $httpd->slurp('valgrind.log') . "\n";
    return read_counts($httpd->slurp($counts));
}

# callgrind opens its file as the user who starts it, and writes it as the user at its end.
sub give_to_httpd {
    my ($httpd, $name) = @_;
    $httpd->put("../$name", '');
    return if $> != 0;
    my ($user) = Admission::Config::user();
    chown((getpwnam $user)[2, 3], "$httpd->{dir}/$name");
}

# A single process, which serves requests itself.
sub start_counting {
    my ($httpd, $counts) = @_;
    my $dir = $httpd->{dir};
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        POSIX::setpgid(0, 0);
        open STDOUT, '>', "$dir/valgrind.log";
        open STDERR, '>&', \*STDOUT;
        exec 'timeout', '--kill-after=5', 2 * $PATIENCE, 'valgrind', '--tool=callgrind',
             '--vgdb=no', "--callgrind-out-file=$counts", Admission::Config::httpd(), '-X', '-d', $dir,
             '-f', 'httpd.conf' or POSIX::_exit(127);
    }
    return $pid;
}

sub read_counts {
    my ($text) = @_;
    return $text =~ /^(?:summary|totals): (\d+)/m ? $1 : die "callgrind counted nothing\n";
}

1;

# t/play starts a private httpd with a configuration, says where it is, and leaves nothing
# behind, however it ends.

use FindBin;
use AdmissionTest;

use IPC::Open3 ();

my $scratch = Admission::File::directory('admission-XXXXXX');
my $conf = "$scratch/play.conf";
Admission::File::spill($conf,
    location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 0', 'AdmissionReject 429'));

# Waits for the last line that it prints. @return its pid, its input, and what it printed
sub playing {
    my ($mpm) = @_;
    my $pid = IPC::Open3::open3(my $in, my $out, undef, $^X, "$FindBin::Bin/../play", $conf, $mpm);
    my $text = '';
    while (defined(my $line = readline $out)) {
        $text .= $line;
        last if $line =~ /^Press Enter/;
    }
    return ($pid, $in, $text);
}

sub status {
    my ($port, $path) = @_;
    return eval { Admission::Client->new($port)->ask($path)->answer->{status} };
}

for my $mpm (map { $_->{mpm} } combos('prefork+cgi', 'event+cgid')) {
    for my $end ('Enter', 'INT', 'TERM') {
        my ($pid, $in, $text) = playing($mpm);
        my ($port) = $text =~ m{^http://127\.0\.0\.1:(\d+)/} or diag $text;
        my ($log) = $text =~ m{^error log +(\S+)$}m or diag $text;
        ok -e $log, "$mpm: the log is where it prints";
        if ($end eq 'Enter') {
            is status($port, '/static.txt'), 200, '... a file is served';
            is status($port, '/cgi-bin/heavy'), 200, '... and a program';
        }
        $end eq 'Enter' ? print $in "\n" : kill $end => $pid;
        close $in if $end eq 'Enter';
        waitpid $pid, 0;
        is $?, 0, "... it ends with $end";
        ok !-e $log, '... and its files with it';
        is status($port, '/static.txt'), undef, '... and httpd';
    }
}

SKIP: {
    my ($combo) = combos('event+cgid') or skip 'event+cgid is not asked for', 2;
    Admission::File::spill($conf, "MaxConcurrent nothing\n");
    my ($pid, undef, $text) = playing('event');
    waitpid $pid, 0;
    is $? >> 8, 1, 'a wrong configuration is a failure';
    like $text, qr/MaxConcurrent/, '... with the error of httpd';
}

package AdmissionTest::Descriptors;

# A CGI program that lists its descriptors, except the first three and its own text, and does
# with each what a hostile program would: it writes, unlocks, and opens the file again.
#
#     4 r /run/admission.fleet.alive
#     5 rw written reopened /run/other
#
# With a path in the query it stays, with all of them, while PATH.PID exists.

use strict;
use warnings;
use experimental 'signatures';

use Admission::File ();

my $TEXT = "#!$^X\n" . <<'PERL';
use Fcntl ':flock';
my @kept; # Perl would close them
$| = 1;
print "Content-Type: text/plain\n\n";
for my $fd (sort { $a <=> $b } map { m{(\d+)\z} } glob '/proc/self/fd/*') {
    my $to = readlink "/proc/self/fd/$fd" // next;
    next if $fd <= 2 || $to eq "/dev/null" || $to eq $0 || $to =~ m{^/proc/};
    open my $info, '<', "/proc/self/fdinfo/$fd" or next;
    my ($flags) = join('', <$info>) =~ /^flags:\s+(\d+)/m;
    my $how = (qw(r w rw))[oct($flags) & 3];
    my $again;
    open $kept[$fd], '+<&=', $fd or die "$fd: $!\n";
    $how .= ' written' if syswrite $kept[$fd], 'x';
    $how .= ' reopened' if open $again, '+<', "/proc/self/fd/$fd";
    flock $kept[$fd], $_ for LOCK_UN, LOCK_EX | LOCK_NB, LOCK_UN;
    print "$fd $how $to\n";
}
if ($ENV{QUERY_STRING}) {
    my $gate = "$ENV{QUERY_STRING}.$$";
    open my $made, '>', $gate or die "$gate: $!\n";
    close STDOUT;
    $SIG{TERM} = 'IGNORE';
    sleep 1 while -e $gate;
}
PERL

# install($path, uid)
sub install($path, $owner = undef) {
    Admission::File::spill($path, $TEXT);
    chmod 0755, $path;
    chown $owner, $owner, $path if defined $owner;
}

1;

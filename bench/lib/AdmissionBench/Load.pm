package AdmissionBench::Load;

# Clients: ab and wrk, and their results, in milliseconds and requests per second.
#
#     my $result = ab($url, requests => 1000, clients => 10);
#     my $load = start_wrk($url, clients => 4, seconds => 5);
#     ...
#     print $load->result->{p99};
#
# Both contact only the host of the URL, and end when their time is up.

use strict;
use warnings;

use Exporter 'import';
use File::Temp ();
use POSIX ();

our @EXPORT_OK = qw(ab start_ab start_wrk wrk);

my $LONGEST = 600;    # seconds until a load is ended in any case

# ab($url, requests => 1000, clients => 10, seconds => 60, keepalive => 0,
#    patience => 120, arguments => [...], allow_failures => 0)
#
# Ends after this number of requests, or of seconds if they are given. Returns
# { rate, time, done, failed, min, mean, median, p99, max, says }.
sub ab { return start_ab(@_)->result }

sub start_ab {
    my ($url, %o) = (@_);
    my $requests = $o{requests} // ($o{seconds} ? 10_000_000 : 1000);
    my $csv = File::Temp->new(TEMPLATE => 'admission-ab-XXXXXX', TMPDIR => 1);

    return start(\%o, 'ab', \&read_ab, $csv,
        # Comes first, because a time limit resets the number.
        'ab', '-q', '-r', '-l', '-e', "$csv", ($o{seconds} ? ('-t', int $o{seconds}) : ()),
        '-n', $requests, '-c', $o{clients} // 10, '-s', $o{patience} // 120,
        ($o{keepalive} ? '-k' : ()), @{ $o{arguments} // [] }, $url);
}

# wrk($url, clients => 4, threads => 1, seconds => 5, keepalive => 1, prefix => [...],
#     patience => 120, arguments => [...], allow_failures => 0)
#
# Returns { rate, time, done, failed, mean, p50, p90, p99, max, says }.
sub wrk { return start_wrk(@_)->result }

sub start_wrk {
    my ($url, %o) = (@_);
    my $seconds = int($o{seconds} // 5) || 1;

    return start(\%o, 'wrk', \&read_wrk, undef,
        @{ $o{prefix} // [] }, 'wrk', '--latency', '-t', $o{threads} // 1, '-c', $o{clients} // 4,
        '-d', "${seconds}s", '--timeout', ($o{patience} // 120) . 's',
        ($o{keepalive} // 1 ? () : ('-H', 'Connection: close')),
        @{ $o{arguments} // [] }, $url);
}

# ---- a program that runs -------------------------------------------------------

sub start {
    my ($o, $name, $read, $csv, @command) = @_;
    my $pid = open(my $output, '-|') // die "fork: $!\n";

    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT;
        # timeout(1) ends with the load, and DESTROY ends timeout.
        exec 'timeout', '--kill-after=5', $LONGEST, @command or POSIX::_exit(127);
    }
    return bless { name => $name, pid => $pid, output => $output, read => $read,
                   csv => $csv, allow_failures => $o->{allow_failures} }, __PACKAGE__;
}

# Waits for its end.
sub result {
    my ($self) = @_;
    return $self->{result} if $self->{result};
    my $output = $self->{output};
    my $text = do { local $/; readline($output) // '' };

    delete $self->{pid};
    close $output;
    my $result = $self->{read}->($text, $self->{csv});
    defined $result->{rate} or die "$self->{name} failed:\n$text\n";
    print STDERR "  $self->{name}: $result->{failed} of $result->{done} requests failed\n"
        if $result->{failed} && !$self->{allow_failures};
    return $self->{result} = { %$result, says => $text };
}

sub stop {
    my ($self) = @_;
    my $pid = delete $self->{pid} or return;

    kill TERM => $pid;
    close $self->{output};
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $!);
    $self->stop;
}

# ---- their output ----------------------------------------------------------------

sub read_ab {
    my ($text, $csv) = @_;
    my %is = (failed => 0, done => 0);

    ($is{rate}) = $text =~ /^Requests per second:\s+([\d.]+)/m;
    ($is{time}) = $text =~ /^Time taken for tests:\s+([\d.]+)/m;
    ($is{done}) = $text =~ /^Complete requests:\s+(\d+)/m if defined $is{rate};
    $is{failed} += $1 if $text =~ /^Failed requests:\s+(\d+)/m;
    $is{failed} += $1 if $text =~ /^Non-2xx responses:\s+(\d+)/m;
    @is{qw(min mean max)} = ($1, $2, $3)
        if $text =~ /^Total:\s+(\d+)\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s+(\d+)/m;
    # Reads the file, because the table has whole milliseconds only.
    my %percent = map { chomp; split /,/ } grep { /^\d/ } readline $csv;
    @is{qw(median p99)} = @percent{50, 99};
    return \%is;
}

my %MS = (us => 0.001, ms => 1, s => 1000, m => 60_000);

sub to_ms {
    my ($time) = @_;
    return $time =~ /^([\d.]+)(us|ms|s|m)$/ ? $1 * $MS{$2} : die "wrk says $time\n";
}

sub read_wrk {
    my ($text) = @_;
    my %is = (failed => 0, done => 0);
    my %percent = $text =~ /^\s*(50|90|99)%\s+(\S+)/mg;

    ($is{rate}) = $text =~ m{^Requests/sec:\s+(\S+)}m or return {};
    @is{qw(done time)} = ($1, to_ms($2) / 1000) if $text =~ /^\s*(\d+) requests in ([^,]+),/m;
    @is{qw(mean max)} = (to_ms($1), to_ms($2))
        if $text =~ /^\s*Latency\s+(\S+)\s+\S+\s+(\S+)/m;
    $is{failed} += $_ for $text =~ /Non-2xx or 3xx responses: (\d+)/ ? $1 : (),
        $text =~ /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/;
    $is{"p$_"} = to_ms($percent{$_}) for keys %percent;
    return \%is;
}

1;

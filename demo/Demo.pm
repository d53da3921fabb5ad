package Demo;

# What the demonstrations share: servers, clients, and an end that is clean whenever it
# comes.

use strict;
use warnings;

use Exporter 'import';
use FindBin;
use POSIX ();
use Time::HiRes qw(sleep time);

use lib "$FindBin::Bin/../t/lib";

use Admission;
use Admission::Config;
use Admission::Load;
use Admission::Parking;

our @EXPORT = qw($STOPPED check_servers clients demonstrate finish leave new_server
                 print_error_logs read_clients stay_up);

# With what a signal ends whatever is going on.
our $STOPPED = "stopped\n";

my ($me, @servers, @there) = ($$);
my $signal;     # of those who want it to end
my $is_over;    # they may: all has been shown

# demonstrate($builddir, sub { what is shown }, sub { the end }): exits.
sub demonstrate {
    my ($builddir, $show, $end) = @_;
    my $failed;

    for my $name (qw(INT TERM HUP)) {
        $SIG{$name} = sub {
            $SIG{$_} = 'IGNORE' for qw(INT TERM HUP);
            $signal = POSIX->can("SIG$name")->();
            die $STOPPED;
        };
    }
    $SIG{PIPE} = 'IGNORE';
    $| = 1;
    $ENV{ADMISSION_MODULE} = "$builddir/.libs/mod_admission.so";
    $ENV{ADMISSION_HEAVY} = "$builddir/t/programs/heavy";
    eval { $show->(); 1 } or $failed = $@;
    POSIX::_exit(1) if $$ != $me;
    $SIG{$_} = 'IGNORE' for qw(INT TERM HUP);
    my $stopped = $signal && ($failed // '') eq $STOPPED;
    # Where in a library it happened does not help the reader.
    print STDERR 'quickstart: ', $failed =~ s/ at \S+ line \d+\.?$//r if $failed && !$stopped;
    leave(@there);
    $_->discard for @servers;
    eval { $end->(); 1 } or print STDERR "quickstart: $@";
    exit($stopped ? $is_over ? 0 : 128 + $signal : $failed ? 1 : 0);
}

sub stay_up {
    return if !-t STDIN;
    $is_over = 1;
    print "\nStays up until you press Ctrl-C.\n";
    while (1) {
        check_servers();
        sleep 1;
    }
}

# ---- servers ---------------------------------------------------------------------

# As new_httpd(), with so many workers, of which none waits until its program was seen.
sub new_server {
    my ($workers, %o) = @_;
    my $conf = "<Location />\n    UnsetEnv HEAVY_DIR\n</Location>\n$o{conf}";
    my $server = Admission::Config::is_installed('mpm_event')
        ? new_parking_httpd(%o, combo => (combos('event+cgid'))[0], threads => $workers, factor => 4,
                            conf => $conf)
        : new_httpd(%o, combo => (combos('prefork+cgi'))[0], workers => $workers, conf => $conf);

    push @servers, $server;
    return $server;
}

sub check_servers {
    die "a server has ended\n" if grep { $_->has_exited } @servers;
}

sub print_error_logs {
    for my $server (@servers) {
        my @lines = $server->error_log;
        print STDERR "\nThe end of the error log:\n", map { "$_\n" } @lines > 5 ? @lines[-5 .. -1] : @lines;
    }
}

# ---- clients -----------------------------------------------------------------------

# clients($port, $path, rate => 0, clients => N, seconds => N, requests => N). What they
# have had so far: { ms => [...], failures, is_there }, as of the last read_clients().
sub clients {
    my ($port, $path, %o) = @_;
    my $load = Admission::Load->start(($o{requests} ? ('-n', $o{requests}) : ()), $port, $o{rate} // 0,
                                      $o{clients}, POSIX::ceil($o{seconds}), $path);

    push @there, { load => $load, ms => [], failures => 0, is_there => 1 };
    return $there[-1];
}

# Reads what has come of them within this time. @return how many are still there.
sub read_clients {
    my ($seconds, @clients) = @_;

    # A signal may have ended no more than an attempt to reach a server.
    die $STOPPED if $signal;
    sleep $seconds;
    for my $self (grep { $_->{is_there} } @clients) {
        $self->{is_there} = $self->{load}->is_there;
        $_->[2] ? push @{ $self->{ms} }, $_->[1] / 1000 : $self->{failures}++ for $self->{load}->lines;
    }
    return scalar grep { $_->{is_there} } @clients;
}

# They ask no more, and have so many seconds for the answers.
sub finish {
    my ($self, $seconds) = @_;
    my $deadline = time + $seconds;

    $self->{load}->ask_no_more;
    1 while time < $deadline && read_clients(0.1, $self);
    leave($self);
}

# Those who have no answer yet leave without one.
sub leave { $_->{load}->leave for @_ }

1;

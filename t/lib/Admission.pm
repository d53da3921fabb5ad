package Admission;

# What tests, benchmarks and demonstrations share: private httpds, clients, programs.
# It says nothing by itself, and dies where something is not as it must be. Tests
# use AdmissionTest, which asserts it instead.
#
# Environment: ADMISSION_MODULE (path of mod_admission.so), HTTPD,
# HTTPD_MODULES, ADMISSION_COMBOS ("prefork+cgi event+cgid": the combinations
# of MPM and CGI module to run), MPM (only those of this MPM), ADMISSION_COMPLETION
# (park in the way of httpd before 2.4.63), ADMISSION_HEAVY
# (the compiled t/programs/heavy.c), CC.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';
use POSIX ();

use Admission::Client qw(answers wait_for_answers);
use Admission::Config;
use Admission::Httpd;

our @EXPORT = qw(answers combos new_httpd start_httpd start_program statuses wait_for_answers);

# The class of the httpds to come, and their combination unless an option names another.
our $HTTPD = 'Admission::Httpd';
our $combo;

# Who takes too long is told so; the httpds have to end as well.
$SIG{TERM} = sub { exit 1 };

my @DEFAULT = qw(prefork+cgi worker+cgid event+cgid event+cgi);
my @KNOWN   = (@DEFAULT, qw(prefork+cgid worker+cgi));

# The combinations to use, each { name, mpm, cgi }. Who need not run on all of
# them names those it wants: combos('prefork+cgi', 'event+cgid'). With
# '+completion' behind it requests are parked in the way of httpd before 2.4.63,
# where that is not the only one.
sub combos(@wanted) {
    my %known = map { $_ => 1 } @KNOWN;
    my %asked_for = map { $_ => 1 } $ENV{ADMISSION_COMBOS} ? split /[\s,]+/, $ENV{ADMISSION_COMBOS} : @KNOWN;

    for (grep { !$known{ s/\+completion\z//r } } @wanted, keys %asked_for) {
        die "no combination '$_': one of @KNOWN\n";
    }
    die "MPM='$ENV{MPM}': prefork, worker or event\n" if $ENV{MPM} && !grep { /^\Q$ENV{MPM}+/ } @DEFAULT;
    return grep { !$ENV{MPM} || $_->{mpm} eq $ENV{MPM} }
           map { my ($mpm, $cgi, $way) = split /\+/;
                 { name => $_, mpm => $mpm, cgi => $cgi, completion => $way } }
           grep { !/\+completion\z/ || Admission::Config::has_two_ways() }
           grep { $asked_for{ s/\+completion\z//r } } @wanted ? @wanted : @DEFAULT;
}

# A private httpd that is not started yet, or is. The options are those of
# Admission::Httpd->new.
sub new_httpd(%options) {
    # 025-warnings.t tests when it comes.
    return $HTTPD->new(combo => $combo, %options)->allow_in_log(qr/admission:warn.*mod_cgi\b/);
}

sub start_httpd { return new_httpd(@_)->start }

# Starts an outside client, such as curl, silently; returns its pid.
sub start_program(@command) {
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        open STDOUT, '>', '/dev/null';
        open STDERR, '>&', \*STDOUT;
        exec @command or POSIX::_exit(127);
    }
    return $pid;
}

# How many answers have which status: { 200 => 58, 503 => 2 }.
sub statuses(@answers) {
    my %count;
    $count{ $_->{status} }++ for @answers;
    return \%count;
}

1;

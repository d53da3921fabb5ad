package AdmissionTest;

# What the integration tests of mod_admission say. A test file begins with
#
#     use FindBin;
#     use lib "$FindBin::Bin/lib";
#     use AdmissionTest;
#
# which brings strict, warnings, Test::More and the functions below.
#
# Environment: ADMISSION_MODULE (path of mod_admission.so), HTTPD,
# HTTPD_MODULES, ADMISSION_COMBOS ("prefork+cgi event+cgid": the combinations
# of MPM and CGI module to run), MPM (only those of this MPM), ADMISSION_COMPLETION
# (park in the way of httpd before 2.4.63), ADMISSION_HEAVY
# (the compiled programs/heavy.c), CC.

use strict;
use warnings;

use Exporter;
use POSIX ();
use Test::More;
use Time::HiRes ();

use Admission::Client qw(answers wait_for_answers);
use Admission::Config;
use AdmissionTest::Httpd;

our @ISA    = ('Exporter');
our @EXPORT = qw(answers combos for_each_combo in_two_seconds is_in_order new_httpd
                 start_httpd statuses
                 start_program wait_for wait_for_answers);

sub import {
    strict->import;
    warnings->import;
    Test::More->export_to_level(1);
    __PACKAGE__->export_to_level(1);
}

# A test that takes too long is told so; its httpd has to end with it.
$SIG{TERM} = sub { exit 1 };

my @DEFAULT = qw(prefork+cgi worker+cgid event+cgid event+cgi);

# The combinations to test, each { name, mpm, cgi }. A test that need not run
# on all of them names those it wants: combos('prefork+cgi', 'event+cgid'). With
# '+completion' behind it requests are parked in the way of httpd before 2.4.63,
# where that is not the only one.
sub combos {
    my (@wanted) = @_;
    my %asked_for = map { $_ => 1 } $ENV{ADMISSION_COMBOS}
        ? split /[\s,]+/, $ENV{ADMISSION_COMBOS} : @DEFAULT;

    return grep { !$ENV{MPM} || $_->{mpm} eq $ENV{MPM} }
           map { my ($mpm, $cgi, $way) = split /\+/;
                 { name => $_, mpm => $mpm, cgi => $cgi, completion => $way } }
           grep { !/\+completion\z/ || Admission::Config::has_two_ways() }
           grep { $asked_for{ s/\+completion\z//r } } @wanted ? @wanted : @DEFAULT;
}

# Runs the same story on each combination, as a subtest each.
sub for_each_combo {
    my ($story, @wanted) = @_;

    my @combos = combos(@wanted);

    if (!@combos) { # other stories of the file may have some
        SKIP: { skip 'none of the asked-for combinations', 1 }
    }
    for my $combo (@combos) {
        subtest $combo->{name} => sub {
            for my $module ("mpm_$combo->{mpm}", $combo->{cgi}) {
                plan skip_all => "mod_$module is not installed"
                    if !Admission::Config::is_installed($module);
            }
            $story->($combo);
        };
    }
}

# A private httpd that is not started yet, or is. The options are those of
# AdmissionTest::Httpd->new.
sub new_httpd {
    my (%options) = @_;
    # 025-warnings.t tests when it comes.
    return AdmissionTest::Httpd->new(%options)
        ->allow_in_log(qr/admission:warn.*mod_cgi\b/);
}

sub start_httpd { return new_httpd(@_)->start }

# Starts an outside client, such as curl, silently; returns its pid.
sub start_program {
    my (@command) = @_;
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        open STDOUT, '>', '/dev/null';
        open STDERR, '>&', \*STDOUT;
        exec @command or POSIX::_exit(127);
    }
    return $pid;
}

# wait_for { condition } 'what is waited for', seconds: an assertion that the
# condition becomes true. Its deadline only matters when it fails.
sub wait_for (&$;$) {
    my ($condition, $what, $seconds) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok(AdmissionTest::Httpd->soon(sub { eval { $condition->() } },
                                         $seconds), $what);
}

# How many answers have which status: { 200 => 58, 503 => 2 }.
# Says how long a recovery took. An assertion only where the machine is idle,
# which whoever sets ADMISSION_TIMED vouches for; bench/ measures it.
sub in_two_seconds {
    my ($since, $until) = @_;
    my $took = ($until // Time::HiRes::time()) - $since;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    return ok $took < 2, sprintf '... in two seconds: %.2f s', $took
        if $ENV{ADMISSION_TIMED};
    note sprintf 'recovered after %.2f s', $took;
}

# An assertion that all came in this order. A process that is not on the processor
# for 100 ms after it won a permit loses it to the next one, and comes later: where
# the zone says that this happened, they came in any order.
sub is_in_order {
    my ($httpd, $zone, $got, $expected, $what) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    return is_deeply $got, $expected, $what
        if !$httpd->zone($zone)->{GrantsPassedOn};
    return is_deeply [ sort @$got ], [ sort @$expected ], "$what, where all were in time";
}

sub statuses {
    my (@answers) = @_;
    my %count;
    $count{ $_->{status} }++ for @answers;
    return \%count;
}

1;

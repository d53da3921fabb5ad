package AdmissionTest;

# What the integration tests of mod_admission say. A test file begins with
#
#     use AdmissionTest;
#
# which brings strict, warnings, Test::More, the words of Admission, of the libraries named in
# @EXPORT and the functions below. What Admission would die of is an assertion here. At its end the file has done
# its testing, and need not say so.

use strict;
use warnings;
use experimental 'signatures';

use Test2::API ();
use Test::More;
use Time::HiRes ();

use Admission;
use Admission::Config;
use Admission::Parking;
use Admission::Redis;
use Admission::Slow;
use AdmissionTest::Backend;
use AdmissionTest::Httpd;
use TestFile;

our @ISA    = ('TestFile');
our @EXPORT = (@Admission::EXPORT, @Admission::Parking::EXPORT, @Admission::Slow::EXPORT,
               @AdmissionTest::Backend::EXPORT, qw(
    engine_or_skip fleet_zone for_each_combo for_each_parking_combo in_two_seconds is_in_order
    is_machine_busy lines_are location needs_modules section virtual_host wait_for
));

$Admission::HTTPD = 'AdmissionTest::Httpd';
sub is_machine_busy { return Admission::Log::is_machine_busy() }

# The line of a failure is the test's, not the library's.
Test2::API::test2_add_callback_context_acquire(sub {
    my ($at) = @_;
    my $more = $Test::Builder::Level - 1;    # that the test asks for
    my $level = $at->{level} - $more;

    $level++ while ((caller $level + 2)[1] // '') =~ m{/lib/Admission(?:Test)?[/.]|/Test/(?:Builder|More)[/.]};
    $at->{level} = $level + $more;
});

# Runs the same story on each combination, as a subtest each. The httpds that it makes are of
# this combination. Those that it has not stopped must be at rest at its end, and are stopped.
sub for_each_combo($story, @wanted) {
    my @combos = combos(@wanted);

    if (!@combos) { # other stories of the file may have some
        SKIP: { skip 'none of the asked-for combinations', 1 }
    }
    for my $combo (@combos) {
        subtest $combo->{name} => sub {
            needs_modules("mpm_$combo->{mpm}", $combo->{cgi});
            local $Admission::combo = $combo;
            $story->($combo);
            $_->comes_to_rest->stop for Admission::Httpd::running();
        };
    }
}

# On event with mod_cgid, or on the combinations named.
sub for_each_parking_combo($story, @wanted) {
    plan skip_all => 'this httpd cannot park' if !Admission::Parking::can_park();
    for_each_combo($story, @wanted ? @wanted : 'event+cgid');
}

# Configuration: location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 10'),
# virtual_host('test.example', lines), section('Directory /x', lines). A line may be a section.
sub section($open, @lines) {
    my ($name) = $open =~ /^(\w+)/;
    return join '', "<$open>\n", (map { chomp(my $line = $_); "    $line\n" } @lines), "</$name>\n";
}

sub location($path, @lines) { return section("Location $path", @lines) }

sub virtual_host($name, @lines) { return section('VirtualHost *', "ServerName $name", @lines) }

# Skips the rest where one of these modules of httpd is missing.
sub needs_modules(@names) {
    for (grep { !Admission::Config::is_installed($_) } @names) { plan skip_all => "mod_$_ is not installed" }
}

# The path of mod_admission_redis. Skips the file where there is none; or no Redis, of one
# that says 'redis'.
sub engine_or_skip($redis = undef) {
    my $module = Admission::Config::engine_module();

    plan skip_all => 'no mod_admission_redis: it was built without hiredis' if !-e $module;
    plan skip_all => 'no Redis: install redis-tools' if $redis && !Admission::Redis->program;
    return $module;
}

# Configuration: the zone db of /cgi-bin/, whose limit servers share by this engine, with what
# AdmissionFleet says and more lines of the section.
sub fleet_zone($engine, $fleet, $limit, @lines) {
    my $module = engine_or_skip();

    return "LoadModule admission_redis_module $module\nAdmissionEngine $engine\nAdmissionFleet $fleet\n"
        . "LogLevel admission:info\n"
        . location('/cgi-bin/', "MaxConcurrent $limit", 'AdmissionZone db fleet', @lines);
}

# wait_for { condition } 'what is waited for', seconds: an assertion that the
# condition becomes true. Its deadline only matters when it fails.
sub wait_for :prototype(&$;$) ($condition, $what, $seconds = undef) {
    return ok(Admission::Httpd->soon(sub { eval { $condition->() } }, $seconds), $what);
}

# Says how long a recovery took. An assertion only where the machine is idle,
# which whoever sets ADMISSION_TIMED vouches for; bench/ measures it.
sub in_two_seconds($since, $until = Time::HiRes::time()) {
    my $took = $until - $since;

    return ok $took < 2, sprintf '... in two seconds: %.2f s', $took if $ENV{ADMISSION_TIMED};
    note sprintf 'recovered after %.2f s', $took;
}

# An assertion that each of these lines is that of one pattern, and that none is missing.
sub lines_are($lines, $patterns, $what) {
    my @missing = grep { my $pattern = $_; 1 != grep { $_ =~ $pattern } @$lines } @$patterns;
    my @others = grep { my $line = $_; !grep { $line =~ $_ } @$patterns } @$lines;

    return ok(!@missing && !@others, $what) || diag join "\n", "missing, or not once: @missing", 'lines:', @$lines;
}

# An assertion that all came in this order. A process that is not on the processor
# for 100 ms after it won a permit loses it to the next one, and comes later: where
# the zone says that this happened, they came in any order.
sub is_in_order($httpd, $zone, $got, $expected, $what) {
    return is_deeply $got, $expected, $what if !$httpd->zone($zone)->{GrantsPassedOn};
    return is_deeply [ sort @$got ], [ sort @$expected ], "$what, where all were in time";
}

1;

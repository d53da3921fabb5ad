package AdmissionTest::Parking;

# The words of Admission::Parking, for tests.

use Exporter 'import';

use Admission::Parking;
use AdmissionTest;

our @EXPORT = (qw(for_each_parking_combo start_beside_holder switches), @Admission::Parking::EXPORT);

# Runs the same story on event with mod_cgid, or on the combinations named.
sub for_each_parking_combo {
    my ($story, @wanted) = @_;
    plan skip_all => 'this httpd cannot park' if !Admission::Parking::can_park();
    for_each_combo($story, @wanted ? @wanted : 'event+cgid');
}

# Starts a faulty httpd whose only permit is held in a child of its own, which is to end:
# ($holder, $child), and all workers of that child are idle.
sub start_beside_holder {
    my ($httpd, $zone) = @_;
    my $child;

    faulty($httpd)->start;
    my $holder = $httpd->ask("${zone}heavy?id=holder&early=1&until=go");
    # Begun, not only admitted: mod_cgid forgets programs it is just starting.
    wait_for { $holder->has_begun } 'one runs';
    my ($first) = $httpd->children;
    kill USR1 => $httpd->{pid};
    wait_for { ($child) = grep { $_ != $first } $httpd->children } 'there is another child';
    return ($holder, $child);
}

# How often threads of the children have slept: a busy loop does so all the time.
sub switches {
    my ($httpd) = @_;
    my $switches = 0;

    for my $pid ($httpd->children) {
        $switches += $_ for map { $httpd->slurp($_) =~ /ctxt_switches:\s*(\d+)/g }
                            glob "/proc/$pid/task/*/status";
    }
    return $switches;
}

1;

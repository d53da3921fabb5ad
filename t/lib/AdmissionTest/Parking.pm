package AdmissionTest::Parking;

# The words of Admission::Parking, for tests.

use strict;
use warnings;

use Exporter 'import';
use Test::More;

use Admission::Parking;
use AdmissionTest;

our @EXPORT = (qw(for_each_parking_combo start_beside_holder), @Admission::Parking::EXPORT);

# Runs the same story on event with mod_cgid, or on the combinations named.
sub for_each_parking_combo {
    my ($story, @wanted) = @_;
    plan skip_all => 'this httpd cannot park' if !Admission::Parking::can_park();
    for_each_combo($story, @wanted ? @wanted : 'event+cgid');
}

# Starts a napping httpd whose only permit is held in a child of its own, which is to end:
# ($holder, $child), and all workers of that child are idle.
sub start_beside_holder {
    my ($httpd, $zone) = @_;
    local $ENV{HTTPD} = napping_httpd($httpd);
    my $child;

    $httpd->start;
    my $holder = $httpd->ask("${zone}heavy?id=holder&until=go");
    $httpd->zone_becomes($zone, 'one runs', Active => 1);
    my ($first) = $httpd->children;
    kill USR1 => $httpd->{pid};
    wait_for { ($child) = grep { $_ != $first } $httpd->children } 'there is another child';
    return ($holder, $child);
}

1;

package AdmissionTest::Parking;

# The words of Admission::Parking, for tests.

use strict;
use warnings;

use Exporter 'import';
use Test::More;

use Admission::Parking;
use AdmissionTest;

our @EXPORT = ('for_each_parking_combo', @Admission::Parking::EXPORT);

# Runs the same story on event with mod_cgid, or on the combinations named.
sub for_each_parking_combo {
    my ($story, @wanted) = @_;
    plan skip_all => 'this httpd cannot park' if !Admission::Parking::can_park();
    for_each_combo($story, @wanted ? @wanted : 'event+cgid');
}

1;

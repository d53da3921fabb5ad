package Admission::File;

# Whole files.

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw(slurp spill);

# Nothing where there is none.
sub slurp {
    my ($path) = @_;
    open my $file, '<', $path or return '';
    local $/;
    return readline($file) // '';
}

sub spill {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
}

1;

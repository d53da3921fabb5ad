package TestFile;

# How every test file begins and ends: it has strict, warnings, signatures and Test::More, and at its end
# it has done its testing and need not say so. For a file that uses this, or a library that
# inherits from it, which exports its own words as well.

use strict;
use warnings;
use experimental 'signatures';

use Exporter;
use Test::More;
use Test2::API ();

our @ISA = ('Exporter');

sub import($class) {
    strict->import;
    warnings->import;
    experimental->import('signatures');
    Test::More->export_to_level(1);
    $class->export_to_level(1) if $class ne __PACKAGE__;
}

# Not where the file died, was skipped, or said it; nor in a process that it forked, nor in
# a program that tests nothing.
my $test = $$;
END {
    done_testing()
        if $$ == $test && $? == 0 && Test::More->builder->current_test && !Test2::API::test2_stack()->top->plan;
}

1;

package TestFile;

# How every test file begins and ends: it has strict, warnings and Test::More, and at its end
# it has done its testing and need not say so. For a file that uses this, or a library that
# calls TestFile->import(2) when it is imported.

use strict;
use warnings;

use Test::More;
use Test2::API ();

sub import {
    my (undef, $level) = @_;
    strict->import;
    warnings->import;
    Test::More->export_to_level($level // 1);
}

# Not where the file died, was skipped, or said it; nor in a process that it forked, nor in
# a program that tests nothing.
my $test = $$;
END {
    done_testing()
        if $$ == $test && $? == 0 && Test::More->builder->current_test && !Test2::API::test2_stack()->top->plan;
}

1;

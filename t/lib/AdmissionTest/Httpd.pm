package AdmissionTest::Httpd;

# A private httpd of a test: what must be true of it is an assertion.

use strict;
use warnings;

use Test::More;

use parent 'Admission::Httpd';

# The line of a failure is the test's, not the library's.
sub must {
    my ($self, $is, $what, @details) = @_;
    my $level = 1;
    $level++ while ((caller $level - 1)[1] // '') =~ m{/lib/Admission(?:Test)?/};
    local $Test::Builder::Level = $Test::Builder::Level + $level;
    return ok($is, $what) || diag join "\n", @details;
}

sub watch {
    my ($self) = @_;
    push @{ $self->{watches} }, my $watch = $self->SUPER::watch;
    return $watch;
}

sub check_log {
    my ($self) = @_;
    # For whoever has to explain one too many.
    note "most at once: $_" for grep { defined } map { $_->{seen}{largest} } @{ $self->{watches} };
    $self->SUPER::check_log;
    $self->show_log if !Test::More->builder->is_passing;
}

1;

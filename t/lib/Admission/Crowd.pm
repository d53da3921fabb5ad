package Admission::Crowd;

# A crowd of impatient clients. Each connects, asks, reads for about as long as its
# patience lasts, leaves (half of them rudely, with a RST), and comes again, until the
# crowd is told to go home.
#
#     my $crowd = crowd_at($httpd, programs => ['ms=50'], clients => 40, patience => 0.3);
#     ...
#     my $seen = $crowd->go_home;    # { asked, left, lost, 200 => n, ...,
#                                    #   longest => seconds to a whole answer }
#
# left: gave up; lost: the server cut the connection without an answer.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';

use Admission::Load;

our @EXPORT = qw(crowd_at);

# What httpd says of programs and children that end as badly as they do here.
my @CASUALTIES = (
    qr/\[cgid?:error\]/,
    qr/AH00052: child pid \d+ exit signal Killed/,
    qr/AH0004[56]: /,    # a child that has to be told again to end
    qr/ADM0202: .* the queue is full/,
);

sub casualties { return @CASUALTIES }

my $COME = 50;    # times a second that one who has left would come again
my %MEANS = (0 => 'lost', -1 => 'left');

# crowd_at($httpd, clients => 40, patience => seconds, programs => ['ms=100', ...]), or paths
# => ['/x', ...]: begins at once.
sub crowd_at($httpd, %o) {
    my @paths = ($o{paths} ? @{ $o{paths} } : (), map { "/cgi-bin/heavy?$_" } @{ $o{programs} // [] });
    my $load = Admission::Load->start('-rs', '-k', 1, '-q', 1000 * $o{patience}, $httpd->{port},
                                      $COME * $o{clients}, $o{clients}, 3600, @paths);
    return bless { load => $load }, __PACKAGE__;
}

# Everybody leaves. @return what the crowd saw.
sub go_home($self) {
    my $load = delete $self->{load} or return $self->{seen};
    my %seen = (asked => 0, left => 0, lost => 0, longest => 0);

    # Refused while httpd restarts: they came again.
    for my $line (grep { $_->[3] != -2 } $load->leave) {
        my (undef, $usec, undef, $status) = @$line;

        $seen{asked}++;
        $seen{ $MEANS{$status} // $status }++;
        $seen{longest} = $usec / 1e6 if $status > 0 && $usec / 1e6 > $seen{longest};
    }
    return $self->{seen} = \%seen;
}

1;

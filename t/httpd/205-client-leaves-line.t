# The queue is served in order of arrival, over all children. A waiting client that goes
# away, however it does, leaves it: its program never starts. Where it is parked no worker
# is needed to notice that, and no descriptor stays.

use AdmissionTest;
use Time::HiRes qw(time);

my $zone = '/cgi-bin/';
my $url  = '/cgi-bin/heavy?id=gone';

sub pipeline { $_[0]->ask($url, keep => 1) for 1 .. 5; return $_[0] }

sub comes { my ($httpd) = @_; return $httpd->ask($url, keep => 1) }

# A visitor's request: a POST request of this server itself stays (206-still-wanted.t).
sub begins_to_send {
    my ($httpd) = @_;
    return $httpd->ask($url, method => 'POST', headers => [ 'X-Forwarded-For: 192.0.2.1', 'Content-Length: 100000' ])
        ->send('x' x 50_000);
}

sub curl { my ($httpd) = @_; return start_program(qw(curl -sk --max-time 300), $httpd->tls_url($url)) }

# A client that ..., how it comes, how it leaves.
my @leaves = (
    [ 'closes',                         \&comes,          sub { $_[0]->leave } ],
    [ 'resets',                         \&comes,          sub { $_[0]->abort } ],
    [ 'half-closes',                    \&comes,          sub { $_[0]->half_close } ],
    [ 'closes, with a pipeline unread', \&comes,          sub { pipeline($_[0])->leave } ],
    [ 'resets, with a pipeline unread', \&comes,          sub { pipeline($_[0])->abort } ],
    [ 'resets while it sends',          \&begins_to_send, sub { $_[0]->abort } ],
    [ 'dies over TLS',                  \&curl,           sub { kill KILL => $_[0]; waitpid $_[0], 0 } ],
);

for_each_combo(sub ($combo) {
    my $parks = $combo->{mpm} eq 'event' && Admission::Parking::can_park();
    my $start = $parks ? \&start_parking_httpd : \&start_httpd;
    # Whoever blocks needs a quarter of a second on an idle machine.
    my $soon  = $parks ? 0.5 : 1;
    my $httpd = $start->(tls => 1, workers => 40, conf =>
        location($zone, 'MaxConcurrent 1', 'AdmissionSpool request=off',
            'AdmissionQueue 20 timeout=300s'));
    my ($child) = $httpd->children;
    my $files_at_rest = descriptors($child);
    my ($waiting, $gone) = (0, 0);
    my @stay = ask_line($httpd, 'go', 0, $zone);
    my $stays = sub {
        push @stay, $httpd->ask("/cgi-bin/heavy?id=go-$_[0]&ms=5");
        $httpd->zone_becomes($zone, "$_[0] stay, in this order", Active => 1, Queued => ++$waiting);
    };

    $stays->($_) for 1 .. 4;
    for (@leaves) {
        my ($how, $come, $leave) = @$_;
        my $took;
        # How long it takes is no promise, and a busy machine may be late: one try of ten is not.
        for (1 .. 10) {
            my $client = $come->($httpd);
            $httpd->zone_becomes($zone, 'one more waits', Queued => $waiting + 1);
            my $since = time;
            $leave->($client);
            $httpd->zone_becomes($zone, "a client that $how leaves the queue", Queued => $waiting,
                                 Gone => ++$gone, Active => 1);
            $took = time - $since;
            last if $took < $soon;
        }
        cmp_ok $took, '<', $soon, '... immediately';
        server_becomes($httpd, $parks ? '... the others are parked' : '... the others hold a worker each',
                       AdmissionParked => $parks ? $waiting : 0, AdmissionBlocked => $parks ? 0 : $waiting);
    }
    $stays->($_) for 5 .. 8;
    is_deeply [ $httpd->record ], ['start go-runs'], 'no request has overtaken';
    $httpd->serves('go', 'clients that stayed get their response', @stay);
    is_in_order $httpd, $zone, [ $httpd->record ],
        [ map { ("start $_", "end $_") } 'go-runs', map { "go-$_" } 1 .. 8 ],
        'one after the other, in order of arrival; no program ran for clients that left';
    $httpd->zone_becomes($zone, 'the zone is at rest', Active => 0, Queued => 0, Admitted => 1 + $waiting,
                         AdmittedAfterWait => $waiting, QueuedMax => 8, Gone => $gone);
    wait_for { $gone == grep { /^499 .* status=gone / } $httpd->access_log } 'the access log has gone';
    wait_for { descriptors($child) <= $files_at_rest } 'no descriptor is left open'
        or diag descriptors($child) . " are open, were $files_at_rest" if $parks;
}, qw(prefork+cgi worker+cgid event+cgid event+cgi event+cgid+completion));

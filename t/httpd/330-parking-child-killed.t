# kill -9 of a child that has requests parked: their places are back within two
# seconds, everybody else's place, turn and count stay as they were.

use AdmissionTest;
use Time::HiRes qw(time);

my $zone = '/cgi-bin/';

for_each_parking_combo(sub {
    my $httpd = start_parking_httpd(children => 2,
                                    replaces_killed => 1, conf =>
                                        location('/cgi-bin/', 'MaxConcurrent 1', 'AdmissionQueue 100'));
    my $watch = $httpd->watch;
    wait_for { $httpd->children == 2 } 'two children serve';
    my ($keeps, $dies) = $httpd->children;

    # While one child is stopped the other takes all that comes.
    my $in_line = 0;
    my $ask_other = sub {
        my ($stopped, $name, $number) = @_;
        halt($httpd, $stopped);
        my @clients = map { $httpd->ask("/cgi-bin/heavy?id=$name$_") } 1 .. $number;
        $in_line += $number;
        $httpd->zone_becomes($zone, "$number are parked in a child ($name)", Queued => $in_line);
        kill CONT => $stopped;
        return @clients;
    };

    halt($httpd, $dies);
    my ($hold) = ask_line($httpd, 'go', 0, $zone);
    kill CONT => $dies;
    my @first = $ask_other->($dies,  'first', 10);
    my @lost  = $ask_other->($keeps, 'lost',  20);
    my @last  = $ask_other->($dies,  'last',  10);
    server_becomes($httpd, 'all are parked', AdmissionParked => 40, AdmissionBlocked => 0);

    my $killed_at = time;
    kill KILL => $dies;
    $httpd->zone_becomes($zone, 'a child is killed: its requests have left the queue',
                         Active => 1, Queued => 20, Reclaimed => 20);
    server_becomes($httpd, '... requests of the other are parked', AdmissionParked => 20,
                   AdmissionBlocked => 0);
    cmp_ok time - $killed_at, '<', 2, '... within 2 seconds' if !is_machine_busy();
    is_deeply statuses(answers(@lost)), { 0 => 20 }, 'its clients were cut off';

    wait_for { $httpd->children == 2 } 'a new child takes its place';
    my ($new) = grep { $_ != $keeps } $httpd->children;
    $in_line = 20;
    my @new = $ask_other->($keeps, 'new', 10);
    server_becomes($httpd, 'it parks, too', AdmissionParked => 30, AdmissionBlocked => 0);

    $httpd->serves('go', 'every other request gets a response', $hold, @first, @last, @new);
    my @order = map { /^start (\D+)/ } $httpd->record;
    is_in_order($httpd, $zone, \@order,
                [ 'go-runs', ('first') x 10, ('last') x 10, ('new') x 10 ],
                'in the order of arrival; no program ran for requests of dead children');
    is $watch->most, 1, 'one at a time';
    $httpd->zone_becomes($zone, 'the zone is at rest', Active => 0, Queued => 0, Gone => 0);

    # The one that holds the permit is killed, the parked ones are elsewhere.
    halt($httpd, $new);
    ($hold) = ask_line($httpd, 'orphan', 0, $zone);
    kill CONT => $new;
    $in_line = 0;
    my @line = $ask_other->($keeps, 'line', 20);
    kill KILL => $keeps;
    is $hold->answer->{status}, 0, 'the child that runs the program is killed';
    $httpd->zone_becomes($zone, 'its program holds the permit', Active => 1, Queued => 20);
    $httpd->serves('orphan', 'when it has ended the parked requests run', @line);
    $httpd->zone_becomes($zone, 'the zone is at rest', Active => 0, Queued => 0);
    server_becomes($httpd, 'no request remains parked', AdmissionParked => 0);
});

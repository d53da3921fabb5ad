# What a program or a backend writes goes to its client at once, also when something was
# kept for it before.

use AdmissionTest;
use Admission::Slow;

# Each line is written only when the client has read the one before.
my $events = "printf 'Content-Type: text/event-stream\\n\\n'\n"
             . "for i in 1 2 3 4 5; do\n"
             . "  echo \"event \$i\"\n"
             . "  until [ -e \$HEAVY_DIR/\$QUERY_STRING-\$i ]; do sleep 0.02; done\n"
             . "done\n";

# The same behind an answer that is larger than what is in the sockets: its first line, and
# the rest when the client has stopped reading.
my $bulk = 'until [ -e $HEAVY_DIR/$QUERY_STRING-go ]; do sleep 0.02; done' . "\n"
           . "seq -f %09.0f 1 @{[ $BULK / 10 ]}\n";
my $snapshot = $events =~ s/^(?=for i)/echo first\n$bulk/mr;

sub events_come {
    my ($httpd, $how, $name, $reader) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my @missing = grep {
        my $event = $_;
        my $came = $httpd->soon(sub { $reader->read_so_far =~ /^event \Q$event\E$/m });
        $httpd->open_gate("$name-$event");
        !$came;
    } 1 .. 5;

    return is "@missing", '', "$how: each event comes before the next one is written";
}

for_each_combo(sub {
    my ($combo) = @_;
    my $has_streams = $combo->{mpm} ne 'prefork' && can_read_http2();
    my $httpd = new_httpd(workers => 20, tls => 1, http2 => $has_streams,
                          conf => "AdmissionSpool request=1M response=16M\n"
        . section('LocationMatch ^/(events|snapshot)', 'MaxConcurrent 8', 'AdmissionZone streams'));
    $httpd->allow_in_log(qr/ADM0105|ADM0302/);    # its default queue on a small server
    $httpd->put_script('events.cgi', $events);
    $httpd->put_script('snapshot.cgi', $snapshot);
    $httpd->start;
    for (['plain', 'url', '--http1.1'], ['TLS', 'tls_url', '--http1.1'],
         $has_streams ? ['HTTP/2', 'tls_url', '--http2'] : ()) {
        my ($how, $url, @options) = @$_;
        my $name = "events-$how" =~ s/\W+/-/gr;
        my $reader = slow_reader($httpd->$url("/events.cgi?$name"), @options);
        events_come($httpd, $how, $name, $reader);
        $reader->leave;

        $name = "snapshot-$how" =~ s/\W+/-/gr;
        $reader = slow_reader($httpd->$url("/snapshot.cgi?$name"), @options);
        $reader->stop_reading;
        $httpd->open_gate("$name-go");
        wait_for { $httpd->status->{AdmissionSpooled} } "$how: something is kept";
        $reader->read_on;
        events_come($httpd, "$how, later", $name, $reader);
        $reader->leave;
        wait_for { !$httpd->status->{AdmissionSpooled} } '... and then nothing';
    }
}, 'prefork+cgi', 'event+cgid');

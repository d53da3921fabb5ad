# A backend of mod_proxy_http sends to a slow client: the permit comes back when the
# backend has sent everything, and what it sends later arrives at once.

use AdmissionTest;
use AdmissionTest::Backend;
use Admission::Slow;
use Time::HiRes ();

# Made beforehand: where the machine is busy it takes longer than a test waits.
my $bulk = join '', map { sprintf "%09d\n", $_ } 1 .. $BULK / 10;

# The first words; when the gate is open the bulk, and three events, each when the
# gate before it is open. "/early/x" begins with the words alone.
sub serve {
    my ($client, $dir) = @_;
    my $head = read_head($client) // return;
    my ($kind, $name) = $head =~ m{^GET /(\w+)/([\w-]+)} or return;
    my $open = sub { Time::HiRes::sleep(0.02) until -e "$dir/heavy/$name-$_[0]" };
    print {$client} "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nfirst words\n";
    $client->flush;
    $open->('go');
    print {$client} $bulk;
    for my $event ($kind eq 'events' ? (1 .. 3) : ()) {
        print {$client} "event $event\n";
        $client->flush;
        $open->($event);
    }
    return;
}

for_each_combo(sub {
    my ($combo) = @_;
    my @modules = qw(proxy proxy_http);
    needs_modules(@modules);
    my $httpd = new_httpd(workers => 20, tls => 1, modules => \@modules);
    my (undef, $port) = start_backend(sub { serve($_[0], $httpd->{dir}) });
    $httpd->configure(join '',
        "AdmissionSpool request=1M response=16M\n",
        "ProxyPass /back/ http://127.0.0.1:$port/\n",
        location('/back/', 'MaxConcurrent 1', 'AdmissionQueue 5'));
    $httpd->start;
    for my $url ('url', 'tls_url') {
        my $reader = slow_reader($httpd->$url("/back/bulk/$url"), '--http1.1')->stop_reading;
        $httpd->open_gate("$url-go");
        $httpd->zone_becomes('/back/', "$url: the permit comes back while nobody reads",
                             Active => 0);
        my $status = $httpd->status;
        cmp_ok $status->{AdmissionSpooled}, '>', 0, '... and bytes of the response are stored';
        is $status->{AdmissionRunning}, $combo->{mpm} eq 'event' ? 0 : 1,
            '... and the worker is counted where it waits for the client';
        $reader->read_on;
        ok $reader->has_read_all, '... and everything arrives';

        $reader = slow_reader($httpd->$url("/back/events/e$url"), '--http1.1')->stop_reading;
        $httpd->open_gate("e$url-go");
        wait_for { $httpd->status->{AdmissionSpooled} } "$url: another one is kept";
        $reader->read_on;
        for my $event (1 .. 3) {
            wait_for { $reader->read_so_far =~ /^event $event$/m }
                "event $event comes while the backend is silent";
            $httpd->open_gate("e$url-$event");
        }
        $reader->leave;
    }
}, 'event+cgid', 'worker+cgid', 'prefork+cgi');

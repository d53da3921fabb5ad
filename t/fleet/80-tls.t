# TLS to the engine: nobody who is not trusted, or has another name, is one. Skipped where
# it was built with a hiredis without TLS.

use AdmissionTest;
use AdmissionTest::Fleet;
use Admission::File qw(spill);
use Admission::Redis;

use File::Temp ();

engine_or_skip('redis');
plan skip_all => 'no TLS: it was built with a hiredis without hiredis_ssl' if !AdmissionTest::Fleet::has_tls();
plan skip_all => 'no openssl: install openssl' if !grep { -x "$_/openssl" } split /:/, $ENV{PATH};

my $tmp = File::Temp->newdir('admission-tls-XXXXXX', TMPDIR => 1);
chmod 0755, "$tmp";

sub openssl {
    my ($command) = @_;
    my $output = `cd '$tmp' && openssl $command 2>&1`;
    $? == 0 or die "openssl $command: $output\n";
}

sub authority { openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=$_[0] -keyout $_[0].key -out $_[0].crt") }

# A certificate of these names by that authority.
sub certificate {
    my ($name, $by, $names) = @_;
    spill("$tmp/$name.ext", "subjectAltName=$names\n");
    openssl("req -newkey rsa:2048 -nodes -subj /CN=$name -keyout $name.key -out $name.csr");
    openssl("x509 -req -in $name.csr -CA $by.crt -CAkey $by.key -CAcreateserial -days 2 -extfile $name.ext -out $name.crt");
}

authority($_) for qw(ours theirs);
certificate('here', 'ours', 'IP:127.0.0.1');
certificate('named', 'ours', 'DNS:redis.example,DNS:localhost');
certificate('me', 'ours', 'DNS:me');
certificate('foreign', 'theirs', 'IP:127.0.0.1');

# One that has TLS on a port of its own beside the plain one.
sub redis {
    my ($certificate, $asks, %more) = @_;
    my $tls = Admission::Httpd::free_port(0)->sockport;
    my $redis = Admission::Redis->start(options => $more{options} // [], conf => [
        @{ $more{conf} // [] }, "tls-port $tls", "tls-ca-cert-file $tmp/ours.crt", "tls-auth-clients $asks",
        "tls-cert-file $tmp/$certificate.crt", "tls-key-file $tmp/$certificate.key" ]);
    $redis->{tls} = $tls;
    return $redis;
}

my $redis    = redis('here', 'no');
my $named    = redis('named', 'no');
my $foreign  = redis('foreign', 'no');
my $strict   = redis('here', 'yes');
my $sentinel = redis('here', 'no', options => ['--sentinel'],
                     conf => [ "sentinel monitor db 127.0.0.1 $redis->{tls} 1", 'tls-replication yes' ]);
my $ca      = "tls=$tmp/ours.crt";

for_each_combo(sub {
    my $fleet = AdmissionTest::Fleet->start(engine => "rediss://127.0.0.1:$redis->{tls} $ca");

    $fleet->survives('connections end', sub {
        $redis->command(qw(CLIENT KILL TYPE), $_) for (qw(normal pubsub)) x 5;
    });
    is scalar @{ $redis->command(qw(PUBSUB CHANNELS adm:*)) }, 3, 'all are connected';
    unlike $redis->command(qw(CLIENT LIST TYPE pubsub)), qr/laddr=127.0.0.1:$redis->{port} /, '... by TLS';

    for ([ 'an untrusted certificate is rejected', "rediss://127.0.0.1:$foreign->{tls} $ca",
           qr/certificate is not accepted: (?:unable to get local issuer|self.signed)/ ],
         [ 'the system does not', "rediss://127.0.0.1:$redis->{tls}", qr/certificate is not accepted: / ],
         [ 'it has another name', "rediss://127.0.0.1:$named->{tls} $ca", qr/certificate is not accepted: IP address mismatch/ ],
         [ 'it has not this name', "rediss://127.0.0.1:$named->{tls} $ca tls-name=other.example",
           qr/certificate is not accepted: [Hh]ostname mismatch/ ],
         [ 'it wants a certificate', "rediss://127.0.0.1:$strict->{tls} $ca", qr/TLS: .*alert.*certificate/ ],
         [ 'it speaks no TLS', "rediss://127.0.0.1:$redis->{port} $ca", qr/TLS: |closed|reset|cannot be connected in time/ ],
         [ 'it speaks nothing else', "redis://127.0.0.1:$redis->{tls}", qr/closed|reset|Protocol error/i ],
         [ 'no listener', "rediss://127.0.0.1:1 $ca", qr/Connection refused/ ]) {
        $fleet->is_told(1, @$_);
    }
    for ([ 'the name that is said', "rediss://127.0.0.1:$named->{tls} $ca tls-name=redis.example" ],
         [ 'the name of the URL', "rediss://localhost:$named->{tls} $ca" ],
         [ 'any name', "rediss://127.0.0.1:$named->{tls} $ca tls-name=off" ],
         [ 'its certificate and ours', "rediss://127.0.0.1:$strict->{tls} $ca,$tmp/me.crt,$tmp/me.key" ]) {
        my ($what, $engine) = @$_;
        $fleet->change_engine(1, $engine);
        wait_for { my $zone = ($fleet->zones)[1]; $zone->{FleetState} eq 'leased' && $zone->{FleetServers} == 1 } $what, 30;
    }
    $fleet->change_engine(1, "rediss://127.0.0.1:$sentinel->{tls} sentinel=db $ca");
    $fleet->is_leased('a Sentinel and its master');
    $fleet->change_engine(1, $fleet->{engine});
    $fleet->rest(within => 60);
    $fleet->stop;
}, 'event+cgid');

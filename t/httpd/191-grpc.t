# A gRPC client may wait for a part of the response before it sends the rest of the body: its
# request has a permit before that. No other request has, whatever it says of itself.

use FindBin;
use lib "$FindBin::Bin/../lib";
use AdmissionTest;
use IO::Handle;

Admission::Config::is_installed($_) or plan skip_all => "mod_$_ is not installed"
    for qw(http2 proxy proxy_http2);
plan skip_all => 'curl has no HTTP/2' if `curl -V` !~ /HTTP2/;

# Sends a first part; the rest when it is closed. Its answer is in the file.
sub begins {
    my ($httpd, $path, $type, $file) = @_;

    unlink $file;
    open my $curl, '|-', qw(curl -s --http2-prior-knowledge --max-time 60 -X POST -T -), '-H',
        "Content-Type: $type", '-o', $file, $httpd->url($path) or die "curl: $!\n";
    $curl->autoflush;
    print $curl 'abcd';
    return $curl;
}

for_each_combo(sub {
    my ($combo) = @_;
    my $backend = start_httpd(combo => $combo, admission => 0, http2 => 1);
    my $httpd = start_httpd(combo => $combo, http2 => 1, modules => [qw(proxy proxy_http2)],
                            conf => <<"CONF");
ProxyPass /grpc/ h2c://127.0.0.1:$backend->{port}/cgi-bin/
ProxyPass /said/ h2c://127.0.0.1:$backend->{port}/cgi-bin/
<Location /grpc/>
    MaxConcurrent 1
    AdmissionQueue 2
</Location>
<Location /said/>
    MaxConcurrent 1
    AdmissionQueue 2
    AdmissionSpool request=1M
</Location>
<Location /cgi-bin/>
    MaxConcurrent 1
    AdmissionQueue 2
</Location>
CONF
    my $answer = "$httpd->{dir}/answer";
    my $body = sub { Admission::File::slurp($answer) =~ /^body (\d+)$/m ? $1 : 'none' };

    for my $type ('application/grpc', 'application/grpc+proto', 'Application/gRPC; a=b') {
        my $curl = begins($httpd, '/grpc/heavy', $type, $answer);
        $httpd->zone_becomes('/grpc/', "$type: it runs before its body is whole", Active => 1);
        ok close $curl, '... which arrives';
        is $body->(), 4, '... as a whole';
        $httpd->zone_becomes('/grpc/', '... and the permit is back', Active => 0);
    }
    for (['/cgi-bin/heavy', 'application/grpc'], ['/said/heavy', 'application/grpc'], ['/grpc/heavy', 'application/grpcweb'],
         ['/grpc/heavy', 'text/plain']) {
        my ($path, $type) = @$_;
        my $curl = begins($httpd, $path, $type, $answer);
        wait_for { $httpd->status->{AdmissionSpooled} > 0 } "$path, $type: its body is read first";
        is $httpd->get("${path}?id=other")->{status}, 200, '... and others run meanwhile';
        ok close $curl, '... and its body arrives';
        is $body->(), 4, '... as a whole';
    }
    $_->stop for $httpd, $backend;
}, 'worker+cgid', 'event+cgid');

done_testing;

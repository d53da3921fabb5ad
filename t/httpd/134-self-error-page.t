# The permit moves to the request that mod_proxy sends to this server. If that one fails,
# the error page of the request before is a program of the same zone: it asks for a permit
# of its own, also where the record of the permit belongs to another request by then.

use AdmissionTest;

needs_modules(qw(proxy proxy_http));

for_each_combo(sub {
    my $httpd = new_httpd(workers => 40, modules => [qw(proxy proxy_http)]);
    my $to = 'http://127.0.0.1:%{SERVER_PORT}';

    $httpd->configure(<<"CONF");
MaxConcurrent 1
AdmissionZone all
AdmissionQueue 20 timeout=30s
AdmissionReserve 1
UseCanonicalPhysicalPort On
RewriteEngine On
RewriteRule ^/a/(.*) $to/\$1 [P]
ProxyErrorOverride On
ErrorDocument 500 /cgi-bin/heavy?id=page&ms=30
CONF
    $httpd->put_script('fails.cgi', "echo Status: 500 No\necho Content-Type: text/plain\necho\n");
    $httpd->start;

    my $watch = $httpd->watch;
    my @line = map { ($httpd->ask("/a/fails.cgi?$_"), $httpd->ask("/cgi-bin/heavy?id=other$_&ms=30")) }
        1 .. 8;
    is_deeply statuses(answers(@line)), { 200 => 8, 500 => 8 }, 'all are answered';
    is $watch->most, 1, 'error pages and others run one at a time';
});

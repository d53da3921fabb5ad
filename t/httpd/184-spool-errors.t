# A handler says in the middle of its answer that it has failed, and returns as if it
# had done nothing: the client learns that, and gets nothing behind it.

use FindBin;
use lib "$FindBin::Bin/lib";
use AdmissionTest;
use AdmissionTest::Module qw(build_module);
use AdmissionTest::Slow;

plan skip_all => 'curl or httpd has no HTTP/2' if !can_read_http2();

for_each_combo(sub {
    my ($combo) = @_;
    my $module = build_module('mod_broken');
    my $httpd = start_httpd(combo => $combo, tls => 1, http2 => 1, conf => <<"CONF");
LoadModule broken_module $module
<LocationMatch ^/(limited|unlimited)>
    SetHandler broken
</LocationMatch>
<Location /limited>
    MaxConcurrent 1
    AdmissionZone z
    AdmissionHandlers all
</Location>
CONF
    my $fetch = sub {
        my $body = `curl -sk --http2 --max-time 30 @{[ $httpd->tls_url($_[0]) ]}`;
        return { body => $body, status => $? };
    };
    my %got = map { $_ => $fetch->($_) } qw(/unlimited /limited);
    unlike $got{'/limited'}{body}, qr/<html>/i, 'no error page is behind the data';
    isnt $got{'/limited'}{status}, 0, 'the client is told that the answer is not whole';
    is $got{'/limited'}{status}, $got{'/unlimited'}{status}, '... as without a limit';
    $httpd->zone_becomes('z', 'the permit is back', Active => 0, Admitted => 1);
    $httpd->stop;
}, 'event+cgid');

done_testing;

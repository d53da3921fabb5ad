# A request that no handler takes runs through them once, with its permit, and gets
# what httpd makes of it.

use AdmissionTest;

needs_modules('lua');

# httpd's own handler, the last of all, takes everything but OPTIONS of a client
# that does not say its version.
for_each_combo(sub {
    my $httpd = new_httpd(modules => ['lua']);
    my $calls = "$httpd->{dir}/heavy/calls";

    $httpd->configure(join '',
        "HttpProtocolOptions Unsafe LenientMethods Allow0.9\n",
        section('Files decline.lua', 'SetHandler lua-script', 'MaxConcurrent 1', 'AdmissionQueue 5',
            'AdmissionZone lua'));
    $httpd->put('decline.lua', <<"LUA");
function handle(r)
    local file = io.open("$calls", "a")
    file:write("called\\n")
    file:close()
    return apache2.DECLINED
end
LUA
    $httpd->expect_in_log(qr/admission:warn.*handler "lua-script" not found/);
    $httpd->start;
    $httpd->connect->send("OPTIONS /decline.lua\r\n")->answer;
    wait_for { grep { m{^500 /decline\.lua.* zone=lua status=admitted } } $httpd->access_log }
        'it is an error, and had a permit';
    is $httpd->slurp($calls), "called\n", 'the handlers were asked once';
    $httpd->zone_becomes('lua', 'the permit is back', Active => 0, Admitted => 1);
}, 'prefork+cgi', 'event+cgid');

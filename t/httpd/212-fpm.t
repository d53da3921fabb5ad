# PHP-FPM as the manual sets it up, SetHandler "proxy:unix:...|fcgi://localhost/": a
# FastCGI responder that answers when its gate is open, and PHP itself where it is
# installed, also as mod_php. A permit stays with a backend that works, also when the client leaves.

use AdmissionTest;
use Admission::File 'spill';
use Admission::Program 'keep';
use IO::Socket::UNIX;

needs_modules(qw(proxy proxy_fcgi));

sub fcgi_record { my ($type, $id, $content) = @_; return pack('CCnnCC', 1, $type, $id, length $content, 0, 0) . $content }

# A responder, one request per connection. It records as the heavy program does.
sub respond($client, $dir) {
    my ($params, $length, $id) = ('', 0, 1);

    while (defined(my $head = read_bytes($client, 8))) {
        (undef, my $type, $id, my $size, my $padding) = unpack 'CCnnC', $head;
        my $content = substr read_bytes($client, $size + $padding), 0, $size;
        $params .= $content         if $type == 4;
        $length += length $content  if $type == 5;
        last if $type == 5 && !$size;
    }
    my ($gate) = $params =~ /until=(\w+)/;
    open my $record, '>>', "$dir/record" or die "record: $!\n";
    syswrite $record, 'start ' . ($gate // 'none') . "\n";
    select undef, undef, undef, 0.02 until !$gate || -e "$dir/$gate";
    syswrite $record, 'end ' . ($gate // 'none') . "\n";
    local $SIG{PIPE} = 'IGNORE';
    my ($announced) = $params =~ /CONTENT_LENGTH(\d*)/;
    my ($bulk) = $params =~ /bulk=(\d+)/;
    syswrite $client, $_ or return
        for fcgi_record(6, $id, "Content-Type: text/plain\r\n\r\nbody $length, announced @{[ $announced // '' ]}\n"),
            (fcgi_record(6, $id, 'x' x 60_000)) x (($bulk // 0) / 60_000),
            fcgi_record(6, $id, '') . fcgi_record(3, $id, pack 'NCCCC', 0, 0, 0, 0, 0);
}

# Before its backend, which listens on fpm.sock in its directory.
sub start_front($combo) {
    my $httpd = new_httpd(workers => 40, modules => [qw(proxy proxy_fcgi)]);
    $httpd->configure(
        section('FilesMatch "\.php$"', qq(SetHandler "proxy:unix:$httpd->{dir}/fpm.sock|fcgi://localhost/"),
            'MaxConcurrent 1', 'AdmissionQueue 5 timeout=20s', 'AdmissionZone php')
        . section('Files flushed.php', qq(SetHandler "proxy:unix:$httpd->{dir}/fpm.sock|fcgi://flushed/"),
            'MaxConcurrent 1', 'AdmissionQueue 5', 'AdmissionZone flushed')
        . section('Proxy fcgi://flushed/', 'ProxySet flushpackets=on')
        . section('Files counted.php', 'SetEnv proxy-sendcl 1'));
    $httpd->put($_, '') for qw(x.php counted.php flushed.php);
    return $httpd->allow_in_log(qr/proxy_fcgi:error/)->start;
}

# The client leaves while the backend is silent: what waits must not run before the
# backend has ended.
sub permit_stays($httpd, $how) {
    my $left = $httpd->ask("/x.php?until=go$how");
    wait_for { grep { $_ eq "start go$how" } $httpd->record } 'the backend works';
    $left->$how;
    my $next = $httpd->ask('/x.php');
    $httpd->zone_becomes('php', "its client leaves ($how): the next one waits", Active => 1, Queued => 1);
    $httpd->serves("go$how", '... and is served', $next);
    is_deeply [ ($httpd->record)[-4 .. -1] ], [ "start go$how", "end go$how", 'start none', 'end none' ],
        '... when the backend has ended';
    $httpd->zone_becomes('php', 'the permits are back', Active => 0, Queued => 0);
}

# A response that its client does not read is stored, unless each part of it is flushed.
sub flushes_wait($httpd) {
    my @readers = map {
        slow_reader($httpd->url("/$_.php?bulk=$BULK"), '--limit-rate', '64k')->stop_reading
    } qw(flushed x);

    $httpd->zone_becomes('php', 'a response is stored', Active => 0);
    $httpd->zone_becomes('flushed', '... but one with flushpackets=on holds its permit', Active => 1);
    $_->leave for @readers;
    $httpd->zone_becomes('flushed', '... until its client leaves', Active => 0);
}

for_each_combo(sub ($combo) {
    my $httpd = start_front($combo);
    my $backend = start_backend(sub { respond($_[0], "$httpd->{dir}/heavy") }, "$httpd->{dir}/fpm.sock");

    my $body = 'x' x 100_000;
    is $httpd->get('/x.php', method => 'POST', body => $body)->{body}, "body 100000, announced 100000\n",
        'a body arrives';
    my @chunked = map { $httpd->ask($_, method => 'POST', headers => ['Transfer-Encoding: chunked'])
                              ->send("186a0\r\n$body\r\n0\r\n\r\n")->answer->{body} } qw(/x.php /counted.php);
    is "@chunked", "body 100000, announced \n body 100000, announced 100000\n",
        '... a chunked one with its length, by proxy-sendcl';
    flushes_wait($httpd);
    permit_stays($httpd, $_) for qw(leave abort);
    $httpd->stop;
    kill TERM => $backend;
    waitpid $backend, 0;
}, 'prefork+cgi', 'worker+cgid', 'event+cgid');

# PHP finds that its client has left when it writes, so it works until then.
sub put_script {
    my ($httpd) = @_;
    $httpd->put('x.php', <<"PHP");
<?php
\$name = \$_GET['until'] ?? 'none';
function note(\$line) { file_put_contents('$httpd->{dir}/heavy/record', "\$line\\n", FILE_APPEND); }
note("start \$name");
while (\$name != 'none' && !file_exists('$httpd->{dir}/heavy/' . \$name)) { usleep(20000); clearstatcache(); }
note("end \$name");
PHP
}

my ($fpm) = reverse sort grep { -x } map { glob "$_/php-fpm*" } qw(/usr/sbin /usr/local/sbin);
for_each_combo(sub ($combo) {
    plan skip_all => 'php-fpm is not installed' if !$fpm;
    my $httpd = start_front($combo);
    my ($user, $group) = Admission::Config::user();
    my $dir = $httpd->{dir};

    spill("$dir/fpm.conf", <<"CONF");
[global]
error_log = $dir/fpm.log
daemonize = no
[www]
@{[ $> == 0 ? "user = $user\ngroup = $group" : '' ]}
listen = $dir/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = 4
CONF
    put_script($httpd);
    # Its keeper removes the directory of the log.
    mkdir "$dir/keeper";
    my ($pid, $keeper) = keep("$dir/keeper/log", $fpm, '-F', '-n', '-y', "$dir/fpm.conf");
    wait_for { IO::Socket::UNIX->new(Peer => "$dir/fpm.sock") } 'PHP has started';
    is $httpd->get('/x.php')->{status}, 200, 'PHP serves';
    permit_stays($httpd, $_) for qw(leave abort);
    kill TERM => $pid;
    waitpid $keeper, 0;
    $httpd->stop;
}, 'prefork+cgi', 'event+cgid');

my ($libphp) = reverse sort map { glob Admission::Config::modules_dir() . "/$_" } qw(libphp8*.so libphp.so);
for_each_combo(sub {
    plan skip_all => 'mod_php is not installed' if !$libphp;
    my $httpd = new_httpd(workers => 10, conf => join '',
        "LoadModule php_module $libphp\n", "php_admin_value post_max_size 10\n",
        section('FilesMatch "\.php$"', 'SetHandler application/x-httpd-php', 'MaxConcurrent 1',
                'AdmissionQueue 1 timeout=20s', 'AdmissionZone php', 'AdmissionSpool request=off'));
    put_script($httpd);
    $httpd->expect_rejections('php', 'full')->allow_in_log(qr/php:warn.*POST Content-Length/)->start;
    permit_stays($httpd, $_) for qw(leave abort);
    my @two = map { $httpd->ask('/x.php?until=go') } 1, 2;
    $httpd->zone_becomes('php', 'a script runs, another waits', Active => 1, Queued => 1);
    is $httpd->get('/x.php')->{status}, 503, '... the next is rejected';
    is $httpd->get('/static.txt')->{status}, 200, '... a file is served';
    $httpd->serves('go', '... the two are served', @two);
    my $upload = $httpd->ask('/x.php', method => 'POST', headers => ['Content-Length: 100'])->send('x');
    $httpd->zone_becomes('php', 'PHP reads all of a body that is too long for it', Active => 1);
    is $upload->send('x' x 99)->answer->{status}, 200, '... and then responds';
    $httpd->comes_to_rest->stop;
}, 'prefork+cgi');

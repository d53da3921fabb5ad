# In server-status the name of a zone leads to its page, where this server has one: from
# each server-status, and from virtual hosts to their own.

use AdmissionTest;

my %HOSTS = (
    'own.example'     => location('/here/status', 'SetHandler admission-status'),
    'none.example'    => '',
    'pattern.example' => section('LocationMatch ^/some', 'SetHandler admission-status'),
    'odd.example'     => location(q("/a&b c'"), 'SetHandler admission-status'),
    'order.example'   => location('/control', 'SetHandler admission-control'),
);

# What a request for this host is answered.
sub at { my ($httpd, $host, $path) = @_; return $httpd->get($path, host => $host) }

# The URL that a link of a page has, without its escapes.
sub url_of { my ($link) = @_; return $link && $link =~ s/&amp;/&/gr =~ s/&#39;/'/gr }

# Where the zone of this host leads to.
sub link_of {
    my ($httpd, $host, $status) = @_;
    my $page = at($httpd, $host, $status);
    is $page->{status}, 200, "$host has $status";
    my ($link) = $page->{body} =~ m{<a href="([^"]*)">\Q$host\E:/cgi-bin/</a>};
    return url_of($link);
}

for_each_combo(sub {
    my $zone = location('/cgi-bin/', 'MaxConcurrent 2', 'AdmissionQueue 3');
    my $httpd = start_httpd(conf => join '',
        location('/another/server-status', 'SetHandler server-status'),
        map { virtual_host($_, $HOSTS{$_}, $zone) } sort keys %HOSTS);
    for my $status ('/server-status', '/another/server-status') {
        for my $host (sort keys %HOSTS) {
            my $link = link_of($httpd, $host, $status);

            if ($host =~ /none|pattern/) {
                is $link, undef, '... and leads nowhere: it has no page';
                next;
            }
            my $page = at($httpd, $host, $link // '/');
            is $page->{status}, 200, '... leads to a page: ' . ($link // '');
            like $page->{body}, qr{<h2>\Q$host\E:/cgi-bin/</h2>}, '... of this zone';
            my ($all) = $page->{body} =~ m{<a href="([^"]*)">All zones</a>};
            like at($httpd, $host, url_of($all // '/none'))->{body}, qr{<h2>Zones</h2>}, '... and from there to all';
        }
    }
}, 'event+cgid');

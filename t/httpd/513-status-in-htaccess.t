# The status pages are opened by the server's configuration alone: .htaccess cannot
# give a file their handler, in whatever way, nor close them where they are open.
# No directive works from .htaccess, whatever AllowOverride allows: authors of pages must not
# open or name zones.

use AdmissionTest;
use Project;

my %way = (
    AddHandler => 'AddHandler admission-status .html',
    AddType    => 'AddType admission-status .html',
    ForceType  => 'ForceType admission-status',
    SetHandler => 'SetHandler admission-status',
    case       => 'SetHandler Admission-Status',
    H          => "RewriteEngine On\nRewriteRule html - [H=admission-status]",
    T          => "RewriteEngine On\nRewriteRule html - [T=admission-status]",
    in_files   => section('Files page.html', 'SetHandler admission-status'),
    in_if      => section('If "true"', 'SetHandler admission-status'),
    expression => 'SetHandler "%{tolower:ADMISSION-STATUS}"',
);

# httpd itself refuses to list those that the server alone may have.
my @listed = map { (split)[0] } my @in_sections = directives_of('ZONE_CONTEXT');
my @lines = (@in_sections, directives_of('RSRC_CONF'));

sub refuses_directives($httpd) {
    for my $kind (qw(all listed)) {
        $httpd->put("$kind/page.txt", "page\n");
        is $httpd->get("/$kind/page.txt")->{status}, 200, "$kind: a page without .htaccess";
        for my $line (@lines) {
            $httpd->put("$kind/.htaccess", "$line\n");
            is $httpd->get("/$kind/page.txt")->{status}, 500, "$kind: '$line' is refused";
        }
    }
}

for_each_combo(sub {
    my @macro = grep { Admission::Config::is_installed($_) } 'macro';
    my $httpd = new_httpd(modules => \@macro);
    my $docs = "$httpd->{dir}/docs";
    my $open = 'SetHandler admission-status';
    $httpd->configure(join '', "MaxConcurrent 4\nAdmissionQueue 10\n",
        location('/admission-status', $open),
        section("Directory $docs", 'AllowOverride All'),
        section("Directory $docs/listed", 'AllowOverride None', "AllowOverrideList @listed"),
        section('IfModule mod_rewrite.c',
                section("Directory $docs/in", section('Files open.html', 'SetHandler Admission-Status'))),
        section(q(If "%{REQUEST_URI} == '/if.html'"), $open),
        section('IfModule mod_macro.c', section('Macro OpenStatus $path', location('$path', $open)),
                'Use OpenStatus /macro'));
    for my $way (keys %way) {
        $httpd->put("ways/$way/page.html", "a page\n");
        $httpd->put("ways/$way/.htaccess", "$way{$way}\n");
    }
    $httpd->put($_, '') for qw(in/open.html if.html);
    $httpd->expect_in_log(qr{admission:error.*ADM0206: /ways/\w+/page\.html}, qr/AH01599/,
                          map { qr/:alert\].*\.htaccess: \Q$_\E / } map { (split)[0] } @lines);
    $httpd->start;

    my $status_of = sub { $httpd->get(@_)->{status} };
    my $all_hold = sub {
        my ($when) = @_;
        for my $url (qw(/admission-status /admission-status?json /in/open.html /if.html),
                     map { "/$_" } @macro) {
            is $status_of->($url), 200, "$when: the configuration opens $url";
        }
        is $status_of->("/ways/$_/page.html?json"), 403, "$when: .htaccess does not, by $_"
            for sort keys %way;
    };
    refuses_directives($httpd);
    $all_hold->('at first');
    cmp_ok scalar($httpd->lines_of('ADM0206')), '<=', scalar($httpd->children),
        'a child logs it once a minute';

    # An .htaccess that says the same as the configuration changes nothing there.
    # It is logged by a child that was not asked before.
    $httpd->allow_in_log(qr{admission:error.*ADM0206: /static\.txt});
    $httpd->put('.htaccess', "SetHandler admission-status\n");
    is $status_of->('/static.txt'), 403, 'a file is not opened';
    is $status_of->('/admission-status'), 200, 'the page stays open';
    unlink "$docs/.htaccess";
    $httpd->graceful;
    $all_hold->('after a reload');
}, 'event+cgid');

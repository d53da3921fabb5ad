# Links of the documents lead to a file, and to a heading of it.

use File::Basename 'dirname';

use Project;

my @pages = files(qr/\.md\z/, 'README.md', 'docs', 'conf');

# GitHub's name of a heading.
sub anchor {
    my ($heading) = @_;
    $heading =~ s/!?\[([^\]]*)\]\([^)]*\)/$1/g;
    $heading = lc $heading;
    $heading =~ s/[^\w\- ]//g;
    return $heading =~ tr/ /-/r;
}

sub prose {
    my ($text) = @_;
    $text =~ s/^ *```.*?^ *```$//msg;
    return $text;
}

my %anchors;
for my $page (@pages) {
    my $text = prose(slurp($page));
    my %times;
    for my $heading ($text =~ /^#+ (.*?) *$/mg) {
        my $name = anchor($heading);
        my $before = $times{$name}++;
        $anchors{$page}{ $before ? "$name-$before" : $name } = 1;
    }
    $anchors{$page}{$_} = 1 for $text =~ /<a id="([^"]+)">/g;
}

# What is wrong with the link, or nothing.
sub wrong {
    my ($page, $target) = @_;
    return if $target =~ /^\w+:/;
    my ($path, $anchor) = $target =~ /^([^#]*)(?:#(.*))?\z/;
    my $file = length $path ? dirname($page) . "/$path" : $page;

    1 while $file =~ s{(^|/)(?:\./|(?!\.\./)[^/]+/\.\./)}{$1};
    return "$page: $target: no such file" if !-e path($file);
    return "$page: $target: no such heading" if defined $anchor && $file =~ /\.md\z/ && !$anchors{$file}{$anchor};
    return;
}

my @links = map { my $page = $_;
                  map { [ $page, $_ ] } prose(slurp($page)) =~ s/`[^`\n]*`//gr =~ /\]\(([^)\s]+)\)/g } @pages;
ok @links, 'there are links';
none 'a link leads somewhere', map { wrong(@$_) } @links;

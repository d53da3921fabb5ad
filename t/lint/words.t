# Phrases that docs/dev/style.md rules out do not spread: no file has more of them than
# t/lint/words.known allows, a line each: RULE PATH COUNT. After an edit,
#
#     WORDS_UPDATE=1 perl -It/lib t/lint/words.t
#
# lowers the numbers. README, the guide, the manual and the index of the examples have none.

use FindBin;

use Project;

# Rule of docs/dev/style.md, the texts it is for (d documents, c comments, m messages),
# pattern.
my @RULES = (
    [W01 => 'dcm', qr/\b(?:no|some|any|every)body\b/i],
    [W02 => 'dcm', qr/\bwhoever\b/i],
    [W03 => 'dcm', qr/\bbeside\b/i],
    [W04 => 'dcm', qr/\bover (?:all (?:children|servers|zones)|servers|(?:three|twenty|many|five|several) (?:servers|httpds)|(?:a )?restarts?|stop and start)\b/i],
    [W05 => 'dcm', qr/\bsays? (?:so|nothing|what|which|how|who|of|it)\b|\bis said\b/i],
    [W06 => 'dcm', qr/\bknows (?:of|nothing|no|better|what|which|who)\b/i],
    [W07 => 'dcm', qr/\b(?:begins?|began|begun)\b(?! with\b)/i],
    [W08 => 'dcm', qr/\bpermits?\b[^.]{0,30}\b(?:comes?|came) back\b/i],
    [W09 => 'dcm', qr/\b(?:limits?|orders?|configuration|shares?|fallback\S*) holds?(?= (?:as|again|instead|then|for|after|until|while|in)\b|[.,;:]|$)/i],
    [W11 => 'dcm', qr/\banew\b|\bas ever\b|as it should be|\bfor ever\b|\bin vain\b/i],
    [W12 => 'dcm', qr/\bin place of\b/i],
    [W13 => 'dcm', qr/\bbut for\b/i],
    [W14 => 'dcm', qr/\b(?:that|those) of\b/i],
    [W16 => 'dcm', qr/\b(?:requests|files|connections|streams|KB|permits?|syncs|looks) an? (?:second|minute|client|child|server|key|waiter|host)\b/i],
    [W19 => 'c',   qr/\bso (?:many|few|large)\b(?! that)/i],
    [W20 => 'dcm', qr/\b(?:mend(?:s|ed)?|misspelt|dearest|dearer)\b/i],
    [W21 => 'dcm', qr/\blimits? (?:that )?finds? (?:itself|themselves)\b/i],
    [W23 => 'dcm', qr/\bin the mean\b(?! time)/i],
    [W24 => 'c',   qr/\A(?:It|Its|They|Those|These|Of|Else|Mostly|So|Nor)\b/],
    [W25 => 'dm',  qr/(?:\A|[.] )Of [a-z]/],
    [W28 => 'dcm', qr/\bat once\b/i],
    [W26 => 'dcm', qr/\bthe dead\b(?! (?:child|children|process|owner|ones?))/i],
);

sub comments_of {
    my @comments = $_[0] =~ m{/\*(.*?)\*/}sg;
    s/^[ \t]*\*+[ \t]?//mg, s/\A\s+//, s/\s+/ /g for @comments;
    return @comments;
}

sub strings_of { return grep { / \w/ } $_[0] =~ m{"((?:[^"\\\n]|\\.)*)"}g }

sub prose_of {
    my ($text) = @_;
    $text =~ s/^```.*?^```//msg;
    $text =~ s/^(?:    |\t)\S.*$//mg;
    $text =~ s/`[^`]*`/CODE/g;
    $text =~ s/\]\([^)]*\)/]/g;
    return map { s/\s+/ /gr } split /\n(?=\s*\n|[|#*-])/, $text;
}

my %found;

sub count {
    my ($path, $scope, @texts) = @_;
    for my $rule (grep { index($_->[1], $scope) >= 0 } @RULES) {
        my $n = 0;
        $n += () = /$rule->[2]/g for @texts;
        $found{"$rule->[0] $path"} += $n if $n;
    }
}

for my $path (files(qr/\.[ch]\z/, 'src')) {
    my $text = slurp($path);
    count($path, 'c', comments_of($text));
    count($path, 'm', strings_of(without_comments($text)));
}
count($_, 'd', prose_of(slurp($_))) for grep { !m{/style\.md\z} } files(qr/\.md\z/, 'docs', 'README.md');

my %known = map { /\A(W\d+ \S+) (\d+)\z/ ? ($1 => $2) : () } lines('t/lint/words.known');
my $is_free = qr{ (?:README\.md|docs/guide\.md|docs/manual/.*|conf/examples/README\.md)\z};

# Never a higher number, unless there is no list.
sub update {
    open my $file, '>', "$FindBin::Bin/words.known" or die "words.known: $!\n";
    for my $key (grep { $_ !~ $is_free } sort keys %found) {
        my $most = %known ? $known{$key} // 0 : $found{$key};
        my $number = $found{$key} < $most ? $found{$key} : $most;
        print $file "$key $number\n" if $number;
    }
    close $file or die "words.known: $!\n";
}

update() if $ENV{WORDS_UPDATE};
none 'README, the guide and the manual have none of what docs/dev/style.md rules out',
    map { "$_: $found{$_}" } grep { /$is_free/ } sort keys %found;
none 'no file has more of it than before',
    map { "$_: $found{$_}, known " . ($known{$_} // 0) }
    grep { !/$is_free/ && $found{$_} > ($known{$_} // 0) } sort keys %found;
my $fewer = grep { ($found{$_} // 0) < $known{$_} } keys %known;
diag "words.known is out of date: $fewer numbers are lower now, WORDS_UPDATE=1 writes them" if $fewer;

# A tag in the error log leads to one line of code and one of the manual.

use Project;

my %places;

for my $path (files(qr/\.[ch]\z/, 'src')) {
    my $number = 0;

    for my $line (split /\n/, without_comments(slurp($path))) {
        $number++;
        next if $line =~ /^\s*#\s*define/;
        push @{ $places{$1} }, "$path:$number" while $line =~ /\bADMLOGNO\(\s*([^)]*?)\s*\)/g;
    }
}

my $manual = slurp('docs/log-messages.md');
my %explained = map { $_ => 1 } $manual =~ /\bADM(\d+)\b/g;
# A number that is no longer used stays in the list, because it must never be
# given to another message.
my %retired = map { $_ => 1 } $manual =~ /\bADM(\d+)\b.*\bretired\b/g;

ok %places, 'there are log messages';
none 'a tag has four digits', grep { !/^\d{4}\z/ } sort keys %places;
none 'a tag stands in one place',
    map { "ADM$_: @{ $places{$_} }" }
    grep { @{ $places{$_} } > 1 } sort keys %places;
none 'a tag is explained in docs/log-messages.md',
    map { "ADM$_" } grep { !$explained{$_} } sort keys %places;
none 'an explained tag is in the code, or marked as retired',
    map { "ADM$_" } grep { !$places{$_} == !$retired{$_} } sort keys %explained;

my @order = $manual =~ /^### ADM(\d+)/mg;
is_deeply \@order, [ sort @order ], 'they stand by number';

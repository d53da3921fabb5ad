# What an administrator can write is in the manual, in the annotated
# configuration and in a test.

use Project;

my @fields = qw(Description Syntax Default Context);

my @directives = join('', map { without_comments(slurp($_)) }
                          'src/module/directives.c', files(qr/_conf\.h\z/, 'src'))
                 =~ /\bAP_INIT_\w+\([\s\\]*"(\w+)"/g;
my %section = join('', map { slurp("docs/manual/$_.md") } qw(mod_admission fleet))
              =~ /^##\s+(\w+)\s+Directive\s*\n(.*?)(?=^##\s|\z)/gms;
my $conf = slurp('conf/admission.conf');
my $tests = join "\n", map { slurp($_) } files(qr/\.t\z/, 't/httpd');

my %is_directive = map { $_ => 1 } @directives;

sub missing_fields {
    my ($name) = @_;
    my $text = $section{$name} // '';

    return map { "$name: $_" } grep { $text !~ /^\s*\Q$_\E:\s+\S/m } @fields;
}

ok @directives, 'there are directives';
none 'a directive has its section of the manual, with every field',
    map { missing_fields($_) } @directives;
none 'the manual has no section more', grep { !$is_directive{$_} } sort keys %section;
none 'a directive has a line in conf/admission.conf',
    grep { $conf !~ /^\s*#?\s*$_\s+\S/m } @directives;
none 'a directive appears in a test', grep { $tests !~ /\b$_\b/ } @directives;

package AdmissionTest::Module;

# Modules of httpd that only a test needs, from t/programs.

use strict;
use warnings;

use Exporter 'import';
use File::Temp;

our @EXPORT_OK = qw(build_module);

my $apxs = $ENV{APXS} // 'apxs';

sub ask {
    my ($what) = @_;
    chomp(my $answer = `$apxs -q $what` // '');
    return $answer;
}

# Builds NAME.c. @return the path of the module, which is removed at the end.
sub build_module {
    my ($name) = @_;
    our $dir //= File::Temp->newdir('admission-XXXXXX', TMPDIR => 1);
    my ($source) = __FILE__ =~ m{^(.*?)[^/]*/[^/]*/[^/]*$};
    my $apr = ask('APR_CONFIG');
    my $flags = '-I' . ask('INCLUDEDIR') . ' ' . `$apr --includes --cppflags`;
    my @build = ($ENV{CC} // 'cc', qw(-O1 -shared -fPIC), split(' ', $flags),
                 '-o', "$dir/$name.so", "$source/programs/$name.c");

    system(@build) == 0 or die "@build failed\n";
    chmod 0755, "$dir";
    return "$dir/$name.so";
}

1;

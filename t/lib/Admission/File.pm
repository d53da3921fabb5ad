package Admission::File;

# Whole files, and the directories of private servers.

use strict;
use warnings;
use experimental 'signatures';

use Exporter 'import';
use File::Temp ();

our @EXPORT_OK = qw(directory slurp spill);

my @directories;    # with KEEP=1, until the end of the program shows whether it fails

# Nothing where there is none.
sub slurp($path) {
    open my $file, '<', $path or return '';
    local $/;
    return readline($file) // '';
}

sub spill($path, $text) {
    open my $file, '>', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
}

# A new directory, which is removed with the object. KEEP=1 leaves the directories of a
# program or test that fails.
sub directory($template) {
    die "TMPDIR=$ENV{TMPDIR}: httpd's configuration names files there without quotes; use a path without blanks\n"
        if ($ENV{TMPDIR} // '') =~ /\s/;
    my $directory = File::Temp->newdir($template, TMPDIR => 1);

    push @directories, $directory if $ENV{KEEP};
    return $directory;
}

# Called at the end of every program that has loaded this file. $? has no failed test yet
# where Test::More was loaded first.
END {
    if (@directories && $directories[0]{LAUNCHPID} == $$ && ($? || has_failed_test())) {
        $_->unlink_on_destroy(0) for @directories;
        print STDERR map { "# kept: $_\n" } @directories;
    }
}

sub has_failed_test { return Test::Builder->can('new') && !Test::Builder->new->is_passing }

1;

# tools/deps names what is missing, and calls sudo only where you have agreed to it.

use Admission::File qw(spill);
use File::Temp ();
use Project;

my $deps = path('tools/deps');
my $stubs = File::Temp->newdir;
chmod 0777, $stubs;

# A system where apxs is missing, seen by a user who is not root. sudo installs nothing.
for my $stub (['apt-get', 'exit 0'], ['sudo', qq(echo "\$*" >>$stubs/asked)], ['id', 'echo 1000']) {
    my ($name, $body) = @$stub;
    spill("$stubs/$name", "#!/bin/sh\n$body\n");
    chmod 0755, "$stubs/$name";
}
@ENV{qw(PATH APXS)} = ("$stubs:$ENV{PATH}", "$stubs/none");

# @return its exit status, its output, and whether it called sudo
sub ran {
    my ($command) = @_;
    unlink "$stubs/asked";
    my $output = `$command 2>&1`;
    return ($? >> 8, $output, -e "$stubs/asked" || 0);
}

my ($status, $output, $asked) = ran("$deps build </dev/null");
is $status, 1, 'what is missing is a failure';
like $output, qr/^deps: run as root: apt-get update && apt-get install -y --no-install-recommends .*\bapache2-dev\b/m,
    '... with the command that installs it';
is $asked, 0, '... and no sudo where no terminal can answer';
($status, $output, $asked) = ran("$deps --yes build </dev/null");
is $asked, 1, '--yes is an agreement';
is $status, 1, '... and what is missing still is a failure';
like $output, qr/^deps: not installed, for the reason above: .*\bapache2-dev\b/m, '... by name';

SKIP: {
    skip 'script is not installed', 3 if system 'command -v script >/dev/null';
    for my $case (['n', 0], ['', 0], ['y', 1]) {
        my ($answer, $calls) = @$case;
        (undef, $output, $asked) = ran("echo '$answer' | script -qec '$deps build' /dev/null");
        is $asked, $calls, "with a terminal it asks: '$answer'" or diag $output;
    }
}

is +(ran("$deps fleet </dev/null"))[0], 0, 'where nothing is missing it is silent'
    if -e '/usr/include/hiredis/hiredis.h' && !system 'command -v redis-check-rdb >/dev/null';
is +(ran($deps))[0], 2, 'without a level it prints its usage';

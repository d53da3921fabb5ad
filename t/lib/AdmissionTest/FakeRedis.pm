package AdmissionTest::FakeRedis;

# What answers like a Redis, but for one thing, which a test chooses while it runs:
#
#     my $fake = AdmissionTest::FakeRedis->start;
#     $fake->says(EVALSHA => "*2000000000\r\n");
#     $fake->says;    # as Redis would, and grants a share of $fake->{share}

use strict;
use warnings;
use experimental 'signatures';

use File::Temp ();
use Time::HiRes 'time';

use Admission::File qw(slurp spill);
use AdmissionTest::Backend;

sub start {
    my ($class) = @_;
    my $tmp = File::Temp->newdir('admission-fake-XXXXXX', TMPDIR => 1);
    my $self = bless { tmp => $tmp, dir => "$tmp" }, $class;

    $self->says;
    ($self->{pid}, $self->{port}) = start_backend(sub { serve("$tmp", @_) });
    return $self;
}

# From now on: its answers by the name of the command, as they go over the wire.
sub says($self, %answers) {
    unlink glob "$self->{dir}/*";
    for my $command (keys %answers) {
        spill("$self->{dir}/$command.new", $answers{$command});
        rename "$self->{dir}/$command.new", "$self->{dir}/$command";
    }
}

sub bulk { return sprintf "\$%d\r\n%s\r\n", length $_[0], $_[0] }

sub array { return '*' . @_ . "\r\n" . join '', map { /^-?\d+\z/ ? ":$_\r\n" : bulk($_) } @_ }

sub milliseconds { return int 1000 * time }

# Of a sync that was understood: generation, grant and target grow with the time.
sub granted($share) {
    return array('ok', milliseconds(), milliseconds(), $share, $share, 1, $share, $share,
                 0, $share, 0, 0, 31_000);
}

# Commands are arrays of bulk strings.
sub read_command($client) {
    my @words;

    my $count = <$client> // return;
    for (1 .. ($count =~ /^\*(\d+)/ ? $1 : 0)) {
        my ($length) = (<$client> // return) =~ /^\$(\d+)/ or return;
        read $client, my $word, $length + 2;
        push @words, substr $word, 0, $length;
    }
    return @words;
}

sub answer($dir, $command, @words) {
    # "now" is the time when it is said.
    return slurp("$dir/$command") =~ s/:now\r/':' . milliseconds() . "\r"/ger if -e "$dir/$command";
    my $now = time;
    return $command eq 'INFO'      ? bulk("# Server\r\nrun_id:" . 'a' x 40 . "\r\n")
         : $command eq 'ROLE'      ? "*3\r\n" . bulk('master') . ":0\r\n*0\r\n"
         : $command eq 'SCRIPT'    ? bulk('0' x 40)
         : $command eq 'TIME'      ? "*2\r\n" . bulk(int $now) . bulk(int(1e6 * ($now - int $now)))
         : $command eq 'SUBSCRIBE' ? "*3\r\n" . bulk('subscribe') . bulk($words[0]) . ":1\r\n"
         : $command eq 'EVALSHA'   ? granted(1)
                                   : "+OK\r\n";
}

sub serve($dir, $client) {
    while (my ($command, @words) = read_command($client)) {
        my $answer = answer($dir, uc $command, @words);
        next if $answer eq 'nothing';
        syswrite $client, $answer;
        return if $answer =~ /^HTTP/;
        # As much as anybody takes, for a while.
        next if $answer !~ /^\$\d{9}/;
        for (1 .. 4000) { syswrite $client, 'x' x 4096 or return }
    }
}

1;

# What the script that shares a limit out asks of servers when one of them has nothing:
# it need not wait for one request of one server to end.

use FindBin;
use AdmissionTest;
use Admission::File qw(slurp);
use JSON::PP ();
use List::Util qw(sum);
use Time::HiRes qw(sleep);

plan skip_all => 'no Redis: install redis-tools' if !Admission::Redis->program;

my ($LEASE, $HOLD, $LIMIT) = (30_000, 1000, 10);
my ($GRANTED, $GEN, $TARGET, $TIGHT) = (0, 1, 6, 11);    # of a server's record
my ($LEARNING, $SPAN) = (8, 12);                         # of an answer
my $redis  = Admission::Redis->start;
my $script = slurp("$FindBin::Bin/../../src/fleet/share.lua");
my $seq    = 0;
# For how long others count as short: a busy machine must get there in time.
my $TIGHT_MS = 2000;
$script =~ s/(?<=TIGHT_MS, FORGET_MS = 1000, 100, )300\b/$TIGHT_MS/ or die "where is TIGHT_MS?\n";
my $FORGET = 86_400_000;    # milliseconds: 24 h, the longest lease

# All servers, as the engine knows them: what is no record belongs to none.
sub servers {
    my %of = @{ $redis->command('HGETALL', 'adm:{test}') };
    my %record = map { my $is = eval { JSON::PP::decode_json($of{$_}) }; $_ => ref $is && @$is > $TIGHT ? $is : undef } keys %of;
    return { map { $record{$_} ? ($_ => $record{$_}) : () } keys %record };
}

# The engine's answer to a server that says this; what is not said is of one that has heard
# all that was pushed.
sub answer {
    my ($id, %says) = @_;
    my $record = servers()->{$id};
    my ($sec, $usec) = @{ $redis->command('TIME') };
    my %all = (gen => $record ? $record->[$GEN] : 0, oldest => -1, limit => $LIMIT, lease => $LEASE, hold => $HOLD,
               time => $sec * 1000 + int($usec / 1000), age => 0, span => 0, leaves => 0, who => 0, %says);
    return $redis->command('EVAL', $script, 1, 'adm:{test}', $id, $id, '', 'run', ++$seq,
                         @all{qw(gen has want oldest limit lease hold time age span leaves who)});
}

# A server promises so many and wants so many.
sub sync {
    my ($id, $has, $want, %says) = @_;
    my $answer = answer($id, has => $has, want => $want, oldest => $want > $has ? 1 : -1, %says);
    is ref $answer ? $answer->[0] : $answer, $says{leaves} ? 'bye' : 'ok', "$id has $has and wants $want";
}

sub asked_back { my $of = servers(); return grep { $of->{$_}[$TARGET] < $of->{$_}[$GRANTED] } sort keys %$of }

# What they promise first is believed.
sync($_, 2, 4) for 'a' .. 'e';
is_deeply [ asked_back() ], [], 'all have an equal part, nothing is asked back';
sleep 0.1 + $TIGHT_MS / 1000;
sync('a', 2, 4);
is servers()->{a}[$TIGHT], 1, '... but more is wanted than there is: no idle permit is kept';
sync('f', 0, 1);
is_deeply [ asked_back() ], [ 'a' .. 'e' ], 'one has nothing: it, and four more, are asked for one';
is servers()->{f}[$GRANTED], 0, '... and it has nothing yet';
sync('c', 1, 4);
is servers()->{f}[$GRANTED], 1, 'the first returned permit is its own';
my @left = asked_back();
cmp_ok scalar @left, '<=', 1, '... and no more is asked for than is needed';
sync($_, 1, 4) for @left;
is_deeply [ asked_back() ], [], '... until all have their part';
my $of = servers();
is sum(map { $_->[$GRANTED] } values %$of), $LIMIT, '... and all permits are granted';
cmp_ok $of->{$_}[$GRANTED], '>=', 1, "... $_ has one" for 'a' .. 'f';
sync('f', 0, 0);
is_deeply [ asked_back() ], [], 'it gives it back';
is sum(map { $_->[$GRANTED] } values %{ servers() }), $LIMIT, '... to the others';

# A little ahead is for times when nobody is short, or was just now.
sync($_, 0, 0, leaves => 1) for 'b' .. 'f';
sync('a', 0, 0);
sync('a', 0, 1);
is servers()->{a}[$GRANTED], 1, 'others were short just now: nothing is granted ahead';
is servers()->{a}[$TIGHT], 1, '... and what falls idle is to be given back';
wait_for { sync('a', 1, 1); servers()->{a}[$TIGHT] == 0 } '... until no request was for a while';
cmp_ok servers()->{a}[$GRANTED], '>', 1, 'then a little is granted ahead';

# Somebody published a later generation in the engine's name.
sync('a', 1, 1);
my $later = servers()->{a}[$GEN] + 1000;
sync('a', 9, 9, gen => $later);
cmp_ok servers()->{a}[$GEN], '>', $later, 'a generation that was never said: the next one is later';
sync('a', servers()->{a}[$TARGET], 1);
is servers()->{a}[$GRANTED], servers()->{a}[$TARGET], '... and the server is believed again';

# What somebody else wrote into the zone's hash.
for my $junk ('', 'x', 'null', '[1,2]', '7') {
    $redis->command('HSET', 'adm:{test}', 'a', $junk);
    sync('b', 1, 1);
    ok !exists servers()->{a}, "a record that is '$junk' is lost";
    sync('a', 1, 1);
    my $of = servers();
    is sum(map { $_->[$GRANTED] } values %$of), 2, '... and each claims what it has';
    $redis->command('HSET', 'adm:{test}', '#', $junk);
    sync('b', 1, 1);
}

# What no server says.
for my $wrong ([ has => -100 ], [ has => 'nan' ], [ has => 'x' ], [ has => '1e308' ], [ has => 2**52 ], [ want => -1 ],
               [ want => 'inf' ], [ gen => -5 ], [ gen => '1e18' ], [ limit => -1 ], [ lease => '1e15' ],
               [ hold => $FORGET + 1 ], [ age => 'x' ], [ span => -1 ], [ span => 2 * $FORGET + 1 ]) {
    my $before = servers();
    like answer('g', has => 1, want => 1, @$wrong), qr/argument/, "no sync: @$wrong";
    is_deeply servers(), $before, '... and nothing is noted';
}
is answer('g', has => 0, want => 0, lease => $FORGET, hold => $FORGET)->[0], 'ok', 'the longest lease and hold are allowed';

# A lease of 60 s among those of 3 s: the data are lost, and who had it does not speak.
my @short = (has => 0, want => 0, lease => 3000);
my @long  = (has => 1, want => 1, lease => 60_000);
$redis->command('DEL', 'adm:{test}');
is answer('a', @short)->[$SPAN], 3000 + $HOLD, 'the longest lease and hold is told';
is answer('b', @long)->[$SPAN], 60_000 + $HOLD, '... of a server that comes';
is answer('a', @short)->[$SPAN], 60_000 + $HOLD, '... and to all';
$redis->command('DEL', 'adm:{test}');
is answer('a', @short, span => 60_000 + $HOLD)->[$LEARNING], 60_000 + $HOLD, 'an engine without data learns for as long as it is told';
sync('b', 0, 0, lease => 60_000, leaves => 1);
is answer('a', @short)->[$SPAN], 60_000 + $HOLD, '... also once no server has such a lease';

# Nothing is lost, and who had a longer lease has left.
my $learnt = JSON::PP::decode_json($redis->command('HGET', 'adm:{test}', '#'));
@$learnt[2, 6] = (0, 0);    # how long it learns, and whether
$redis->command('HSET', 'adm:{test}', '#', JSON::PP::encode_json($learnt));
is answer('a', @short, span => 60_000 + $HOLD)->[$SPAN], 3000 + $HOLD, 'an engine that knows all does not need to be told';

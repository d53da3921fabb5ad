# What the script that shares a limit out asks of servers when one of them has nothing:
# it need not wait for one request of one server to end.

use FindBin;
use lib "$FindBin::Bin/../lib";
use AdmissionTest;
use Admission::File qw(slurp);
use Admission::Redis;
use JSON::PP ();
use List::Util qw(sum);
use Time::HiRes qw(sleep);

plan skip_all => 'no Redis: install redis-tools' if !Admission::Redis->program;

my ($LEASE, $HOLD, $LIMIT) = (30_000, 1000, 10);
my ($GRANTED, $GEN, $TARGET, $TIGHT) = (0, 1, 6, 11);    # of a server's record
my $redis  = Admission::Redis->start;
my $script = slurp("$FindBin::Bin/../../src/engine/share.lua");
my $seq    = 0;

# All servers, as the engine knows them.
sub servers {
    my %of = @{ $redis->asked('HGETALL', 'adm:{test}') };
    delete $of{'#'};
    delete @of{ grep { $of{$_} !~ /^\[.{20}/ } keys %of };
    return { map { $_ => JSON::PP::decode_json($of{$_}) } keys %of };
}

# A server has heard all that was pushed, promises so many and wants so many.
sub sync {
    my ($id, $has, $want, $leaves, $seen) = @_;
    my $record = servers()->{$id};
    my ($sec, $usec) = @{ $redis->asked('TIME') };
    my $answer = $redis->asked('EVAL', $script, 1, 'adm:{test}', $id, $id, '', 'run', ++$seq,
                               $seen // ($record ? $record->[$GEN] : 0), $has, $want, $want > $has ? 1 : -1,
                               $LIMIT, $LEASE, $HOLD, $sec * 1000 + int($usec / 1000), 0, $leaves // 0, 0);
    is ref $answer ? $answer->[0] : $answer, $leaves ? 'bye' : 'ok', "$id has $has and wants $want";
}

sub asked_back { my $of = servers(); return grep { $of->{$_}[$TARGET] < $of->{$_}[$GRANTED] } sort keys %$of }

# What they promise first is believed.
sync($_, 2, 4) for 'a' .. 'e';
is_deeply [ asked_back() ], [], 'all have an equal part, nothing is asked back';
sleep 0.4;
sync('a', 2, 4);
is servers()->{a}[$TIGHT], 1, '... but more is wanted than there is: no idle permit is kept';
sync('f', 0, 1);
is_deeply [ asked_back() ], [ 'a' .. 'e' ], 'one has nothing: it, and four more, are asked for one';
is servers()->{f}[$GRANTED], 0, '... and it has nothing yet';
sync('c', 1, 4);
is servers()->{f}[$GRANTED], 1, 'the first that comes back is its own';
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
sync($_, 0, 0, 1) for 'b' .. 'f';
sync('a', 0, 0);
sync('a', 0, 1);
is servers()->{a}[$GRANTED], 1, 'others were short just now: nothing is granted ahead';
is servers()->{a}[$TIGHT], 1, '... and what falls idle is to be given back';
wait_for { sync('a', 1, 1); servers()->{a}[$TIGHT] == 0 } '... until nobody was for a while';
cmp_ok servers()->{a}[$GRANTED], '>', 1, 'then a little is granted ahead';

# Somebody published a later generation in the engine's name.
sync('a', 1, 1);
my $later = servers()->{a}[$GEN] + 1000;
sync('a', 9, 9, 0, $later);
cmp_ok servers()->{a}[$GEN], '>', $later, 'a generation that was never said: the next one is later';
sync('a', servers()->{a}[$TARGET], 1);
is servers()->{a}[$GRANTED], servers()->{a}[$TARGET], '... and the server is believed again';

# What somebody else wrote into the zone's hash.
for my $junk ('', 'x', 'null', '[1,2]', '7') {
    $redis->asked('HSET', 'adm:{test}', 'a', $junk);
    sync('b', 1, 1);
    ok !exists servers()->{a}, "a record that is '$junk' is lost";
    sync('a', 1, 1);
    my $of = servers();
    is sum(map { $_->[$GRANTED] } values %$of), 2, '... and each claims what it has';
    $redis->asked('HSET', 'adm:{test}', '#', $junk);
    sync('b', 1, 1);
}

# What no server says.
for my $wrong ([ has => -100, 1 ], [ has => 'nan', 1 ], [ has => 'x', 1 ], [ want => 1, -1 ], [ want => 1, '1e300' ],
               [ gen => 1, 1, -5 ]) {
    my ($what, $has, $want, $seen) = @$wrong;
    my $before = servers();
    my ($sec, $usec) = @{ $redis->asked('TIME') };
    like $redis->asked('EVAL', $script, 1, 'adm:{test}', 'g', 'g', '', 'run', ++$seq, $seen // 0, $has, $want, -1, $LIMIT,
                       $LEASE, $HOLD, $sec * 1000 + int($usec / 1000), 0, 0, 0), qr/argument/, "no sync: $what, $has, $want";
    is_deeply servers(), $before, '... and nothing is noted';
}

done_testing;

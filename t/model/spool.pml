/* spool.pml - how much all children keep for slow clients, for Spin.
 *
 * Each of KEEPERS records belongs to one child after another, which asks to keep a
 * byte or two, keeps it if it may, and gives it back. Together they may keep ROOM.
 * A child can be KILLED at each step: what it kept is gone with it, what it counted
 * stays in its record until the parent says that it is dead.
 *
 * The labels K1_... name the steps of spool_shm.c. -DBREAK_... breaks one rule.
 */
#ifndef ROOM
#define ROOM 2
#endif
#ifndef KILLED
#define KILLED 0
#endif
#ifndef ASKS
#define ASKS 2
#endif

#define FREE 0
#define CLAIMED 1
#define LIVE 2
#define DEAD 3

byte life[KEEPERS];    /* of the record */
byte spooled[KEEPERS]; /* bytes that its child uses or requests, as recorded */
byte kept[KEEPERS];    /* bytes that its child really uses */
bit is_over[KEEPERS];  /* its process runs no more */
byte kills = KILLED;

#define OR_KILLED(step) \
    if \
    :: step \
    :: kills > 0 -> goto killed \
    fi

proctype child(byte me)
{
    byte asks = ASKS, i, sum, state, truth;

    /* The claim clears what a dead one counted, before the record counts. */
    OR_KILLED(spooled[me] = 0);
    OR_KILLED(life[me] = LIVE);
    do
    :: asks > 0 ->
        asks--;
#ifdef BREAK_SUM_FIRST
        skip;
#else
K1_ask: OR_KILLED(spooled[me]++);
#endif
        sum = 0;
        for (i : 0 .. KEEPERS - 1) {
K2_sum:     state = life[i];
            if
            :: state == LIVE -> sum = sum + spooled[i]
            :: else
            fi
        };
#ifdef BREAK_SUM_FIRST
        sum++;
        spooled[me]++;
#endif
        i = 0;
        state = 0;
        if
        :: sum > ROOM ->
            sum = 0;
K3_refused: OR_KILLED(spooled[me]--)
        :: else ->
            sum = 0;
K4_keep:    d_step {
                kept[me]++;
                for (i : 0 .. KEEPERS - 1) {
                    truth = truth + kept[i]
                };
                i = 0;
                assert(truth <= ROOM); /* P15 */
                truth = 0
            }
        fi
    :: kept[me] > 0 ->
#ifdef BREAK_COUNTED_OFF_FIRST
        spooled[me]--;
        kept[me]--
#else
        OR_KILLED(kept[me]--);
K5_give_back:
        OR_KILLED(spooled[me]--)
#endif
    :: asks == 0 && kept[me] == 0 -> break
    od;
    /* Nothing is left of what it counted. */
    assert(spooled[me] == 0); /* P15 */
    goto over;

killed:
    kills--;
over:
    skip;
    d_step {
        kept[me] = 0;
        is_over[me] = 1;
        i = 0;
        sum = 0;
        asks = 0
    }
}

/* The parent, and whoever starts the next child. */
proctype parent(byte me)
{
    byte next = KILLED + 1;

    do
    :: next > 0 && life[me] == FREE ->
        d_step {
            next--;
            life[me] = CLAIMED;
            is_over[me] = 0
        }
        run child(me)
    :: is_over[me] && (life[me] == CLAIMED || life[me] == LIVE) -> life[me] = DEAD
    :: life[me] == DEAD && next > 0 -> life[me] = FREE
    :: life[me] == DEAD && next == 0 -> break
    od
}

init
{
    byte r;

    atomic {
        do
        :: r < KEEPERS -> run parent(r); r++
        :: else -> break
        od
    }
}

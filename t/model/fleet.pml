/* fleet.pml - one limit over two servers, leased by an engine that forgets, for Spin.
 *
 * FLEET permits. The engine grants each server a share; a server runs no more than
 * its share, and only while its lease lasts. Messages are late, lost, or played again
 * by a connection that was given up; the engine is restarted with what it knew, with
 * older data, or with none.
 *
 * The first server may end at any time, all its processes at once, but not what it
 * sent, nor its programs. The one that follows has an id of its own, FOLLOWER, and says
 * whom it follows if no program is left (R15).
 *
 * Which server gets how much is left open: the engine may lower any target, and raise
 * any grant by what is free. Time is a tick: a lease lasts LEASE of them, a request
 * less than HOLD and one, a message that is older than one is late.
 */
#include "broken.pml"

#ifndef FLEET
#define FLEET 2
#endif
#ifndef SYNCS
#define SYNCS 3 /* of each server */
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef LOSSES
#define LOSSES 1 /* of a connection */
#endif
#ifndef FOLLOWS
#define FOLLOWS 0 /* 1: the first server ends, another one follows it */
#endif
#ifndef OTHER_SYNCS
#define OTHER_SYNCS SYNCS /* of the second server */
#endif
#ifndef NEXT_SYNCS
#define NEXT_SYNCS SYNCS /* of the one that follows */
#endif
#define LEASE 2
#define HOLD 1
#define OLDEST 3 /* ages stop there */
#define FOLLOWER 2
#define IDS 3

typedef message_t {
    bool is_there;
    bool follows; /* it says so */
    byte id;
    byte seq;
    byte gen;
    byte has;
    byte age
}

typedef told_t { /* a reply, or a push */
    bool is_there;
    bool was_late;
    byte of_run;
    byte gen;
    byte target;
    byte age /* of the sync that it answers */
}

/* Each server. `young` began in this tick, `old` in the one before; those of FOLLOWER
 * are the programs that the first server left. */
byte share[2], young[IDS], old[IDS], lease[2], gen_seen[2], run_seen[2], seq[2];
bool has_reply[2], awaits[2];
bool is_followed, says_so;
message_t sync[2], played[2]; /* on its way; of a connection given up */
told_t reply[2], push[2];

/* The engine. */
byte this_run = 1, learning = LEASE + HOLD;
short registered;
bool is_known[IDS];  /* there is a record */
bool has_spoken[IDS]; /* in this run */
byte granted[IDS], target[IDS], gen[IDS], seq_of[IDS], hold[IDS];
byte newest[IDS]; /* generation of each server so far */

byte restarts = RESTARTS, losses = LOSSES;
byte i, me, other;
message_t told; /* what is being executed */
bool is_played;

#define active(s) (young[s] + old[s])
#define total (active(0) + active(1) + active(FOLLOWER))
#define id_of(s) ((s) == 0 && is_followed -> FOLLOWER : (s))
#define syncs_of(s) \
    ((s) == 1 -> OTHER_SYNCS : (is_followed -> NEXT_SYNCS : SYNCS))
#define promised(s) (share[s] > active(s) -> share[s] : active(s))
#define lesser(a, b) ((a) < (b) -> (a) : (b))
#define has_of(r) (granted[r] * is_known[r])
#define told_of(r) (granted[r] * has_spoken[r] * is_known[r])
#define reserved (has_of(0) + has_of(1) + has_of(2))
#define heard (told_of(0) + told_of(1) + told_of(2))

#define promise(s) (broken(FLEET_PROMISE) -> active(s) : promised(s))

/* What may be granted: to those not heard of in this run may belong all that was not
 * registered in it. */
#define unregistered_bound \
    (learning == 0 || broken(FLEET_LEARNING) -> FLEET : lesser(registered, FLEET))
#define free_by_books (reserved < FLEET -> FLEET - reserved : 0)
#define free_by_registers (heard < unregistered_bound \
                           -> unregistered_bound - heard : 0)
#define free (learning == 0 -> free_by_books \
                            : lesser(free_by_books, free_by_registers))

#define is_late(m) (m.age > 1)
#define is_stale(s, m) (is_known[s] && m.seq <= seq_of[s])
#define has_seen_all(s, m) (broken(FLEET_GENERATION) || m.gen == gen[s])
#define HELD (broken(FLEET_HOLD) -> LEASE : LEASE + HOLD)
#define first_gen(s) (broken(FLEET_FIRST_GEN) -> 1 : newest[s] + 1)
/* What it has may be somebody else's by now: then it ends, and begins nothing. */
#define others(s) (heard - told_of(s))
#define first_target(s, m) \
    (m.has + others(s) <= FLEET || broken(FLEET_COVERED) -> m.has \
                                : (others(s) < FLEET -> FLEET - others(s) : 0))
#define lease_of(t) \
    (broken(FLEET_LEASE) -> LEASE : (t.age < LEASE -> LEASE - t.age : 0))
#define is_of_this_run(s, t) (t.of_run == run_seen[s] && has_reply[s])
#define is_believed(s, t) ((broken(FLEET_RUN) || is_of_this_run(s, t)) \
                           && t.gen > gen_seen[s] && lease[s] > 0)
#define MAY_SAY_SO (broken(FLEET_LEFT) || active(0) == 0)

inline grow_gen(s)
{
    gen[s]++;
    newest[s] = (gen[s] > newest[s] -> gen[s] : newest[s])
}

inline clear_sync(m)
{
    m.is_there = false;
    m.follows = false;
    m.id = 0;
    m.seq = 0;
    m.gen = 0;
    m.has = 0;
    m.age = 0
}

inline clear_told(t)
{
    t.is_there = false;
    t.was_late = false;
    t.of_run = 0;
    t.gen = 0;
    t.target = 0;
    t.age = 0
}

inline tell(t, s)
{
    t.is_there = true;
    t.of_run = this_run;
    t.gen = gen[s];
    t.target = target[s];
    t.age = 0
}

/* A push is lost where there is no room for it, or nobody of that id. */
inline push_to(r)
{
    if
    :: r == 1 && !push[1].is_there -> tell(push[1], 1)
    :: r == id_of(0) && !push[0].is_there -> tell(push[0], r)
    :: else
    fi
}

inline forget(s)
{
    is_known[s] = false;
    has_spoken[s] = false;
    granted[s] = 0;
    target[s] = 0;
    gen[s] = 0;
    seq_of[s] = 0;
    hold[s] = 0
}

#define registered_without(r) \
    (broken(FLEET_UNREGISTERED) -> registered : lesser(registered, FLEET) - granted[r])

/* R15: what the server had that this one follows is free; not while it learns. */
inline follow(m)
{
#if FOLLOWS > 0
    if
    :: m.follows && is_known[0] ->
        registered = (has_spoken[0] -> registered_without(0) : registered);
        forget(0)
    :: else
    fi
#else
    skip
#endif
}

/* The books, by what a server says. */
inline believe(s, m)
{
    if
    :: !is_known[s] ->
        is_known[s] = true;
        granted[s] = m.has;
        target[s] = first_target(s, m);
        gen[s] = (m.gen > first_gen(s) -> m.gen : first_gen(s));
        newest[s] = (gen[s] > newest[s] -> gen[s] : newest[s]);
        registered = lesser(registered + m.has, FLEET)
    :: is_known[s] && !has_spoken[s] ->
        granted[s] = m.has;
        target[s] = first_target(s, m);
        gen[s] = (m.gen > gen[s] -> m.gen : gen[s]);
        grow_gen(s);
        registered = lesser(registered + m.has, FLEET)
    :: is_known[s] && has_spoken[s] && has_seen_all(s, m) ->
        granted[s] = m.has;
        target[s] = lesser(target[s], m.has)
    :: else ->
        granted[s] = (m.has > granted[s] -> m.has : granted[s])
    fi;
    has_spoken[s] = true;
    seq_of[s] = m.seq;
    hold[s] = HELD
}

inline raise(s)
{
    if
    :: free > 0 ->
        granted[s] = granted[s] + free;
        target[s] = granted[s];
        grow_gen(s)
    :: else
    fi
}

inline lower(s)
{
    if
    :: target[s] > 0 ->
        target[s]--;
        granted[s] = (broken(FLEET_SHRINK) -> target[s] : granted[s]);
        grow_gen(s)
    :: else
    fi
}

inline expire_later()
{
    hold[0] = (is_known[0] -> HELD : 0);
    hold[1] = (is_known[1] -> HELD : 0);
    hold[2] = (is_known[2] -> HELD : 0)
}

/* What was told is executed: of server i, unless it is played with its connection. */
inline execute()
{
    me = told.id;
#if FOLLOWS > 0
    if
    :: other = (me + 1) % IDS
    :: other = (me + 2) % IDS
    fi;
#else
    other = 1 - me;
#endif
    if
    :: is_late(told) || is_stale(me, told) ->
        /* Nothing is believed; if it is late nothing expires. */
        if
        :: is_late(told) -> expire_later()
        :: else
        fi;
        reply[i].is_there = !is_played;
        reply[i].was_late = !is_played
    :: else ->
        follow(told);
        believe(me, told);
        if
        :: true
        :: free > 0 -> raise(me)
        :: is_known[other] && has_spoken[other] && free > 0 ->
            raise(other);
            push_to(other)
        :: is_known[other] && has_spoken[other] && target[other] > 0 ->
            lower(other);
            push_to(other)
        :: target[me] > 0 -> lower(me)
        fi;
        if
        :: !is_played -> tell(reply[i], me); reply[i].age = told.age
        :: else
        fi
    fi;
    clear_sync(told);
    is_played = false;
    me = 0;
    other = 0
}

inline copy(to, from)
{
    to.is_there = true;
    to.follows = from.follows;
    to.id = from.id;
    to.seq = from.seq;
    to.gen = from.gen;
    to.has = from.has;
    to.age = from.age
}

inline get_older(m)
{
    if
    :: m.is_there && m.age < OLDEST -> m.age++
    :: else
    fi
}

inline get_less(n)
{
    n = (n > 0 -> n - 1 : 0)
}

inline give_up_connection(s)
{
    if
    :: sync[s].is_there && !played[s].is_there -> copy(played[s], sync[s])
    :: else
    fi
}

#define choose_server \
    if \
    :: i = 0 \
    :: i = 1 \
    fi

init {
#ifdef SHARED /* each has its half, and the engine has learnt */
    d_step {
        for (i : 0 .. 1) {
            is_known[i] = true;
            has_spoken[i] = true;
            granted[i] = FLEET / 2;
            target[i] = FLEET / 2;
            gen[i] = 1;
            newest[i] = 1;
            hold[i] = LEASE + HOLD;
            share[i] = FLEET / 2;
            lease[i] = LEASE;
            gen_seen[i] = 1;
            run_seen[i] = this_run;
            has_reply[i] = true
        };
        i = 0;
        learning = 0
    }
#endif
    do
    :: atomic {
        choose_server;
        if
        /* F1_begin */
        :: lease[i] > 0 && active(i) < share[i] ->
            young[i]++;
            assert(total <= FLEET)
        /* F2_end */
        :: young[i] > 0 -> young[i]--
        :: old[i] > 0 -> old[i]--
        /* F4_sync */
        :: run_seen[i] == this_run && !awaits[i] && seq[i] < syncs_of(i) ->
            if /* F3_give_back */
            :: share[i] > active(i) -> share[i] = active(i)
            :: true
            fi;
            seq[i]++;
            sync[i].is_there = true;
            sync[i].follows = (i == 0 && says_so);
            sync[i].id = id_of(i);
            sync[i].seq = seq[i];
            sync[i].gen = gen_seen[i];
            sync[i].has = promise(i);
            sync[i].age = 0;
            awaits[i] = true
        /* F5_execute */
        :: sync[i].is_there || played[i].is_there ->
            if
            :: sync[i].is_there -> copy(told, sync[i]); clear_sync(sync[i])
            :: played[i].is_there ->
                copy(told, played[i]);
                clear_sync(played[i]);
                is_played = true
            fi;
            execute()
        /* F6_reply */
        :: reply[i].is_there ->
            if
            :: !reply[i].was_late ->
                if
                :: reply[i].gen >= gen_seen[i] ->
                    gen_seen[i] = reply[i].gen;
                    share[i] = reply[i].target
                :: else
                fi;
                lease[i] = (lease_of(reply[i]) > lease[i] -> lease_of(reply[i])
                                                          : lease[i]);
                share[i] = (lease[i] > 0 -> share[i] : 0);
                has_reply[i] = true
            :: else
            fi;
            awaits[i] = false;
            clear_told(reply[i])
        /* F7_push */
        :: push[i].is_there ->
            if
            :: is_believed(i, push[i]) ->
                gen_seen[i] = push[i].gen;
                share[i] = push[i].target
            :: else
            fi;
            clear_told(push[i])
        /* F8_connect */
        :: run_seen[i] != this_run || (losses > 0 && awaits[i]) ->
            if
            :: run_seen[i] == this_run ->
                losses--;
                give_up_connection(i)
            :: else ->
                run_seen[i] = this_run;
                gen_seen[i] = 0;
                has_reply[i] = false
            fi;
            awaits[i] = false;
            clear_sync(sync[i]);
            clear_told(reply[i])
            /* What was pushed may still be read. */
        /* F10_forget */
        :: is_known[i] && hold[i] == 0 -> forget(i)
        :: else
        fi;
        i = 0
    }
    /* F9_tick */
    :: d_step {
        old[0] == 0 && old[1] == 0 && old[FOLLOWER] == 0 ->
        get_less(learning);
        for (i : 0 .. IDS - 1) {
            old[i] = young[i];
            young[i] = 0;
            get_less(hold[i])
        };
        for (i : 0 .. 1) {
            get_less(lease[i]);
            share[i] = (lease[i] > 0 -> share[i] : 0);
            get_older(sync[i]);
            get_older(played[i]);
            get_older(reply[i])
        };
        i = 0
    }
#if FOLLOWS > 0
    /* F2_end and F10_forget, of the programs that the first server left. */
    :: d_step { young[FOLLOWER] > 0 -> young[FOLLOWER]-- }
    :: d_step { old[FOLLOWER] > 0 -> old[FOLLOWER]-- }
    :: d_step { is_known[FOLLOWER] && hold[FOLLOWER] == 0 -> forget(FOLLOWER) }
    /* F12_follow */
    :: atomic {
        !is_followed ->
        give_up_connection(0);
        says_so = MAY_SAY_SO;
        is_followed = true;
        young[FOLLOWER] = young[0];
        old[FOLLOWER] = old[0];
        young[0] = 0;
        old[0] = 0;
        share[0] = 0;
        lease[0] = 0;
        gen_seen[0] = 0;
        run_seen[0] = this_run;
        seq[0] = 0;
        has_reply[0] = false;
        awaits[0] = false;
        clear_sync(sync[0]);
        clear_told(reply[0]);
        clear_told(push[0])
    }
#endif
    /* F11_restart */
    :: atomic {
        restarts > 0 ->
        restarts--;
        this_run++;
        clear_sync(sync[0]);
        clear_sync(sync[1]);
        clear_sync(played[0]);
        clear_sync(played[1]);
        learning = LEASE + HOLD;
        registered = 0;
        has_spoken[0] = false;
        has_spoken[1] = false;
        has_spoken[FOLLOWER] = false;
        if
        :: expire_later()
        :: forget(0);
            forget(1);
            forget(FOLLOWER)
        :: is_known[0] -> forget(0)
        :: is_known[0] && granted[0] > 0 -> /* as it was once */
            granted[0] = 0;
            target[0] = 0;
            hold[0] = HELD
        fi
    }
    od
}

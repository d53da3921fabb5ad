/* workers.pml - who waits holding a worker, in one child of event, for Spin.
 *
 * The child has WORKERS. At most BLOCKED_MAX of them are for those who wait for a
 * permit, so that others find one: VISITORS come at any moment, and need a worker
 * for a moment. BLOCKING requests wait in a worker each, PARKED ones without.
 * CONNECTIONS of HTTP/2 have STREAMS each, which wait on threads of mod_http2; but
 * the connection holds a worker for as long as any of them is open.
 * There is one permit. At first another child has it, which may keep it for good,
 * as may whoever gets it here.
 *
 * The labels B1_... name the steps of adm_worker.c. -DBREAK_... breaks one rule.
 */
#include "broken.pml"

#ifndef BLOCKED_MAX
#define BLOCKED_MAX 2
#endif
#ifndef BLOCKING
#define BLOCKING 1
#endif
#ifndef PARKED
#define PARKED 1
#endif
#ifndef CONNECTIONS
#define CONNECTIONS 2
#endif
#ifndef STREAMS
#define STREAMS 1
#endif
#ifndef VISITORS
#define VISITORS 1
#endif

#define REQUESTS (BLOCKING + PARKED + CONNECTIONS * STREAMS)
#define NONE 255

/* ---- the child ----------------------------------------------------------- */

byte workers = WORKERS;   /* idle ones, of the MPM */
byte workers_blocked;     /* held by those who block */
byte workers_shared;      /* held by connections */
byte open[CONNECTIONS];   /* streams of the connection, to mod_http2 */
byte inside[CONNECTIONS]; /* streams of it that are in the zone */
bit is_locked;            /* who counts streams */

/* ---- the zone ------------------------------------------------------------ */

#define OUTSIDE 0
#define WAITING 1
#define GRANTED 2
#define ACTIVE 3

byte state[REQUESTS];
bit is_parked[REQUESTS];
bit is_taken = true; /* the permit */

byte visitors_left = VISITORS;

#define takes_worker workers > 0 -> workers--

/* The permit of one that cannot begin goes on to one that can. */
#define passes_on(i) (state[i] == GRANTED && is_parked[i] && workers == 0)

/* Count oneself, then look at the others. */
#ifdef BREAK_LOOK_FIRST
#define COUNT_ITSELF(own, others) \
    seen = others; \
    with_it = own + 1; \
    own = with_it
#else
#define COUNT_ITSELF(own, others) \
B1_count_itself: \
    atomic { own++; with_it = own }; \
B2_look_at_others: \
    seen = others
#endif

/* ---- requests ------------------------------------------------------------ */

/* Some programs never end. */
#define MAY_RUN_FOR_GOOD \
    if \
    :: true \
    :: goto end_runs_for_good \
    fi

#define ENDS \
    goto end_ends; \
end_runs_for_good: \
    false; \
end_ends: \
    skip

proctype blocking(byte me)
{
    byte with_it, seen;

    atomic { takes_worker };
    COUNT_ITSELF(workers_blocked, workers_shared);
    if
    :: with_it + seen > BLOCKED_MAX -> workers_blocked--
    :: else ->
        state[me] = WAITING;
end_waits:
        atomic { state[me] == GRANTED -> state[me] = ACTIVE };
B3_end_blocking:
        workers_blocked--;
        MAY_RUN_FOR_GOOD;
        atomic { state[me] = OUTSIDE; is_taken = false }
    fi;
    workers++;
    ENDS
}

proctype parked(byte me)
{
    atomic { is_parked[me] = true; state[me] = WAITING };
end_waits:
    atomic { state[me] == GRANTED && workers > 0 -> workers--; state[me] = ACTIVE };
    MAY_RUN_FOR_GOOD;
    atomic { state[me] = OUTSIDE; is_taken = false };
    workers++;
    ENDS
}

proctype stream(byte me; byte c)
{
    byte with_it, seen;
    bit is_denied;

    /* Its connection is read by a worker, which stays with it. */
    if
    :: atomic { open[c] == 0 && workers > 0 -> workers--; open[c]++ }
    :: atomic { open[c] > 0 -> open[c]++ }
    fi;
    atomic { !is_locked -> is_locked = true };
    if
    :: inside[c] == 0 ->
#ifndef BREAK_NO_BOUND_ON_HTTP2
        COUNT_ITSELF(workers_shared, workers_blocked);
        is_denied = with_it + seen > BLOCKED_MAX;
        if
        :: is_denied -> workers_shared--
        :: else
        fi
#else
        workers_shared++
#endif
    :: else
    fi;
    inside[c] = inside[c] + (is_denied -> 0 : 1);
    is_locked = false;
    if
    :: is_denied
    :: else ->
        state[me] = WAITING;
end_waits:
        atomic { state[me] == GRANTED -> state[me] = ACTIVE };
        MAY_RUN_FOR_GOOD;
        atomic { state[me] = OUTSIDE; is_taken = false };
        atomic { !is_locked -> is_locked = true };
        inside[c]--;
        if
        :: inside[c] == 0 || broken(FIRST_VACATES) ->
B4_vacate:
            workers_shared--
        :: else
        fi;
        is_locked = false
    fi;
    atomic {
        open[c]--;
        workers = workers + (open[c] == 0 -> 1 : 0)
    };
    ENDS
}

/* Whose visit takes no permit. */
proctype visitor()
{
    atomic { takes_worker; visitors_left-- };
    workers++
}

/* ---- the zone hands over, in any order ------------------------------------ */

#define any(what) \
    (what(0) || what(1) || (REQUESTS > 2 && what(2 % REQUESTS)) \
     || (REQUESTS > 3 && what(3 % REQUESTS)) \
     || (REQUESTS > 4 && what(4 % REQUESTS)) \
     || (REQUESTS > 5 && what(5 % REQUESTS)))
#define can_run(i) (state[i] == WAITING && (!is_parked[i] || workers > 0))
#define waits(i) (state[i] == WAITING)
#define is_idle(i) (state[i] == GRANTED)

#define pick(what) \
    do \
    :: what(x) -> break \
    :: else -> x = (x + 1) % REQUESTS \
    od

init {
    byte i, x;

    atomic {
        do
        :: i < BLOCKING -> run blocking(i); i++
        :: i >= BLOCKING && i < BLOCKING + PARKED -> run parked(i); i++
        :: i >= BLOCKING + PARKED && i < REQUESTS ->
            run stream(i, (i - BLOCKING - PARKED) / STREAMS); i++
        :: else -> i = 0; break
        od;
        do
        :: i < VISITORS -> run visitor(); i++
        :: else -> i = 0; break
        od
    }
    /* The other child gives the permit back, or never does. */
    if
    :: is_taken = false
    :: true
    fi;
    do
    :: atomic {
        !is_taken && any(waits) ->
        pick(waits);
        state[x] = GRANTED;
        is_taken = true;
        x = 0
    }
    :: atomic {
        any(passes_on) && any(can_run) ->
        pick(passes_on);
        state[x] = WAITING;
        x = 0;
        pick(can_run);
        state[x] = GRANTED;
        x = 0
    }
    :: timeout -> break
    od;
    /* P10: whoever needs no permit finds a worker, whatever waits */
    assert(visitors_left == 0);
    /* P9 */
    assert(!any(is_idle));
    assert(is_taken || !any(waits))
}

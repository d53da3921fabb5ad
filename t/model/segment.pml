/* segment.pml - what the model's processes share, what is derived from it, and
 * what has to be true of it. Read tickets.pml first.
 */
#include "broken.pml"

#ifndef SLOTS
#define SLOTS 3
#endif
#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef RAISED
#define RAISED LIMIT /* more: the parent raises the limit once */
#endif
#ifndef KILLS
#define KILLS 1
#endif
#ifndef FORKS
#define FORKS KILLS /* how many of the killed may be replaced */
#endif
#ifndef TAKEN
#define TAKEN 0 /* how often a waiter's child loses its last idle worker */
#endif
#ifndef LATE
#define LATE 0 /* how often the lease of one that could begin is over */
#endif

#define RECORDS SLOTS /* so that a new process needs a dead one's record */
#define TICKETS (SLOTS + KILLS)
#define PROCESSES (SLOTS + FORKS)
#define NONE 255

/* The models differ in size: % SIZE, for saying a thing twice is harmless. The last
 * macro can be part of what the others are given. */
#define EACH_RECORD(option) option(0) option(1) option(2) option(3)
#define EACH_PROCESS(option) EACH_RECORD(option) option(4) option(5)
#define any_record(is) (is(0) || is(1 % RECORDS) || is(2 % RECORDS) \
                        || is(3 % RECORDS))
#define any_ticket(is) (is(0) || is(1 % TICKETS) || is(2 % TICKETS) \
                        || is(3 % TICKETS) || is(4 % TICKETS) \
                        || is(5 % TICKETS))
#define any_ticket_of(is, of) (is(0, of) || is(1 % TICKETS, of) \
                               || is(2 % TICKETS, of) || is(3 % TICKETS, of) \
                               || is(4 % TICKETS, of) || is(5 % TICKETS, of))

/* The first for which it is so, from here on. */
#define GO_TO(n, is_so) \
    do \
    :: !(is_so) -> n++ \
    :: else -> break \
    od

/* ---- the segment --------------------------------------------------------- */

/* States of a ticket. */
#define FREE 0
#define WAITING 1
#define GRANTED 2
#define ACTIVE 3
#define ORPHANED 4

/* The truth. */
byte state[TICKETS];
byte child[TICKETS]; /* the record that it names */
byte arrival[TICKETS];
bit announced[TICKETS]; /* a program was announced */
#ifdef STOPS
byte left[TICKETS]; /* its request could not lock the zone: its arrival, and the
                     * op it left with */
bit has_left;       /* the zone says that there may be such tickets */
#endif

/* The caches of the zone. (The plain name is a keyword.) */
byte active_count, queued;
byte line[TICKETS];
byte length; /* of line */
byte unused; /* the free list, a bit a ticket */

byte limit = LIMIT; /* written by the parent */
byte next_arrival = 1;

#ifdef MOVES
/* A request that the server sends to itself comes with this token. */
byte moves = MOVES; /* how many may still be sent */
byte sent = NONE;   /* the ticket of who sends it */
byte sent_arrival;
#endif

/* States of a child's record. `life` and `owner` are one word. */
#define NOBODY 0
#define CLAIMED 1
#define LIVE 2
#define DEAD 3

byte life[RECORDS];
byte owner[RECORDS]; /* pid and sequence: names one process for ever */
bit has_room[RECORDS]; /* hint: it has an idle worker */

/* ---- the kernel ---------------------------------------------------------- */

byte zone_lock;        /* who holds it: slot + 1; 0: nobody */
bit owner_died;        /* the next one to take it is told */
byte alive[RECORDS];   /* the locks taken for life, in the same way */
byte sleeper[TICKETS]; /* who sleeps on the ticket's state: slot + 1 */

byte process[SLOTS]; /* which process a slot has */
bit gone[SLOTS];     /* it was killed and is not replaced */
bit idle[SLOTS];     /* it has nothing more to do */
bit is_dead[PROCESSES];
byte processes = SLOTS; /* forked so far */

/* The program of a process, and the `program` word of its ticket. */
#define ASKED 1 /* it may start; the word has no pid */
#define RUNS 2  /* the word has its pid */

byte program[PROCESSES]; /* 0: none, or none any more; the word is CLOSED, or
                          * has the pid of one that has ended */
byte running;            /* how many run */
#ifdef ABANDON
bit is_left[PROCESSES]; /* its request ended before its program */
#else
#define is_left is_dead
#endif

/* The idle worker of a child whose request waits without one. */
#define IDLE 0
#define TAKEN_A_WHILE 1 /* by a request that is not counted */
#define TAKEN_FOR_GOOD 2 /* as good as stopped */
byte worker[SLOTS];

byte kills = KILLS; /* that are still to come */
byte takes = TAKEN;
byte late = LATE;

/* Slots differ in nothing before their first step, so let them begin, or be
 * killed, in order: this many have. */
byte begun;

/* ---- checks -------------------------------------------------------------- */

byte holder[TICKETS]; /* the process that entered */

/* Scratch of single steps; no part of a state. */
hidden byte k, n, waiting, is_waiting;
hidden byte is_within_limit, is_in_order, caches_are_right, nobody_is_stuck,
            all_is_back, no_permit_is_idle;

#define holds_permit(t) (state[t] == GRANTED || state[t] == ACTIVE \
                         || state[t] == ORPHANED)

#define is_next(t) (broken(NO_HINT) || has_room[child[t]])

#include "keys.pml"

/* P1: no more permits are out than the limit allows. */
inline check_permits()
{
    n = 0;
    for (k : 0 .. TICKETS - 1) {
        n = n + holds_permit(k)
    };
    is_within_limit = n <= limit;
    assert(is_within_limit)
}

/* P3: nobody alive with this ticket's key came before it, still waits and, as far
 * as is known, can run; unless nobody can. */
inline check_order(ticket)
{
    is_in_order = true;
    for (k : 0 .. TICKETS - 1) {
        is_in_order = (is_in_order
                       && !(state[k] == WAITING && k != ticket
                            && !is_dead[holder[k]]
                            && is_same_key(k, ticket)
                            && (has_room[child[k]] || !has_room[child[ticket]])
                            && arrival[k] < arrival[ticket]))
    };
    assert(is_in_order)
}

/* P7: invariants 1, 2, 3, 5, 10 and 11, whenever the lock is given back. */
inline check_caches()
{
    n = 0;
    waiting = 0;
    caches_are_right = true;
    for (k : 0 .. TICKETS - 1) {
        n = n + holds_permit(k);
        waiting = waiting + (state[k] == WAITING);
        caches_are_right = (caches_are_right
                            && (state[k] == FREE) == ((unused >> k) & 1))
    };
    caches_are_right = (caches_are_right && active_count == n
                        && queued == waiting && length == waiting
                        && (!anybody_may || active_count >= limit));
    check_flows();
    for (k : 1 .. length - 1) {
        caches_are_right = (caches_are_right
                            && arrival[line[k - 1]] < arrival[line[k]])
    };
    assert(caches_are_right)
}

/* ---- the caches ---------------------------------------------------------- */

#ifdef STOPS
#define note(number, op) (((number) << 3) | (op))
#define op_noted(t) (left[t] & 7)
#define is_note_of(t) (broken(LEFT_UNNAMED) || left[t] >> 3 == arrival[t])
#define was_left(t) (left[t] && is_note_of(t) \
                     && (state[t] == WAITING || state[t] == GRANTED \
                         || state[t] == ACTIVE))
#define says_left has_left
#else
#define says_left false
#endif

/* All caches that follow one store are changed in one step. How far that came
 * when a process was killed at it does not matter: a rebuild forgets them. */

inline put_unused(ticket)
{
    arrival[ticket] = 0;
    forget_key(ticket);
    child[ticket] = 0;
    holder[ticket] = 0;
    announced[ticket] = 0;
#ifdef STOPS
    left[ticket] = 0;
#endif
    unused = unused | (1 << ticket)
}

inline take_unused(ticket)
{
    ticket = 0;
    GO_TO(ticket, (unused >> ticket) & 1);
    unused = unused & ~(1 << ticket)
}

/* Out of the line; n is 1 if the ticket was in it. */
inline unlink_from_line(ticket)
{
    n = 0;
    for (k : 0 .. length - 1) {
        if
        :: line[k] == ticket -> n = 1
        :: else -> line[k - n] = line[k]
        fi
    };
    if
    :: n -> length--; line[length] = 0; queued--; waits_no_more(ticket)
    :: else
    fi
}

#define goes_before(a, b) (!broken(PLACE_LOST) && arrival[a] < arrival[b])
#define belongs_before(a, b) (broken(UNSORTED) || arrival[a] < arrival[b])

/* By arrival: last, or first if its permit was passed on. */
#define PUT_IN_LINE(ticket, is_before) \
    n = length; \
    do \
    :: n > 0 && is_before(ticket, line[n - 1]) -> \
        line[n] = line[n - 1]; \
        n-- \
    :: else -> break \
    od; \
    line[n] = ticket; \
    length++; \
    queued++; \
    waits(ticket)

/* The caches follow what was stored. What was before, they know, but of one that
 * waits: it has just come, or its permit was passed on. */
inline follow(ticket)
{
    if
    :: state[ticket] == FREE ->
        unlink_from_line(ticket);
        if
        :: !n -> active_count--; holds_no_more(ticket)
        :: else
        fi;
        put_unused(ticket)
    :: state[ticket] == WAITING ->
        PUT_IN_LINE(ticket, goes_before);
        active_count = active_count - is_passed_on;
        passed_on_by(ticket, is_passed_on);
        is_passed_on = false
    :: state[ticket] == GRANTED || state[ticket] == ACTIVE ->
        /* The winner may have begun meanwhile: that takes no lock. */
        unlink_from_line(ticket);
        active_count++;
        holds(ticket)
    :: state[ticket] == ORPHANED
    fi
}

inline forget_caches()
{
    active_count = 0;
    queued = 0;
    unused = 0;
    forget_flows();
    do
    :: length > 0 -> length--; line[length] = 0
    :: else -> break
    od;
    k = 0
}

inline recount()
{
    for (k : 0 .. TICKETS - 1) {
        if
        :: state[k] == FREE -> put_unused(k)
        :: state[k] == WAITING -> PUT_IN_LINE(k, belongs_before)
        :: else -> active_count++; holds(k)
        fi;
#if defined STOPS && !defined BREAK_LEFT_UNCOUNTED
        has_left = (has_left || was_left(k));
#endif
    };
    k = 0
}

/* ---- what a look around could find --------------------------------------- */

/* A look that would find nothing is left out: it changes nothing. So no run is
 * endless, and whoever is stuck can be seen to be stuck. */

#define reapable(r) (life[r] == DEAD \
                     || (life[r] == LIVE && alive[r] == 0) \
                     || (life[r] == CLAIMED && is_dead[owner[r]]))

#define program_is_gone(p) (broken(ORPHAN_AT_ONCE) || program[p] != RUNS)

/* Who finds no pid lets none come after that. */
#define closed(p) (program[p] == ASKED && !broken(NOT_CLOSED) -> 0 : program[p])

#define ended(t) (state[t] == ORPHANED && program_is_gone(holder[t]))

#define is_held_by(t, r) (!broken(NO_OWNER) && child[t] == r \
                          && (state[t] == WAITING || state[t] == GRANTED \
                              || state[t] == ACTIVE))

#define claimable(r) (life[r] == NOBODY && alive[r] == 0)

#define any_reapable any_record(reapable)
#define any_claimable any_record(claimable)
#define any_ended any_ticket(ended)
/* Granted, and its child cannot begin: the lease is over sooner or later, or the
 * child itself says so. A winner that is only late is no work for a look. */
#define is_stuck(t) (!broken(NO_LEASE) && state[t] == GRANTED \
                     && (!has_room[child[t]] || alive[child[t]] == 0 \
                         || worker[alive[child[t]] - 1] != IDLE))
#define can_run(t) (state[t] == WAITING && has_room[child[t]])

#define keeps_it_idle(t) (state[t] == GRANTED && alive[child[t]] != 0 \
                          && worker[alive[child[t]] - 1] != IDLE)
#define any_kept_idle any_ticket(keeps_it_idle)
#define any_held_by(r) any_ticket_of(is_held_by, r)
#define is_busy_slot(s) (!(idle[s] || gone[s] || worker[s] == TAKEN_FOR_GOOD))
#define is_quiet (!any_record(is_busy_slot))

#define can_grant (anybody_may && active_count < limit)
#define is_to_pass_on(t) (is_stuck(t) && somebody_could_use(t))
#define passes_on any_ticket(is_to_pass_on)
#define may_lose(t) (state[t] == GRANTED && somebody_could_use(t))
#define any_may_lose any_ticket(may_lose)
#define zone_has_work (zone_lock == 0 && (owner_died || can_grant || passes_on \
                                          || says_left))
#define has_work (any_reapable || any_ended || zone_has_work)

/* Nobody can do anything any more. */
inline check_the_end()
{
    /* P5: nobody has the lock. */
    assert(zone_lock == 0);
    /* P9: no permit is idle beside somebody who could use it. */
    no_permit_is_idle = is_quiet || !any_kept_idle;
    assert(no_permit_is_idle);
    /* P2: nobody waits but for a worker. */
    nobody_is_stuck = is_quiet;
    assert(nobody_is_stuck);
    /* P4: if anybody lives, all permits and records are back. */
    n = 0;
    is_waiting = false;
    for (k : 0 .. SLOTS - 1) {
        n = n + !gone[k];
        is_waiting = is_waiting || worker[k] == TAKEN_FOR_GOOD
    };
    n = (is_waiting -> 0 : n); /* for a worker, and rightly holds what it has */
    all_is_back = n == 0 || (!owner_died && active_count == 0 && queued == 0);
    for (k : 0 .. TICKETS - 1) {
        all_is_back = all_is_back && (n == 0 || state[k] == FREE)
    };
    for (k : 0 .. RECORDS - 1) {
        all_is_back = (all_is_back
                       && (n == 0 || life[k] == NOBODY
                           || !is_dead[owner[k]]))
    };
    assert(all_is_back)
}

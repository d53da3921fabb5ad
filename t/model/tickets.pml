/* tickets.pml - the ticket protocol of docs/dev/shared-memory.md, for Spin.
 *
 * One zone. SLOTS httpd children, each of which makes one request: it enters,
 * waits, runs a program, leaves. KILLS of them are killed, each at any step;
 * a killed one may be replaced by a new process, which makes a request, too.
 * With KEYS each request has one of two keys (keys.pml).
 * With STOPS whoever finds the lock held may give up on it when it leaves.
 * With MOVES so many requests are sent by others of the same zone, which end when
 * they like; their permits move on to those.
 * A child has one worker, which a request that waits does not hold: TAKEN times
 * others take it, for a while or for good.
 * docs/dev/model.md says what is left out and why that is sound.
 *
 * The labels T1_... name the transitions; src/core carries the same names.
 * -DBREAK_... breaks one rule; "t/model/run --broken" shows that Spin then
 * finds a counter-example.
 */
#include "segment.pml"

/* ---- a child ------------------------------------------------------------- */

/* What a critical section is for. */
#define ENTER 1
#define CANCEL 2
#define RELEASE 3
#define REAP 4
#define END_ORPHAN 5
#define HAND_OUT 6
#define ABANDON_IT 7
#define INHERIT 8

/* What a look around is for. */
#define TO_CLAIM 1
#define TO_REQUEST 2
#define TO_WAIT 3
#define TO_REST 4

#define may_run_at_once \
    (active_count < limit \
     && (broken(OVERTAKE) -> is_below_max(t) \
                          : (broken(OVERTAKE_OTHERS) || !anybody_may) \
                            && is_first_of_key(t)))

#define is_same_dead(r, who) \
    (broken(NO_RECHECK) || (life[r] == DEAD && owner[r] == who))
#define has_more_to_reap (op == REAP && is_same_dead(r, seen) \
                          && any_held_by(r))

#define is_same_orphan(t, number) \
    (broken(ORPHAN_NO_RECHECK) -> state[t] != FREE \
                               : state[t] == ORPHANED && arrival[t] == number)
#define state_of_abandoned (broken(ABANDON_FREES) -> FREE : ORPHANED)

/* A permit that has moved on belongs to another ticket, perhaps in this record. */
#ifdef MOVES
#define own_arrival mine
#define is_mine (broken(MOVED_UNSEEN) || arrival[t] == mine)
#else
#define own_arrival arrival[t]
#define is_mine true
#endif

#define may_be_late (late > 0 && any_may_lose)

/* Of this child, whose request waits. */
#define can_begin (worker[me] == IDLE)

#define hint_is_wrong (has_room[rec] != can_begin \
                       && (!broken(HINT_STAYS) || !can_begin))

#define hands_over (can_grant && (!broken(HAND_OVER_AT_RELEASE) || op == RELEASE))

#ifdef STOPS
#define is_swept (!has_left && todo == 0)
#else
#define is_swept true
#endif

/* ---- death --------------------------------------------------------------- */

#define is_given_back(s) (zone_lock == s + 1 && !broken(LOCK_NOT_ROBUST))

/* SIGKILL. The kernel gives back what the process had locked. */
inline kill_process(s)
{
    is_dead[process[s]] = true;
    begun = begun + (begun == s);
    kills--;
    for (k : 0 .. RECORDS - 1) {
        alive[k] = (alive[k] == s + 1 -> 0 : alive[k])
    };
    for (k : 0 .. TICKETS - 1) {
        sleeper[k] = (sleeper[k] == s + 1 -> 0 : sleeper[k])
    };
    owner_died = owner_died || is_given_back(s);
    zone_lock = (is_given_back(s) -> 0 : zone_lock)
}

/* At every step of a child: or it is killed instead. */
#define OR_KILLED \
    :: d_step { kills > 0 && me <= begun -> kill_process(me) } goto dead

#define UNLESS_KILLED(step) \
    if \
    :: step \
    OR_KILLED \
    fi

#define FIRST_LOSES_PERMIT(is) \
    x = 0; \
    GO_TO(x, is(x)); \
    has_room[child[x]] = false; \
    is_passed_on = true

/* Options of a choice. */
#define IF_UNCLAIMED(n) :: life[n % RECORDS] == NOBODY -> r = n % RECORDS
#define IF_REAPABLE(n) :: reapable(n % RECORDS) -> r = n % RECORDS
#define IF_PARENTS_NEWS(n) :: is_parents_news(n % RECORDS) -> i = n % RECORDS
#define IF_ASKED(n) :: program[n % PROCESSES] == ASKED -> i = n % PROCESSES
#define ENDS_ALONE(n) :: program_without_request_ends(n % PROCESSES)

/* While its request waits others may take the child's worker. What has no worker
 * can tell so, and looks around: that is its dispatcher. */
#if TAKEN + LATE > 0
#define WITHOUT_WORKER \
    :: atomic { \
        takes > 0 && worker[me] == IDLE -> \
        takes--; \
        if \
        :: worker[me] = TAKEN_A_WHILE \
        :: worker[me] = TAKEN_FOR_GOOD \
        fi; \
        sleeper[t] = 0; \
        goto wait \
    } \
    :: atomic { \
        worker[me] == TAKEN_A_WHILE -> \
        worker[me] = IDLE; \
        sleeper[t] = 0; \
        goto wait \
    } \
    :: atomic { \
        hint_is_wrong -> \
        has_room[rec] = can_begin; \
        sleeper[t] = 0; \
        goto wait \
    } \
    :: atomic { \
        !can_begin && state[t] == GRANTED && has_work -> \
        sleeper[t] = 0; \
        back = TO_WAIT; \
        goto look_around \
    }
#else
#define WITHOUT_WORKER
#endif

#define self process[me]

/* An unused ticket is the request's, but for its state. */
inline fill_ticket()
{
    take_unused(t);
    child[t] = rec;
    holder[t] = self;
    arrival[t] = next_arrival;
#ifdef MOVES
    mine = next_arrival;
#ifdef STOPS
    left[t] = 0;
#endif
#endif
    next_arrival++;
    x = t
}

inline forget_request()
{
    t = 0;
#ifdef MOVES
    mine = 0;
#endif
    is_impatient = false;
    op = 0
}

proctype slot(byte me)
{
    byte rec = me;    /* its record */
    byte t;           /* its ticket */
    bit is_impatient; /* it may leave the line at any moment */
    byte op, back;
    byte r, seen;     /* the record that it looks at, and the owner seen in it;
                       * or the arrival of an orphan */
    byte x;           /* the ticket whose state it stored last */
    byte wakes;       /* granted in this critical section, a bit a ticket */
#ifdef STOPS
    byte todo;        /* tickets that were left, a bit each */
#endif
    bit is_passed_on; /* x had a permit */
#ifdef MOVES
    byte mine;        /* the arrival of its ticket */
#endif

    /* The first processes are registered from the start; that saves states.
     * Their successors have to register. */
    goto request;

    /* ---- register ---- */
claim:
    if
    :: atomic {
        if
        EACH_RECORD(IF_UNCLAIMED)
        fi;
C1_claim:
        life[r] = (broken(LIVE_TOO_EARLY) -> LIVE : CLAIMED);
        owner[r] = self
    }
    :: atomic {
        /* The real table is larger than all children together. Here there is
         * a place as soon as a dead one's is taken back. */
        !any_claimable && any_reapable ->
        goto look_around
    }
    OR_KILLED
    fi;
    if
    :: atomic {
        alive[r] == 0 ->
C2_hold_for_life:
        alive[r] = me + 1
    }
    :: atomic {
        alive[r] != 0 ->
        /* A slow reaper has it for a moment. */
C3_claim_undone:
        life[r] = NOBODY;
        owner[r] = 0;
        goto claim_undone
    }
    OR_KILLED
    fi;
    if
    :: atomic {
        true ->
        rec = r;
        r = 0;
        back = TO_REQUEST;
C4_live:
        life[rec] = LIVE;
        has_room[rec] = true;
        if
        :: has_work -> goto look_around
        :: else -> goto request
        fi
    }
    OR_KILLED
    fi;
claim_undone:
    /* The real one takes another place. Here there may be none. */
    UNLESS_KILLED(atomic { alive[r] == 0 || life[r] != NOBODY -> r = 0 });
claim_again:
    UNLESS_KILLED(atomic { any_claimable || any_reapable -> goto claim });

    /* ---- enter ---- */
request:
    atomic {
        op = ENTER;
        back = 0;
#ifdef MOVES
        if
        :: sent != NONE ->
            op = INHERIT;
            x = sent;
            seen = sent_arrival;
            sent = NONE;
            sent_arrival = 0
        :: true
        fi;
#endif
        goto critical
    }

    /* ---- wait ---- */
wait:
end_wait: /* for a worker that is taken for good; P2 looks at the rest */
#ifdef BREAK_NO_COMPARE
    if
    :: state[t] == ACTIVE -> goto granted
    :: state[t] == GRANTED -> state[t] = ACTIVE; goto granted
    :: state[t] == WAITING
    fi;
    sleeper[t] = me + 1;
#else
    /* Before it sleeps the kernel compares, in one step. The look that comes
     * before that adds nothing. */
    if
    :: atomic { state[t] == ACTIVE -> goto granted }
    :: atomic {
        state[t] == GRANTED && can_begin ->
#ifdef BREAK_BEGIN_BY_STORE
        goto begin
#endif
T13_begin:
        state[t] = ACTIVE;
        goto granted
    }
    :: atomic {
        state[t] == WAITING ->
W1_sleep:
        sleeper[t] = me + 1
    }
    WITHOUT_WORKER
    OR_KILLED
    fi;
#endif
end_asleep:
    if
    :: sleeper[t] != me + 1 -> goto wait
#ifndef NO_SLICE
    :: atomic {
        state[t] == GRANTED && can_begin ->
W2_slice_sees_grant:
        sleeper[t] = 0;
        goto wait
    }
    :: atomic {
        has_work || broken(LOOK_FOR_NOTHING) ->
W3_slice_looks_around:
        sleeper[t] = 0;
        back = TO_WAIT;
        goto look_around
    }
#endif
    :: atomic {
        is_impatient ->
        sleeper[t] = 0;
        op = CANCEL;
        goto critical
    }
    WITHOUT_WORKER
    OR_KILLED
    fi;
#ifdef BREAK_BEGIN_BY_STORE
    goto wait;
begin:
    UNLESS_KILLED(state[t] = ACTIVE);
#endif

    /* ---- run ---- */
granted:
#ifdef MOVES
    if
    :: atomic {
        moves > 0 && sent == NONE ->
        /* What does the work comes when it comes. */
        moves--;
        sent = t;
        sent_arrival = mine;
        is_impatient = false;
        op = RELEASE;
        goto critical
    }
    :: atomic { true -> goto starts }
    OR_KILLED
    fi;
starts:
#endif
    atomic {
        is_impatient = false;
P1_announce:
        announced[t] = !broken(ANNOUNCED_LATE)
    }
    /* It forks, or asks a daemon to: whichever process that is, it comes when it
     * comes. */
    UNLESS_KILLED(program[self] = ASKED);
#ifdef BREAK_ANNOUNCED_LATE
    UNLESS_KILLED(announced[t] = true);
#endif
    if
    :: d_step {
        program[self] == RUNS ->
        program[self] = 0;
        running--;
        op = RELEASE
    }
    :: atomic {
        /* The handler is done, and there is no pid. */
        program[self] == ASKED ->
P3_close:
        program[self] = closed(self);
        op = RELEASE
    }
#ifdef ABANDON
    :: atomic {
        program[self] == RUNS ->
        /* The request ends before its program: somebody stopped it, or it is a
         * daemon's that works on after its answer. */
        is_left[self] = true;
        op = ABANDON_IT
    }
#endif
    OR_KILLED
    fi;

    /* ---- every critical section ---- */
critical:
    if
    :: atomic {
        zone_lock == 0 && me <= begun ->
        zone_lock = me + 1;
        begun = begun + (begun == me);
        if
        :: owner_died
        :: !owner_died -> goto locked
        fi
    }
#ifdef STOPS
    /* Whoever has the lock may be stopped for long. Other ops are not lost: a
     * request that cannot enter runs uncounted, a reaper comes again. */
    :: atomic {
        zone_lock != 0 && op == CANCEL && state[t] == GRANTED && can_begin ->
        state[t] = ACTIVE;
        goto granted
    }
#ifndef MOVES
    :: atomic {
        zone_lock != 0 && (op == CANCEL || op == RELEASE
                           || op == ABANDON_IT) ->
T11_leave_noted:
        left[t] = note(own_arrival, op);
        goto leave_noted
    }
#else
    /* It looks whose the record is, then compares and swaps. */
    :: atomic {
        zone_lock != 0 && (op == CANCEL || op == RELEASE) && is_mine ->
        seen = left[t];
        goto leave
    }
    :: atomic {
        zone_lock != 0 && op == RELEASE && !is_mine -> goto rest
    }
#endif
#endif
    OR_KILLED
    fi;
#ifndef BREAK_NO_REBUILD
R1_rebuild_begun:
    UNLESS_KILLED(d_step { true -> forget_caches() });
R2_rebuild_counted:
    UNLESS_KILLED(d_step { true -> recount() });
#endif
R3_repaired:
    owner_died = false;
locked:
    if
    :: atomic {
        op == ENTER ->
        d_step { fill_ticket() }
        choose_key(t);
        if
        :: may_run_at_once ->
T1_enter_active:
            d_step {
                state[t] = ACTIVE;
                check_permits();
                check_order(t);
                check_newcomer(t)
            }
        :: !may_run_at_once ->
            if
            :: is_impatient = true
            :: is_impatient = false
            fi;
T2_enter_waiting:
            state[t] = WAITING
        fi;
#ifdef BREAK_KEY_LATE
        goto key_late
#endif
    }
    :: atomic {
        op == CANCEL && state[t] == WAITING ->
        x = t;
T4_cancel:
        state[t] = FREE
    }
    :: atomic {
        op == CANCEL && state[t] == GRANTED ->
        x = t;
T8_cancel_granted:
        state[t] = FREE
    }
    :: atomic {
        op == CANCEL && state[t] == GRANTED ->
        /* a timeout, but too late: it runs */
        op = ENTER;
        x = NONE
    }
    :: atomic {
        op == RELEASE && is_mine ->
        x = t;
T5_release:
        state[t] = FREE
    }
#ifdef MOVES
    :: atomic {
        op == INHERIT && state[x] == ACTIVE && arrival[x] == seen ->
        seen = 0;
T15_move_on:
        state[x] = FREE;
        goto moving
    }
    :: atomic {
        op == INHERIT && !(state[x] == ACTIVE && arrival[x] == seen) ->
        seen = 0;
        x = 0;
        op = ENTER;
        goto locked
    }
#endif
#ifdef ABANDON
    :: atomic {
        op == ABANDON_IT ->
        x = t;
T10_abandon:
        state[t] = state_of_abandoned
    }
#endif
    :: atomic {
        op == END_ORPHAN && is_same_orphan(x, seen) ->
T9_orphan_ends:
        state[x] = FREE
    }
    :: atomic {
        ((op == RELEASE && !is_mine)
         || (op == END_ORPHAN && !is_same_orphan(x, seen))) ->
        x = NONE
    }
    :: atomic {
        op == REAP || op == HAND_OUT ->
        x = NONE;
        goto follow_and_go_on
    }
    OR_KILLED
    fi;

    /* After each store of a state the caches follow. Every way out of the lock
     * takes back what there is to take, and hands over first. */
stored:
    if
    :: atomic {
        true ->
follow_and_go_on:
        if
        :: x != NONE -> d_step { follow(x) }
        :: else
        fi;
        if
#ifdef STOPS
        :: has_left && todo == 0 ->
            /* Those that are left from now on say so again. */
            d_step {
                for (x : 0 .. TICKETS - 1) {
                    todo = todo | (was_left(x) << x)
                };
                x = NONE
            }
#ifdef BREAK_LEFT_CLEARED_LAST
            goto clear_last
#endif
T12_notes_taken:
            has_left = false
        :: todo != 0 ->
            d_step {
                x = 0;
                GO_TO(x, (todo >> x) & 1);
                todo = todo & ~(1 << x)
            }
            if
            :: state[x] == ACTIVE && op_noted(x) == ABANDON_IT ->
                state[x] = state_of_abandoned
            :: else ->
                state[x] = FREE
            fi
#endif
        :: is_swept && has_more_to_reap ->
            d_step {
                x = 0;
                GO_TO(x, is_held_by(x, r));
                /* P6: nothing is taken from a living child */
                assert(is_dead[holder[x]])
            }
            if
            :: state[x] == ACTIVE && announced[x] ->
#ifdef BREAK_ORPHAN_UNNAMED_FIRST
                child[x] = NONE;
                goto unnamed
#endif
T7_orphan:
                state[x] = ORPHANED
            :: else ->
T6_reap:
                state[x] = FREE
            fi
        :: is_swept && !has_more_to_reap && hands_over ->
            choose_key_to_grant();
            d_step {
                k = 0;
                GO_TO(k, k == length || (is_next(line[k]) && is_chosen(line[k])));
                if
                :: k == length ->
                    k = 0;
                    GO_TO(k, is_chosen(line[k]))
                :: else
                fi;
                x = line[k];
                k = 0;
                wakes = wakes | (1 << x)
            }
#ifdef BREAK_WAKE_FIRST
            sleeper[x] = 0;
            goto grant
#endif
T3_grant:
            d_step {
                state[x] = GRANTED;
                check_permits();
                check_order(x);
                check_fairness(x)
            }
        :: is_swept && !has_more_to_reap && !hands_over && passes_on ->
            d_step { FIRST_LOSES_PERMIT(is_to_pass_on) }
T14_pass_on:
            state[x] = WAITING
#if LATE > 0
        :: is_swept && !has_more_to_reap && !hands_over && may_be_late ->
            /* The lease of one that is about to begin. */
            d_step { late--; FIRST_LOSES_PERMIT(may_lose) }
#ifdef BREAK_PASS_ON_BY_STORE
            goto pass_on
#endif
            state[x] = WAITING
#endif
        :: is_swept && !has_more_to_reap && !hands_over && !passes_on ->
            d_step {
                check_caches();
                x = 0;
                zone_lock = 0
            }
            goto unlocked
        fi
    }
    OR_KILLED
    fi;
    goto stored;
unlocked:
    atomic {
        if
        :: wakes != 0
        :: wakes == 0 && op == ENTER -> goto wait
        :: wakes == 0 && (op == CANCEL || op == RELEASE
                         || op == ABANDON_IT) -> goto rest
        :: wakes == 0 && op == REAP -> goto reaped
        :: wakes == 0 && op == END_ORPHAN -> goto look_around
        :: wakes == 0 && op == HAND_OUT -> goto looked_around
        fi
    }
    if
    :: atomic {
        true ->
        d_step {
            GO_TO(x, (wakes >> x) & 1);
            wakes = wakes & ~(1 << x)
        }
W4_wake:
        sleeper[x] = (broken(WAKE_FIRST) -> sleeper[x] : 0);
        x = 0;
        goto unlocked
    }
    OR_KILLED
    fi;
#ifdef MOVES
moving:
    if
    :: atomic {
        true ->
        d_step {
            follow(x);
            fill_ticket();
            op = ENTER;
            state[t] = ACTIVE;
            check_permits()
        }
        goto stored
    }
    OR_KILLED
    fi;
#endif
#if defined STOPS && defined MOVES
leave:
    if
    :: atomic {
        left[t] == seen ->
        seen = 0;
T11_leave_noted:
        left[t] = note(own_arrival, op);
        goto leave_noted
    }
    :: atomic { left[t] != seen -> seen = 0; goto critical }
    OR_KILLED
    fi;
#endif
#ifdef STOPS
leave_noted:
    UNLESS_KILLED(atomic { true -> has_left = true; goto rest });
#ifdef BREAK_LEFT_CLEARED_LAST
clear_last:
    UNLESS_KILLED(atomic { true -> has_left = false; goto stored });
#endif
#endif
#ifdef BREAK_KEY_LATE
key_late:
    UNLESS_KILLED(key_of[t] = meant[t]; goto stored);
#endif
#ifdef BREAK_ORPHAN_UNNAMED_FIRST
unnamed:
    UNLESS_KILLED(state[x] = ORPHANED; goto stored);
#endif
#ifdef BREAK_WAKE_FIRST
grant:
    state[x] = GRANTED;
    goto stored;
#endif
#ifdef BREAK_PASS_ON_BY_STORE
pass_on:
    UNLESS_KILLED(state[x] = WAITING; goto stored);
#endif

    /* ---- look around: at the children, the orphans, the zone ---- */
look_around:
    atomic {
        r = 0;
        seen = 0;
        if
        EACH_RECORD(IF_REAPABLE)
        :: !any_reapable -> goto look_at_zone
        fi;
        seen = owner[r];
        if
        :: life[r] == DEAD -> goto reap
        :: life[r] == CLAIMED -> goto mark
        :: life[r] == LIVE
        fi
    }
    if
    :: alive[r] != 0 -> goto look_around
    :: atomic { alive[r] == 0 -> alive[r] = me + 1 }
    OR_KILLED
    fi;
    UNLESS_KILLED(alive[r] = 0);
mark:
    if
    :: atomic {
        true ->
        if
        :: (life[r] == LIVE || life[r] == CLAIMED) && owner[r] == seen ->
C6_dead_by_child:
            life[r] = DEAD
        :: else
        fi;
        goto look_around
    }
    OR_KILLED
    fi;
reap:
    atomic {
        op = REAP;
#ifdef BREAK_REAP_BY_COUNTS
        if
        :: active_count + queued == 0 -> goto reaped
        :: else
        fi;
#endif
#ifdef BREAK_RECORD_FREED_FIRST
        if
        :: life[r] == DEAD && owner[r] == seen -> life[r] = NOBODY
        :: else
        fi;
#endif
        goto critical
    }
reaped:
    if
    :: atomic {
        true ->
        if
        :: life[r] == DEAD && owner[r] == seen ->
C7_record_free:
            life[r] = NOBODY;
            owner[r] = 0
        :: else
        fi;
        goto look_around
    }
    OR_KILLED
    fi;
look_at_zone:
    /* Who is no child yet only makes room for itself. */
    atomic {
        op = 0;
        if
        :: back != TO_CLAIM && any_ended ->
            d_step {
                GO_TO(x, ended(x));
                seen = arrival[x]
            }
P4_close_orphan:
            program[holder[x]] = closed(holder[x]);
            op = END_ORPHAN;
            goto critical
        :: back != TO_CLAIM && !any_ended && zone_has_work ->
            op = HAND_OUT;
            goto critical
        :: else
        fi
    }
looked_around:
    atomic {
        op = 0;
        r = 0;
        seen = 0;
        if
        :: back == TO_CLAIM -> goto claim_again
        :: back == TO_REQUEST -> goto request
        :: back == TO_WAIT -> back = 0; goto wait
        :: back == TO_REST
        fi
    }

    /* ---- the request is over ---- */
rest:
    atomic {
        idle[me] = true;
        forget_request();
        back = 0
    }
end_rest:
    /* Somebody looks around sooner or later: the next request that finds no
     * permit, the next child to start, the status page. */
    if
    :: atomic {
        is_quiet && has_work ->
        idle[me] = false;
        back = TO_REST;
        goto look_around
    }
    OR_KILLED
    fi;

dead:
    atomic {
        idle[me] = false;
        worker[me] = IDLE;
        is_passed_on = false;
        forget_request();
        r = 0;
        seen = 0;
        x = 0;
        wakes = 0;
#ifdef STOPS
        todo = 0;
#endif
        rec = 0;
        back = TO_CLAIM;
        if
        :: processes < SLOTS + FORKS ->
            process[me] = processes;
            processes++;
            goto look_around
        :: gone[me] = true
        fi
    }
end_gone:
    false
}

/* ---- what happens from outside ------------------------------------------- */

/* The parent learns of a death from the kernel, with the pid. */
#define is_parents_news(r) ((life[r] == LIVE || life[r] == CLAIMED) \
                            && is_dead[owner[r]])

inline program_without_request_ends(p)
{
    d_step {
        program[p] == RUNS && (is_dead[p] || is_left[p]) ->
        program[p] = 0;
        running--
    }
}

init {
    byte i;

    atomic {
        for (i : 0 .. SLOTS - 1) {
            process[i] = i;
            life[i] = LIVE;
            owner[i] = i;
            alive[i] = i + 1;
            has_room[i] = true
        };
        unused = (1 << TICKETS) - 1;
        for (i : 0 .. SLOTS - 1) {
            run slot(i)
        };
        i = 0
    }
    do
    /* As long as a kill may come nobody is seen to be stuck. */
    :: d_step { kills > 0 -> kills = 0 }
#ifndef NO_PARENT
    :: atomic {
        if
        EACH_RECORD(IF_PARENTS_NEWS)
        fi;
C5_dead_by_parent:
        life[i] = DEAD;
        i = 0
    }
#endif
    :: atomic {
        if
        EACH_PROCESS(IF_ASKED)
        fi;
P2_note:
        program[i] = RUNS;
        running++;
        i = 0;
        /* P1: never more programs than the limit */
        assert(running <= limit)
    }
#if KILLS > 0 || defined ABANDON
    EACH_PROCESS(ENDS_ALONE)
#endif
#if RAISED > LIMIT
    :: atomic { limit < RAISED -> limit = RAISED }
#endif
    :: timeout -> break
    od;

    atomic { check_the_end() }
}

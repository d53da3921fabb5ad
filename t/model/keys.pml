/* keys.pml - two keys that take turns: flows as caches. Part of segment.pml.
 *
 * Without KEYS all of this is as if there was one key.
 */
#ifndef MAX
#define MAX 255 /* a key holds no more permits */
#endif

#ifdef KEYS

/* Truth: filled before the store that makes the ticket count. */
byte key_of[TICKETS];
#ifdef BREAK_KEY_LATE
byte meant[TICKETS];
#else
#define meant key_of
#endif

/* Caches: the flows, one a key. Which flow goes first among those that hold as
 * many is left open. */
byte held[2];    /* permits */
byte waiters[2]; /* tickets in the line */

hidden byte waiting_of[2], held_by[2], chosen;
hidden byte is_fair, nobody_is_overtaken, is_below_its_max;

#define is_same_key(a, b) (meant[a] == meant[b])
#define is_below(key) (broken(MAX_IGNORED) || held[key] < MAX)
#define is_below_max(t) is_below(meant[t])
#define may_have(key) (waiters[key] > 0 && is_below(key))
#define anybody_may (may_have(0) || may_have(1))
#define is_first_of_key(t) (waiters[meant[t]] == 0 && is_below_max(t))

#define has_more(key, other) (!broken(BY_ARRIVAL) && held[key] > held[other])

#define is_next_with(t, key) (state[t] == WAITING && is_next(t) \
                              && key_of[t] == key)
#define any_next_with(key) any_ticket_of(is_next_with, key)

/* Whose turn it is: of those that may have a permit the one that holds fewer. A
 * key of which nobody can run lets the other one go first. */
#define is_eligible(key) (may_have(key) \
                          && (any_next_with(key) \
                              || !(may_have(1 - (key)) \
                                   && any_next_with(1 - (key)))))
#define is_its_turn(key) (is_eligible(key) \
                          && !(is_eligible(1 - (key)) && has_more(key, 1 - (key))))
#define is_chosen(t) (key_of[t] == chosen)

#define can_run_with(t, key) (can_run(t) && key_of[t] == key)
#define any_can_run_with(key) any_ticket_of(can_run_with, key)
/* The permit that is passed on counts no more for its own key. */
#define may_use(key, t) \
    ((is_below(key) || (!broken(OWN_KEY_BLOCKED) && key_of[t] == key)) \
     && any_can_run_with(key))
#define somebody_could_use(t) (may_use(0, t) || may_use(1, t))

inline choose_key(ticket)
{
    /* The keys are alike: the first one to come has the first. */
    if
    :: meant[ticket] = 0
    :: next_arrival > 2 -> meant[ticket] = 1
    fi
}

inline choose_key_to_grant()
{
    /* Nothing hidden here: what Spin tries second would find it changed. */
    if
    :: is_its_turn(0) -> chosen = 0
    :: is_its_turn(1) -> chosen = 1
    fi
}

#define waits(ticket) waiters[key_of[ticket]]++
#define waits_no_more(ticket) waiters[key_of[ticket]]--
#define holds(ticket) held[key_of[ticket]]++
#define holds_no_more(ticket) held[key_of[ticket]]--
#define passed_on_by(ticket, is_passed) \
    held[key_of[ticket]] = held[key_of[ticket]] \
                           - (broken(PASSED_ON_HELD) -> 0 : is_passed)

inline forget_key(ticket)
{
    key_of[ticket] = 0;
    meant[ticket] = 0
}

inline forget_flows()
{
    held[0] = held[0] * broken(FLOWS_KEPT);
    held[1] = held[1] * broken(FLOWS_KEPT);
    waiters[0] = waiters[0] * broken(FLOWS_KEPT);
    waiters[1] = waiters[1] * broken(FLOWS_KEPT)
}

/* Invariant 10. */
inline check_flows()
{
    held_by[0] = 0;
    held_by[1] = 0;
    waiting_of[0] = 0;
    waiting_of[1] = 0;
    for (k : 0 .. TICKETS - 1) {
        held_by[key_of[k]] = held_by[key_of[k]] + holds_permit(k);
        waiting_of[key_of[k]] = waiting_of[key_of[k]] + (state[k] == WAITING)
    };
    caches_are_right = (caches_are_right && held[0] == held_by[0]
                        && held[1] == held_by[1]
                        && waiters[0] == waiting_of[0]
                        && waiters[1] == waiting_of[1])
}

inline count_permits_by_key()
{
    held_by[0] = 0;
    held_by[1] = 0;
    for (k : 0 .. TICKETS - 1) {
        held_by[meant[k]] = held_by[meant[k]] + holds_permit(k)
    }
}

/* P13: no key holds more permits than it may. */
inline check_max(ticket)
{
    count_permits_by_key();
    is_below_its_max = held_by[meant[ticket]] <= MAX;
    assert(is_below_its_max)
}

/* P11: a newcomer takes no permit that somebody alive waits for and may have. */
inline check_newcomer(ticket)
{
    check_max(ticket);
    nobody_is_overtaken = true;
    for (k : 0 .. TICKETS - 1) {
        nobody_is_overtaken = (nobody_is_overtaken && !(state[k] == WAITING && !is_dead[holder[k]]
                                && held_by[meant[k]] < MAX))
    };
    assert(nobody_is_overtaken)
}

/* P12: nobody alive of another key waits that may have this permit, can run and
 * holds fewer. */
inline check_fairness(ticket)
{
    check_max(ticket);
    is_fair = true;
    for (k : 0 .. TICKETS - 1) {
        is_fair = (is_fair
                   && !(state[k] == WAITING && !is_dead[holder[k]]
                        && meant[k] != meant[ticket]
                        && (has_room[child[k]] || !has_room[child[ticket]])
                        && held_by[meant[k]] < MAX
                        && held_by[meant[k]] + 1 < held_by[meant[ticket]]))
    };
    assert(is_fair)
}

#else

#define is_same_key(a, b) true
#define anybody_may (length > 0)
#define is_below_max(t) true
#define is_first_of_key(t) true
#define is_chosen(t) true
#define can_run_of(t, any) can_run(t)
#define somebody_could_use(t) any_ticket_of(can_run_of, 0)

inline choose_key(ticket) { skip }
inline choose_key_to_grant() { skip }
inline waits(ticket) { skip }
inline waits_no_more(ticket) { skip }
inline holds(ticket) { skip }
inline holds_no_more(ticket) { skip }
inline passed_on_by(ticket, is_passed) { skip }
inline forget_key(ticket) { skip }
inline forget_flows() { skip }
inline check_flows() { skip }
inline check_newcomer(ticket) { skip }
inline check_fairness(ticket) { skip }

#endif

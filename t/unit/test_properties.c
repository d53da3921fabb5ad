/* test_properties.c - properties of a zone, checked after each step of random runs.
 *
 * Requests enter, begin, leave and give up, some of them twice. Limits change, and caches
 * are spoilt and rebuilt. In some runs leases expire, and children have no room. A model
 * alongside records which requests hold permits, and which wait. SEED=n repeats one run.
 *   - A request is admitted, queued or rejected as the model expects; as late only if its
 *     expected wait exceeds its target.
 *   - No key holds more permits than its maximum, and all together no more than the limit.
 *   - No permit is free while a request waits that has the next turn and could take it.
 *   - Requests of one key are served in the order of arrival. A permit goes to a key that
 *     holds the fewest. Without flows all requests have one key.
 *   - Those of a child that can run them come first. A permit that is not used within its
 *     lease, or whose child has no room, is passed on if another request can run, and its
 *     request waits again at its old position.
 *   - Each request is counted once, with its outcome.
 */
#include <stdlib.h>

#include "core/adm_pool.h"
#include "core/adm_zone.h"
#include "test_support.h"

enum { REQUESTS = 48, KEYS = 5, ZONES = 2, CHILDREN = 3, TRIES = 32, STEPS = 1200 };
typedef enum request_state_t { ENDED, QUEUED, GRANTED } request_state_t;

typedef struct request_t {
    adm_ticket_t ticket;
    request_state_t state;
    bool has_begun;
    unsigned zone;
    uint32_t key, priority, max, cost; /* ignored without flows */
    uint32_t takes, queue_length;
    uint64_t arrival;
    bool never_waits;
    bool has_changed; /* since the last look: it was granted a permit, or lost it */
    adm_usec_t lease_until;
} request_t;

static request_t requests[REQUESTS];
static adm_zone_t zones[ZONES];
static uint32_t limits[ZONES], maximum;
static uint64_t counted[ZONES][ADM_OUTCOMES], arrivals;
static adm_zone_stats_t stats[ZONES];
static unsigned passed_on;
static adm_child_t *children[CHILDREN];
static unsigned rooms_before[CHILDREN]; /* the step */
static unsigned seed;
static bool leases_expire; /* else now is a microsecond more each step */
static adm_usec_t now;     /* later than what the core reads by itself */

static uint32_t up_to(uint32_t most)
{
    return (uint32_t)rand_r(&seed) % (most + 1);
}

/* ---- the model -------------------------------------------------------------- */

/* Permits that the request takes if no other of its key holds any. */
static uint32_t most_of(const request_t *request)
{
    return request->max && request->max < request->cost ? request->max : request->cost;
}

/* Permits that the request needs: at most the limit, so that a costly one runs alone. */
static uint32_t needs(const request_t *request)
{
    uint32_t most = most_of(request), limit = limits[request->zone];

    return most <= limit ? most : limit ? limit : 1;
}

/* @return the permits held, or the number of queued requests: of @a key; KEYS: of all. */
static uint32_t count(request_state_t state, unsigned in, uint32_t key)
{
    const request_t *request;
    uint32_t sum = 0;

    for (request = requests; request < requests + REQUESTS; request++) {
        if (request->state == state && request->zone == in
            && (key == KEYS || request->key == key)) {
            sum += state == GRANTED ? request->takes : 1;
        }
    }
    return sum;
}

static bool is_behind(const request_t *request, const request_t *other)
{
    return other->state == QUEUED && other->zone == request->zone && other->key == request->key
           && other->priority == request->priority && other->arrival < request->arrival;
}

static bool is_within_max(const request_t *request)
{
    return !request->max
           || count(GRANTED, request->zone, request->key) + most_of(request) <= request->max;
}

/* @return whether the request is the first of its key and priority, and its key is below
 * its maximum. */
static bool may_be_next(const request_t *request)
{
    unsigned n;

    for (n = 0; n < REQUESTS; n++) {
        if (is_behind(request, &requests[n])) {
            return false;
        }
    }
    return request->state == QUEUED && is_within_max(request);
}

static bool is_any_next(unsigned in)
{
    unsigned n;

    for (n = 0; n < REQUESTS; n++) {
        if (requests[n].zone == in && may_be_next(&requests[n])) {
            return true;
        }
    }
    return false;
}

static bool has_permits_for(const request_t *request)
{
    uint32_t held = count(GRANTED, request->zone, KEYS);

    return held < limits[request->zone] && needs(request) <= limits[request->zone] - held;
}

/* @return whether the child of a request can run it. A blocked one has its thread already. */
static unsigned room_of(const request_t *request, bool now)
{
    const adm_child_t *child = request->ticket.child;
    unsigned room = now ? atomic_load(&child->rec->room) : rooms_before[child->idx - 1];

    return room == ADM_ROOM_FULL && !request->ticket.is_parked ? ADM_ROOM_IDLE : room;
}

static bool is_unused(const request_t *request)
{
    return request->state == GRANTED && !request->has_begun;
}

static adm_outcome_t expected(const request_t *request)
{
    uint32_t queued = count(QUEUED, request->zone, KEYS);
    uint32_t of_key = count(QUEUED, request->zone, request->key);
    bool is_free = !is_any_next(request->zone) && has_permits_for(request);

    if (is_free && !of_key && is_within_max(request)) {
        return ADM_ADMITTED;
    }
    if (queued >= request->queue_length) {
        return is_free ? ADM_SHARE : ADM_FULL;
    }
    if (request->key && of_key >= request->queue_length - queued) {
        return ADM_SHARE;
    }
    return request->never_waits ? ADM_FULL : ADM_WAITING;
}

/* ---- properties ---------------------------------------------------------------- */

/* Check that it was the turn of @a winner, which has just been granted a permit. @a gained:
 * permits that its key got in this step, in which children can only get worse. */
static void assert_turn(const request_t *winner, uint32_t gained)
{
    const request_t *other;
    uint32_t held = count(GRANTED, winner->zone, winner->key);

    for (other = requests; other < requests + REQUESTS; other++) {
        if (other->state == QUEUED && other->zone == winner->zone && !other->has_changed
            && room_of(other, true) <= room_of(winner, false)) {
            /* One that would exceed the maximum of the key is skipped. */
            ck_assert(!is_behind(winner, other)
                      || (other->max && held - winner->takes + most_of(other) > other->max));
            ck_assert(leases_expire || !may_be_next(other) || other->priority != winner->priority
                      || held - gained <= count(GRANTED, winner->zone, other->key));
        }
    }
}

static void note_change(request_t *request)
{
    adm_usec_t lease_until = rec_of_ticket(&request->ticket)->lease_until_usec;
    bool is_granted = adm_ticket_is_granted(&request->ticket);

    request->has_changed = is_granted ? lease_until != request->lease_until : is_unused(request);
    if (request->has_changed && !is_granted) {
        ck_assert_uint_ne(room_of(request, true), ADM_ROOM_IDLE);
        request->state = QUEUED;
        passed_on++;
    }
    else if (request->has_changed) {
        ck_assert_int_ge(lease_until, now + ADM_LEASE_USEC);
        ck_assert_int_le(lease_until, now + 10 * ADM_LEASE_USEC);
        request->lease_until = lease_until;
        request->takes = needs(request);
        request->state = GRANTED;
    }
}

static void note_grants(void)
{
    uint32_t gained[ZONES][KEYS] = { { 0 } };
    request_t *request;

    for (request = requests; request < requests + REQUESTS; request++) {
        request->has_changed = false;
        if (request->state == QUEUED || is_unused(request)) {
            note_change(request);
            gained[request->zone][request->key] += request->has_changed ? request->takes : 0;
        }
    }
    for (request = requests; request < requests + REQUESTS; request++) {
        if (request->has_changed && request->state == GRANTED) {
            assert_turn(request, gained[request->zone][request->key]);
        }
    }
}

/* Check that no permit stays unused while another request can run: beyond its lease; @a by_room,
 * also with a child that cannot run its request. @return whether any is unused. */
static bool assert_unused_are_passed_on(unsigned in, bool by_room)
{
    bool can_run = false, is_any = false, is_left = false;
    const request_t *request;

    for (request = requests; request < requests + REQUESTS; request++) {
        if (request->zone == in && request->state != ENDED) {
            bool is_idle = room_of(request, true) == ADM_ROOM_IDLE;

            can_run |= is_idle && may_be_next(request);
            is_any |= is_unused(request);
            is_left |= is_unused(request) && (now >= request->lease_until || (by_room && !is_idle));
        }
    }
    ck_assert(!can_run || !is_left);
    return is_any;
}

/* Check that among the keys that can be next, one that holds the fewest lacks permits; any,
 * if some children cannot run their requests. */
static void assert_no_permit_is_idle(unsigned in)
{
    bool is_next = false, lacks = false;
    uint32_t fewest[ADM_PRIORITIES];
    unsigned n, pass;

    memset(fewest, 0xff, sizeof(fewest));
    for (pass = 0; pass < 2; pass++) {
        for (n = 0; n < REQUESTS; n++) {
            const request_t *request = &requests[n];
            uint32_t held = count(GRANTED, in, request->key);

            if (request->zone != in || request->state != QUEUED) {
                continue;
            }
            lacks |= leases_expire && !has_permits_for(request);
            if (!may_be_next(request)) {
                continue;
            }
            is_next = true;
            if (pass == 0 && held < fewest[request->priority]) {
                fewest[request->priority] = held;
            }
            lacks |= pass && held == fewest[request->priority] && !has_permits_for(request);
        }
    }
    ck_assert(!is_next || lacks);
}

static void assert_properties(unsigned in)
{
    const uint64_t *outcomes = stats[in].figures.outcomes;
    adm_outcome_t outcome;
    uint32_t key;

    assert_unused_are_passed_on(in, true);
    ck_assert_uint_eq(active_in(zones[in]), count(GRANTED, in, KEYS));
    ck_assert_uint_eq(queued_in(zones[in]), count(QUEUED, in, KEYS));
    for (key = 0; key < KEYS && uses_flows; key++) {
        ck_assert(!maximum || count(GRANTED, in, key) <= maximum);
    }
    assert_no_permit_is_idle(in);
    for (outcome = 0; outcome < ADM_OUTCOMES; outcome++) {
        ck_assert_msg(outcomes[outcome] == counted[in][outcome], "%s: %d, not %d",
                      adm_outcome_name(outcome), (int)outcomes[outcome], (int)counted[in][outcome]);
    }
}

/* ---- steps ------------------------------------------------------------------- */

/* A child that turns out to be silent in one zone is so in the other. */
static void visit_zones(void)
{
    unsigned n;

    for (n = 0; n < (leases_expire ? ZONES * (CHILDREN + 1) : ZONES); n++) {
        adm_view_zone(children[0], zones[n % ZONES], now, &stats[n % ZONES], NULL);
    }
    note_grants();
}

static adm_outcome_t enter_once(request_t *request, adm_child_t *child, adm_entry_t *entry)
{
    adm_outcome_t outcome;

    memset(rooms_before, 0, sizeof(rooms_before)); /* this one is seen to be alive */
    request->ticket = (adm_ticket_t){ 0 };
    outcome = adm_ticket_enter(child, zones[request->zone], entry, now, &request->ticket);
    ck_assert_uint_eq(request->ticket.queued_ahead, count(QUEUED, request->zone, KEYS));
    counted[request->zone][outcome] += outcome != ADM_WAITING;
    return outcome;
}

/* Enter with the target of a microsecond. How late it is tells the expected wait: the shortest
 * target that is not too short. The model knows it without flows. */
static adm_outcome_t enter_in_time(request_t *request, adm_child_t *child, adm_entry_t *entry)
{
    const adm_figures_t *figures = &rec_of_zone(zones[request->zone])->figures;
    uint32_t queued = count(QUEUED, request->zone, KEYS);
    uint64_t limit = limits[request->zone] ? limits[request->zone] : 1;
    adm_usec_t wait = (adm_usec_t)((queued + 1) * figures->slow_mean_usec / limit);
    bool is_known = !uses_flows && figures->service.count;
    adm_outcome_t outcome;

    entry->target_usec = 1;
    outcome = enter_once(request, child, entry);
    if (outcome != ADM_LATE) {
        ck_assert(outcome != ADM_WAITING || !is_known || !queued || wait <= 1);
        return outcome;
    }
    ck_assert(queued && (!is_known || wait == 1 + request->ticket.drain_usec));
    entry->target_usec = wait = request->ticket.drain_usec;
    ck_assert(
        !wait
        || (enter_once(request, child, entry) == ADM_LATE && request->ticket.drain_usec == 1));
    entry->target_usec = wait + 1;
    return enter_once(request, child, entry);
}

static void enter_request(request_t *request)
{
    adm_child_t *child = children[up_to(CHILDREN - 1)];
    adm_outcome_t outcome;
    adm_entry_t entry = { .wait = up_to(9) ? ADM_WAIT_PARKED : ADM_WAIT_NEVER,
                          .queue_length = up_to(4) ? 12 : up_to(12),
                          .key = up_to(KEYS - 1),
                          .key_max = maximum,
                          .cost = up_to(3) ? 1 : 1 + up_to(8),
                          .priority = up_to(3) ? ADM_PRIORITY_NORMAL : up_to(ADM_PRIORITIES - 1) };

    *request = (request_t){ .zone = up_to(ZONES - 1),
                            .cost = 1,
                            .queue_length = entry.queue_length,
                            .never_waits = entry.wait == ADM_WAIT_NEVER,
                            .arrival = ++arrivals };
    if (uses_flows) {
        request->key = (uint32_t)entry.key;
        request->priority = entry.priority;
        request->max = maximum;
        request->cost = entry.cost;
    }
    if (leases_expire) {
        visit_zones(); /* as a round does for a request that finds no permit */
    }
    request->takes = needs(request);
    outcome = expected(request);
    ck_assert_int_eq((up_to(1) ? enter_in_time : enter_once)(request, child, &entry), outcome);
    request->has_begun = outcome == ADM_ADMITTED;
    request->state = outcome == ADM_ADMITTED ? GRANTED : outcome == ADM_WAITING ? QUEUED : ENDED;
}

static void begin(request_t *request)
{
    request->has_begun = true;
    counted[request->zone][ADM_WAITED]++;
}

/* Cancel a request that has not begun. A granted one ignores a timeout, and runs. */
static void give_up(request_t *request)
{
    const adm_outcome_t reasons[] = { ADM_TIMEOUT, ADM_GONE, ADM_STOPPED };
    adm_outcome_t outcome = reasons[up_to(2)];

    if (outcome == ADM_TIMEOUT && request->state == GRANTED) {
        ck_assert_int_eq(adm_ticket_cancel(&request->ticket, outcome, now), ADM_WAITED);
        begin(request);
        return;
    }
    ck_assert_int_eq(adm_ticket_cancel(&request->ticket, outcome, now), outcome);
    request->state = ENDED;
    counted[request->zone][outcome]++;
}

static void release(request_t *request)
{
    if (request->state == QUEUED) {
        counted[request->zone][ADM_GONE]++;
    }
    else if (!request->has_begun) {
        begin(request);
    }
    request->state = ENDED;
    adm_ticket_release(&request->ticket, now);
}

/* Release a ticket twice, even if its record belongs to another request by now. */
static void release_again(request_t *request)
{
    const adm_ticket_rec_t *rec = rec_of_ticket(&request->ticket);

    if (rec && rec->arrival != request->ticket.arrival) {
        atomic_store(&request->ticket.held, 1);
    }
    adm_ticket_release(&request->ticket, now);
}

/* Load both zones again: a load retires zones that it does not configure. */
static void set_limit(unsigned in)
{
    static const char *const names[ZONES] = { "one", "two" };
    unsigned n;

    limits[in] = up_to(9);
    adm_segment_begin_load(segment);
    for (n = 0; n < ZONES; n++) {
        ck_assert_int_eq(adm_segment_configure(segment, names[n], limits[n], 0, 12, &zones[n]),
                         APR_SUCCESS);
        ck_assert_int_eq(adm_segment_use_flows(segment, zones[n], uses_flows), APR_SUCCESS);
    }
    adm_segment_end_load(segment, 1000000, 3600 * ADM_USEC_PER_SEC);
    adm_round(children[0], now, false);
}

/* Overwrite what is derived from the states and the arrivals of tickets. */
static void spoil(adm_zone_rec_t *rec)
{
    uint32_t *const numbers[] = { &rec->head_idx, &rec->tail_idx,  &rec->granted_idx,
                                  &rec->free_idx, &rec->fresh_idx, &rec->fresh_end_idx };
    uint32_t idx;
    unsigned n;

    for (n = 0; n < COUNT(numbers); n++) {
        *numbers[n] = up_to(1) ? up_to(256) : UINT32_MAX;
    }
    atomic_store(&rec->active, up_to(99));
    atomic_store(&rec->queued, up_to(99));
    atomic_store(&rec->orphans, up_to(99));
    rec->busy_since_usec = up_to(1) ? 0 : INT64_MAX;
    rec->next_arrival = up_to(1) ? 0 : rec->next_arrival;
    for (idx = 1; idx <= segment->sizes.tickets; idx++) {
        if (segment->chunk_recs[(idx - 1) / ADM_CHUNK_TICKETS].zone_idx
            == adm_zone_idx(segment, rec)) {
            adm_ticket_rec_t *ticket = adm_ticket_at(segment, idx);

            ticket->next_idx = up_to(256);
            ticket->prev_idx = up_to(1) ? 0 : UINT32_MAX;
            if (ticket->state == ADM_TICKET_FREE && !up_to(9)) {
                ticket->state = 77; /* no known state: becomes an unused ticket */
            }
        }
    }
}

static void rebuild(unsigned in)
{
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_lock(segment, zones[in].idx, &rv);

    spoil(rec);
    adm_pool_rebuild_locked(segment, rec);
    adm_zone_unlock(segment, rec, now);
}

/* A permit can be passed on to the request just now. */
static void try_to_begin(request_t *request)
{
    bool runs;

    memset(rooms_before, 0, sizeof(rooms_before));
    runs = adm_ticket_begin(&request->ticket, now);
    note_grants();
    ck_assert(runs == (request->state == GRANTED));
    if (runs) {
        begin(request);
    }
}

/* Let some time pass, until a waiting request looks whether permits are used. */
static void check_leases(unsigned in)
{
    adm_usec_t until;

    now += up_to(3) * ADM_LEASE_USEC - up_to(1);
    until = adm_lease_check(children[up_to(CHILDREN - 1)], zones[in], now);
    note_grants();
    ck_assert(!assert_unused_are_passed_on(in, false) || until != 0);
    ck_assert(until == 0 || until > now);
}

static void step(void)
{
    request_t *request = &requests[up_to(REQUESTS - 1)];
    unsigned n, dice = up_to(39);

    if (leases_expire && !up_to(19)) {
        adm_child_note_room(children[up_to(CHILDREN - 1)], up_to(1));
    }
    for (n = 0; n < CHILDREN; n++) {
        rooms_before[n] = atomic_load(&children[n]->rec->room);
    }
    if (dice < 2) {
        (dice ? rebuild : set_limit)(up_to(ZONES - 1));
        return;
    }
    if (leases_expire && !up_to(7)) {
        check_leases(up_to(ZONES - 1));
        return;
    }
    if (request->state == ENDED) {
        (up_to(9) ? enter_request : release_again)(request);
    }
    else if (request->state == QUEUED && !request->ticket.is_parked && !up_to(2)) {
        adm_ticket_park(&request->ticket, (uint32_t)(request - requests));
    }
    else if (!request->has_begun && up_to(1)) {
        try_to_begin(request);
    }
    else if (!request->has_begun && up_to(1)) {
        give_up(request);
    }
    else if (request->state == GRANTED || !up_to(3)) {
        release(request);
    }
}

TESTS(properties_hold_after_each_step, 0, TRIES)
{
    unsigned n;

    seed = seed_or((unsigned)_i + 1);
    uses_flows = seed % 4 != 0;
    leases_expire = seed % 5 > 1;
    maximum = seed % 3 * 2;
    make_segment(8, 8, 256);
    now = adm_now() + 3600 * ADM_USEC_PER_SEC;
    for (n = 0; n < CHILDREN; n++) {
        children[n] = join();
    }
    for (n = 0; n < ZONES; n++) {
        set_limit(n);
    }
    for (n = 0; n < STEPS; n++) {
        now++;
        step();
        if (leases_expire && n + 1 < STEPS && up_to(1)) {
            note_grants();
            continue;
        }
        visit_zones();
        assert_segment_consistent();
        assert_properties(0);
        assert_properties(1);
    }
    ck_assert(leases_expire ? passed_on > 20 : passed_on == 0);
}

/* test_properties.c - properties of a zone, checked after each step of random runs.
 *
 * Requests enter, begin, leave and give up, some of them twice. Limits change, and caches
 * are spoilt and rebuilt. A model alongside records which requests hold permits, and which wait.
 * SEED=n repeats one run.
 *   - A request is admitted, queued or rejected as the model expects.
 *   - No key holds more permits than its maximum, and all together no more than the limit.
 *   - No permit is free while a request waits that has the next turn and could take it.
 *   - Requests of one key are served in the order of arrival. A permit goes to a key that
 *     holds the fewest. Without flows all requests have one key.
 *   - Each request is counted once, with its outcome.
 */
#include <stdlib.h>

#include "core/adm_pool.h"
#include "core/adm_zone.h"
#include "test_support.h"

enum { REQUESTS = 48, KEYS = 5, ZONES = 2, TRIES = 16, STEPS = 1200 };
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
} request_t;

static request_t requests[REQUESTS];
static adm_zone_t zones[ZONES];
static uint32_t limits[ZONES], maximum;
static uint64_t counted[ZONES][ADM_OUTCOMES], arrivals;
static adm_child_t *children[2];
static unsigned seed;
static adm_usec_t now; /* a microsecond more each step, so that no lease expires */

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
 * permits that its key got in this step. */
static void assert_turn(const request_t *winner, uint32_t gained)
{
    unsigned n;

    for (n = 0; n < REQUESTS; n++) {
        ck_assert(!is_behind(winner, &requests[n]));
        if (requests[n].zone == winner->zone && may_be_next(&requests[n])
            && requests[n].priority == winner->priority) {
            ck_assert_uint_le(count(GRANTED, winner->zone, winner->key) - gained,
                              count(GRANTED, winner->zone, requests[n].key));
        }
    }
}

static void note_grants(void)
{
    uint32_t gained[ZONES][KEYS] = { { 0 } };
    bool is_new[REQUESTS] = { false };
    unsigned n;

    for (n = 0; n < REQUESTS; n++) {
        request_t *request = &requests[n];

        if (request->state == QUEUED && adm_ticket_is_granted(&request->ticket)) {
            is_new[n] = true;
            request->takes = needs(request);
            request->state = GRANTED;
            request->has_begun = false;
            gained[request->zone][request->key] += request->takes;
        }
    }
    for (n = 0; n < REQUESTS; n++) {
        if (is_new[n]) {
            assert_turn(&requests[n], gained[requests[n].zone][requests[n].key]);
        }
    }
}

/* Check that among the keys that can be next, one that holds the fewest lacks permits. */
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

            if (request->zone != in || !may_be_next(request)) {
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
    adm_zone_stats_t stats;
    adm_outcome_t outcome;
    uint32_t key;

    ck_assert_int_eq(adm_view_zone(children[0], zones[in], now, &stats, NULL), APR_SUCCESS);
    ck_assert_uint_eq(active_in(zones[in]), count(GRANTED, in, KEYS));
    ck_assert_uint_eq(queued_in(zones[in]), count(QUEUED, in, KEYS));
    for (key = 0; key < KEYS && uses_flows; key++) {
        ck_assert(!maximum || count(GRANTED, in, key) <= maximum);
    }
    assert_no_permit_is_idle(in);
    for (outcome = 0; outcome < ADM_OUTCOMES; outcome++) {
        ck_assert_msg(stats.figures.outcomes[outcome] == counted[in][outcome], "%s: %d, not %d",
                      adm_outcome_name(outcome), (int)stats.figures.outcomes[outcome],
                      (int)counted[in][outcome]);
    }
    assert_segment_consistent();
}

/* ---- steps ------------------------------------------------------------------- */

static void enter_request(request_t *request)
{
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
                            .arrival = ++arrivals,
                            .has_begun = true };
    if (uses_flows) {
        request->key = (uint32_t)entry.key;
        request->priority = entry.priority;
        request->max = maximum;
        request->cost = entry.cost;
    }
    request->takes = needs(request);
    outcome = expected(request);
    ck_assert_int_eq(adm_ticket_enter(children[up_to(1)], zones[request->zone], &entry, now,
                                      &request->ticket),
                     outcome);
    ck_assert_uint_eq(request->ticket.queued_ahead, count(QUEUED, request->zone, KEYS));
    request->state = outcome == ADM_ADMITTED ? GRANTED : outcome == ADM_WAITING ? QUEUED : ENDED;
    counted[request->zone][outcome] += outcome != ADM_WAITING;
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

static void step(void)
{
    request_t *request = &requests[up_to(REQUESTS - 1)];
    bool is_granted = request->state == GRANTED && !request->has_begun;

    switch (up_to(39)) {
    case 0:
        set_limit(up_to(ZONES - 1));
        return;
    case 1:
        rebuild(up_to(ZONES - 1));
        return;
    default:
        break;
    }
    if (request->state == ENDED) {
        (up_to(9) ? enter_request : release_again)(request);
    }
    else if (is_granted && up_to(1)) {
        ck_assert(adm_ticket_begin(&request->ticket, now));
        begin(request);
    }
    else if ((is_granted || request->state == QUEUED) && up_to(1)) {
        give_up(request);
    }
    else if (request->state == GRANTED || !up_to(3)) {
        release(request);
    }
}

TESTS(properties_hold_after_each_step, 0, TRIES)
{
    const char *given = getenv("SEED");
    unsigned n;

    seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)_i + 1;
    printf("# SEED=%u\n", seed);
    fflush(stdout);
    uses_flows = seed % 4 != 0;
    maximum = seed % 3 * 2;
    make_segment(8, 8, 256);
    now = adm_now();
    for (n = 0; n < 2; n++) {
        children[n] = join();
    }
    for (n = 0; n < ZONES; n++) {
        set_limit(n);
    }
    for (n = 0; n < STEPS; n++) {
        now++;
        step();
        note_grants();
        assert_properties(0);
        assert_properties(1);
    }
}

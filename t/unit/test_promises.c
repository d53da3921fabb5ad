/* test_promises.c - what a zone promises, after each step of random stories.
 *
 * Requests enter, begin, leave and give up, twice too, limits change, and all is derived
 * anew. A model beside it knows who runs and who waits. SEED=n plays one story again.
 *   - Who comes runs, waits or is rejected as the model says.
 *   - No key runs more than its maximum, and all together no more than the limit.
 *   - No permit is free while somebody waits whose turn it is and who could have it.
 *   - Of a key they are served as they came; a permit goes to a key that holds the
 *     fewest. Without flows there is one key.
 *   - Each request is counted once, as what became of it.
 */
#include <stdlib.h>

#include "core/adm_pool.h"
#include "core/adm_zone.h"
#include "test_support.h"

enum { GUESTS = 48, KEYS = 5, ZONES = 2, STORIES = 16, STEPS = 1200 };
typedef enum where_t { OUT, IN_LINE, INSIDE } where_t;

typedef struct guest_t {
    adm_ticket_t ticket;
    where_t where;
    bool has_begun;
    unsigned zone;
    uint32_t key, priority, max, cost; /* without flows they do not count */
    uint32_t takes, queue_length;
    uint64_t arrival;
    bool is_hasty;
} guest_t;

static guest_t guests[GUESTS];
static adm_zone_t zones[ZONES];
static uint32_t limits[ZONES], maximum;
static uint64_t counted[ZONES][ADM_OUTCOMES], arrivals;
static adm_child_t *children[2];
static unsigned seed;
static adm_usec_t now; /* stands still, so that no lease ends */

static uint32_t up_to(uint32_t most)
{
    return (uint32_t)rand_r(&seed) % (most + 1);
}

/* ---- the model -------------------------------------------------------------- */

/* What it takes alone of its key. */
static uint32_t most_of(const guest_t *guest)
{
    return guest->max && guest->max < guest->cost ? guest->max : guest->cost;
}

/* More than there is: it runs alone. */
static uint32_t needs(const guest_t *guest)
{
    uint32_t most = most_of(guest), limit = limits[guest->zone];

    return most <= limit ? most : limit ? limit : 1;
}

/* Permits of those inside, or how many wait: of a key, or of all KEYS. */
static uint32_t count(where_t where, unsigned in, uint32_t key)
{
    const guest_t *guest;
    uint32_t sum = 0;

    for (guest = guests; guest < guests + GUESTS; guest++) {
        if (guest->where == where && guest->zone == in && (key == KEYS || guest->key == key)) {
            sum += where == INSIDE ? guest->takes : 1;
        }
    }
    return sum;
}

static bool is_behind(const guest_t *guest, const guest_t *other)
{
    return other->where == IN_LINE && other->zone == guest->zone && other->key == guest->key
           && other->priority == guest->priority && other->arrival < guest->arrival;
}

static bool is_within_max(const guest_t *guest)
{
    return !guest->max || count(INSIDE, guest->zone, guest->key) + most_of(guest) <= guest->max;
}

/* The first of its key and priority, and its key may have more. */
static bool may_be_next(const guest_t *guest)
{
    unsigned n;

    for (n = 0; n < GUESTS; n++) {
        if (is_behind(guest, &guests[n])) {
            return false;
        }
    }
    return guest->where == IN_LINE && is_within_max(guest);
}

static bool is_anybody_next(unsigned in)
{
    unsigned n;

    for (n = 0; n < GUESTS; n++) {
        if (guests[n].zone == in && may_be_next(&guests[n])) {
            return true;
        }
    }
    return false;
}

static bool has_permits_for(const guest_t *guest)
{
    uint32_t held = count(INSIDE, guest->zone, KEYS);

    return held < limits[guest->zone] && needs(guest) <= limits[guest->zone] - held;
}

static adm_outcome_t expected(const guest_t *guest)
{
    uint32_t queued = count(IN_LINE, guest->zone, KEYS);
    uint32_t of_key = count(IN_LINE, guest->zone, guest->key);
    bool is_free = !is_anybody_next(guest->zone) && has_permits_for(guest);

    if (is_free && !of_key && is_within_max(guest)) {
        return ADM_ADMITTED;
    }
    if (queued >= guest->queue_length) {
        return is_free ? ADM_SHARE : ADM_FULL;
    }
    if (guest->key && of_key >= guest->queue_length - queued) {
        return ADM_SHARE;
    }
    return guest->is_hasty ? ADM_FULL : ADM_WAITING;
}

/* ---- promises ---------------------------------------------------------------- */

/* @a winner has just been granted, as one of those of its key that hold @a gained. */
static void assert_turn(const guest_t *winner, uint32_t gained)
{
    unsigned n;

    for (n = 0; n < GUESTS; n++) {
        ck_assert(!is_behind(winner, &guests[n]));
        if (guests[n].zone == winner->zone && may_be_next(&guests[n])
            && guests[n].priority == winner->priority) {
            ck_assert_uint_le(count(INSIDE, winner->zone, winner->key) - gained,
                              count(INSIDE, winner->zone, guests[n].key));
        }
    }
}

static void note_grants(void)
{
    uint32_t gained[ZONES][KEYS] = { { 0 } };
    bool is_new[GUESTS] = { false };
    unsigned n;

    for (n = 0; n < GUESTS; n++) {
        guest_t *guest = &guests[n];

        if (guest->where == IN_LINE && adm_ticket_is_granted(&guest->ticket)) {
            is_new[n] = true;
            guest->takes = needs(guest);
            guest->where = INSIDE;
            guest->has_begun = false;
            gained[guest->zone][guest->key] += guest->takes;
        }
    }
    for (n = 0; n < GUESTS; n++) {
        if (is_new[n]) {
            assert_turn(&guests[n], gained[guests[n].zone][guests[n].key]);
        }
    }
}

/* Of those who could be next one that holds the fewest lacks permits. */
static void assert_no_permit_is_idle(unsigned in)
{
    bool is_next = false, lacks = false;
    uint32_t fewest[ADM_PRIORITIES];
    unsigned n, pass;

    memset(fewest, 0xff, sizeof(fewest));
    for (pass = 0; pass < 2; pass++) {
        for (n = 0; n < GUESTS; n++) {
            const guest_t *guest = &guests[n];
            uint32_t held = count(INSIDE, in, guest->key);

            if (guest->zone != in || !may_be_next(guest)) {
                continue;
            }
            is_next = true;
            if (pass == 0 && held < fewest[guest->priority]) {
                fewest[guest->priority] = held;
            }
            lacks |= pass && held == fewest[guest->priority] && !has_permits_for(guest);
        }
    }
    ck_assert(!is_next || lacks);
}

static void assert_promises(unsigned in)
{
    adm_zone_stats_t stats;
    adm_outcome_t outcome;
    uint32_t key;

    ck_assert_int_eq(adm_view_zone(children[0], zones[in], now, &stats, NULL), APR_SUCCESS);
    ck_assert_uint_eq(active_in(zones[in]), count(INSIDE, in, KEYS));
    ck_assert_uint_eq(queued_in(zones[in]), count(IN_LINE, in, KEYS));
    for (key = 0; key < KEYS && uses_flows; key++) {
        ck_assert(!maximum || count(INSIDE, in, key) <= maximum);
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

static void come(guest_t *guest)
{
    adm_outcome_t outcome;
    adm_entry_t entry = { .wait = up_to(9) ? ADM_WAIT_PARKED : ADM_WAIT_NEVER,
                          .queue_length = up_to(4) ? 12 : up_to(12),
                          .key = up_to(KEYS - 1),
                          .key_max = maximum,
                          .cost = up_to(3) ? 1 : 1 + up_to(8),
                          .priority = up_to(3) ? ADM_PRIORITY_NORMAL : up_to(ADM_PRIORITIES - 1) };

    *guest = (guest_t){ .zone = up_to(ZONES - 1),
                        .cost = 1,
                        .queue_length = entry.queue_length,
                        .is_hasty = entry.wait == ADM_WAIT_NEVER,
                        .arrival = ++arrivals,
                        .has_begun = true };
    if (uses_flows) {
        guest->key = (uint32_t)entry.key;
        guest->priority = entry.priority;
        guest->max = maximum;
        guest->cost = entry.cost;
    }
    guest->takes = needs(guest);
    outcome = expected(guest);
    ck_assert_int_eq(adm_ticket_enter(children[up_to(1)], zones[guest->zone], &entry, now,
                                      &guest->ticket),
                     outcome);
    ck_assert_uint_eq(guest->ticket.queued_ahead, count(IN_LINE, guest->zone, KEYS));
    guest->where = outcome == ADM_ADMITTED ? INSIDE : outcome == ADM_WAITING ? IN_LINE : OUT;
    counted[guest->zone][outcome] += outcome != ADM_WAITING;
}

static void begin(guest_t *guest)
{
    guest->has_begun = true;
    counted[guest->zone][ADM_WAITED]++;
}

/* Only who has begun has been admitted; a timeout comes too late for a permit. */
static void give_up(guest_t *guest)
{
    const adm_outcome_t reasons[] = { ADM_TIMEOUT, ADM_GONE, ADM_STOPPED };
    adm_outcome_t outcome = reasons[up_to(2)];

    if (outcome == ADM_TIMEOUT && guest->where == INSIDE) {
        ck_assert_int_eq(adm_ticket_cancel(&guest->ticket, outcome, now), ADM_WAITED);
        begin(guest);
        return;
    }
    ck_assert_int_eq(adm_ticket_cancel(&guest->ticket, outcome, now), outcome);
    guest->where = OUT;
    counted[guest->zone][outcome]++;
}

static void go(guest_t *guest)
{
    if (guest->where == IN_LINE) {
        counted[guest->zone][ADM_GONE]++;
    }
    else if (!guest->has_begun) {
        begin(guest);
    }
    guest->where = OUT;
    adm_ticket_release(&guest->ticket, now);
}

/* Even if it thinks that it still holds what is another one's by now. */
static void go_again(guest_t *guest)
{
    const adm_ticket_rec_t *rec = rec_of_ticket(&guest->ticket);

    if (rec && rec->arrival != guest->ticket.arrival) {
        atomic_store(&guest->ticket.held, 1);
    }
    adm_ticket_release(&guest->ticket, now);
}

/* Both are loaded again: what a load does not name is retired. */
static void set_limit(unsigned in)
{
    static const char *const names[ZONES] = { "one", "two" };
    unsigned n;

    limits[in] = up_to(9);
    adm_segment_begin_load(segment);
    for (n = 0; n < ZONES; n++) {
        ck_assert_int_eq(adm_segment_configure(segment, names[n], limits[n], 12, &zones[n]),
                         APR_SUCCESS);
        ck_assert_int_eq(adm_segment_use_flows(segment, zones[n], uses_flows), APR_SUCCESS);
    }
    adm_segment_end_load(segment, 1000000, 3600 * ADM_USEC_PER_SEC);
    adm_round(children[0], now, false);
}

static void derive_again(unsigned in)
{
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_lock(segment, zones[in].idx, &rv);

    adm_pool_rebuild_locked(segment, rec);
    adm_zone_unlock(segment, rec, now);
}

static void step(void)
{
    guest_t *guest = &guests[up_to(GUESTS - 1)];
    bool is_granted = guest->where == INSIDE && !guest->has_begun;

    switch (up_to(39)) {
    case 0:
        set_limit(up_to(ZONES - 1));
        return;
    case 1:
        derive_again(up_to(ZONES - 1));
        return;
    default:
        break;
    }
    if (guest->where == OUT) {
        (up_to(9) ? come : go_again)(guest);
    }
    else if (is_granted && up_to(1)) {
        ck_assert(adm_ticket_begin(&guest->ticket, now));
        begin(guest);
    }
    else if ((is_granted || guest->where == IN_LINE) && up_to(1)) {
        give_up(guest);
    }
    else if (guest->where == INSIDE || !up_to(3)) {
        go(guest);
    }
}

TESTS(promises_hold_after_each_step, 0, STORIES)
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
        step();
        note_grants();
        assert_promises(0);
        assert_promises(1);
    }
}

/* adm_segment.c - create the segment and configure its zones.
 * Called by the parent, which is root.
 *
 * The parent takes no lock and trusts nothing that it reads from the segment.
 * Names, numbers and sizes are in its private memory; a value from the segment
 * decides at most whether a retired zone's slot is reused.
 */
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <apr_strings.h>

#include "adm_agent.h"
#include "adm_history.h"
#include "adm_layout.h"
#include "adm_limit.h"
#include "adm_segment.h"

/* Number of loads for which a retired zone keeps its slot, so that old children
 * do not find another zone there. */
#define LOADS_BEFORE_REUSE 2

/* What the parent remembers about a slot of the zone table. */
typedef struct adm_zone_name_t {
    char *name;
    size_t size; /* allocated */
    uint32_t slot;
    uint32_t incarnation;
    uint32_t last_load; /* last load that configured it */
    uint32_t limit;     /* configured limit; 0: none yet */
    uint32_t queue_length;
    bool is_auto;       /* its limit is automatic */
    bool is_shared;     /* its limit is shared with other servers */
    uint32_t setup;     /* number of changes by the parent */
    uint32_t table_idx; /* flow table, which stays with the slot; 0: none */
    bool uses_flows;    /* the flow table is in use */
} adm_zone_name_t;

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2,
               "atomics of 64 bits work between processes");

/* ---- records -------------------------------------------------------------- */

/* Consecutive records of one type, and the handle's pointer to the first. */
typedef struct run_t {
    void *pointer; /* to a pointer of any type */
    uint64_t count;
    size_t size;
} run_t;

#define CORE_RUNS 10
#define PART_RUNS 3
#define RUNS (CORE_RUNS + PART_RUNS * ADM_PARTS)

static void list_part(adm_segment_t *segment, adm_part_number_t number,
                      const adm_part_t *part, run_t runs[PART_RUNS])
{
    runs[0] = (run_t){ &segment->parts[number].of_server, 1, part->of_server };
    runs[1] = (run_t){ &segment->parts[number].of_zone, segment->sizes.zones,
                       part->of_zone };
    runs[2] = (run_t){ &segment->parts[number].of_child,
                       segment->sizes.children, part->of_child };
}

/* List everything that the segment consists of, in this order. */
static void list_runs(adm_segment_t *segment, run_t runs[RUNS])
{
#define RUN(of, number)                            \
    {                                              \
        &segment->of, number, sizeof(*segment->of) \
    }
    const adm_sizes_t *sizes = &segment->sizes;
    const run_t core[CORE_RUNS] = { RUN(header, 1),
                                    RUN(zone_recs, sizes->zones),
                                    RUN(history_recs, sizes->zones),
                                    RUN(child_recs, sizes->children),
                                    RUN(doorbell_recs, sizes->children),
                                    RUN(chunk_recs, segment->chunks),
                                    RUN(ticket_recs, sizes->tickets),
                                    RUN(who_recs, sizes->tickets),
                                    RUN(ask_recs, sizes->tickets),
                                    RUN(flow_table_recs, sizes->flow_tables) };
#undef RUN
#define PART(name, NAME)                                  \
    list_part(segment, ADM_PART_##NAME, &adm_part_##name, \
              runs + CORE_RUNS + PART_RUNS * ADM_PART_##NAME);
    memcpy(runs, core, sizeof(core));
    ADM_PARTS_WITH_RECORDS(PART)
#undef PART
}

uint32_t adm_segment_version(void)
{
    adm_segment_t none = { .chunks = 0 };
    run_t runs[RUNS];
    size_t i, sum = sizeof(adm_segment_t) + sizeof(adm_zone_name_t);

    list_runs(&none, runs);
    for (i = 0; i < RUNS; i++) {
        sum += runs[i].size;
    }
    return ADM_LAYOUT_VERSION << 24 | (uint32_t)sum;
}

/* Each run starts on a page of its own, so that unused records at its end cost
 * no memory. */
static uint64_t pages_of(const run_t *run)
{
    const uint64_t page = 4096;

    return (run->count * run->size + page - 1) / page * page;
}

static apr_status_t create_memory(adm_segment_t *segment)
{
    run_t runs[RUNS];
    uint64_t bytes = 0;
    apr_status_t rv;
    size_t i;
    char *at;

    list_runs(segment, runs);
    for (i = 0; i < RUNS; i++) {
        bytes += pages_of(&runs[i]);
    }
    if (bytes > SIZE_MAX) {
        return APR_ENOMEM; /* on a 32-bit system */
    }
    segment->bytes = (size_t)bytes;
    rv = adm_memory_create(&segment->base, segment->bytes);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0, at = segment->base; i < RUNS; i++) {
        memcpy(runs[i].pointer, &at, sizeof(at));
        at += pages_of(&runs[i]);
    }
    return APR_SUCCESS;
}

/* ---- create --------------------------------------------------------------- */

static apr_status_t init_child_locks(adm_segment_t *segment)
{
    uint32_t i;
    apr_status_t rv = APR_SUCCESS;

    for (i = 0; i < segment->sizes.children && rv == APR_SUCCESS; i++) {
        rv = adm_lock_init(&segment->child_recs[i].alive);
    }
    return rv;
}

void adm_segment_random(void *bytes, size_t length)
{
    adm_usec_t now = adm_now();

    if (getrandom(bytes, length, GRND_NONBLOCK) != (ssize_t)length) {
        memcpy(bytes, &now, length < sizeof(now) ? length : sizeof(now));
    }
}

static void write_header(adm_segment_t *segment)
{
    adm_header_rec_t *header = segment->header;

    header->magic = ADM_MAGIC;
    header->layout_version = ADM_LAYOUT_VERSION;
    header->zones = segment->sizes.zones;
    header->children = segment->sizes.children;
    header->chunks = segment->chunks;
    adm_segment_random(&header->instance, sizeof(header->instance));
    adm_segment_random(segment->secret, sizeof(segment->secret));
}

static adm_segment_t *make_handle(const adm_sizes_t *sizes, uint32_t chunks,
                                  apr_pool_t *pool)
{
    adm_segment_t *segment = apr_pcalloc(pool, sizeof(*segment));

    segment->pool = pool;
    segment->sizes = *sizes;
    segment->sizes.tickets = chunks * ADM_CHUNK_TICKETS;
    segment->chunks = chunks;
    segment->names = apr_array_make(pool, 16, sizeof(adm_zone_name_t *));
    segment->by_name = apr_hash_make(pool);
    return segment;
}

/* Whether @a size is from 1 to @a max: for 0, the subtraction wraps. */
static bool is_size(uint32_t size, uint32_t max)
{
    return size - 1 < max;
}

apr_status_t adm_segment_create(adm_segment_t **created,
                                const adm_sizes_t *sizes, apr_pool_t *pool)
{
    adm_segment_t *segment;
    uint32_t chunks = sizes->tickets / ADM_CHUNK_TICKETS
                      + (sizes->tickets % ADM_CHUNK_TICKETS != 0);
    apr_status_t rv;

    if (!is_size(sizes->zones, ADM_MAX_ZONES)
        || !is_size(sizes->children, ADM_MAX_CHILDREN)
        || !is_size(chunks, ADM_MAX_CHUNKS)
        || sizes->flow_tables > ADM_MAX_FLOW_TABLES) {
        return APR_EINVAL;
    }
    segment = make_handle(sizes, chunks, pool);
    rv = create_memory(segment);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = init_child_locks(segment);
    if (rv != APR_SUCCESS) {
        adm_segment_destroy(segment);
        return rv;
    }
    write_header(segment);
    *created = segment;
    return APR_SUCCESS;
}

const unsigned char *adm_segment_secret(const adm_segment_t *segment)
{
    return segment->secret;
}

void adm_segment_destroy(adm_segment_t *segment)
{
    if (segment->agent_event[1]) {
        close(segment->agent_event[0]);
        close(segment->agent_event[1]);
    }
    adm_memory_destroy(segment->base, segment->bytes);
    segment->base = NULL;
}

adm_sizes_t adm_segment_sizes(const adm_segment_t *segment)
{
    return segment->sizes;
}

size_t adm_segment_bytes(const adm_segment_t *segment)
{
    return segment->bytes;
}

bool adm_segment_is_ours(const adm_segment_t *segment)
{
    const adm_header_rec_t *header = segment->header;

    return header->magic == ADM_MAGIC
           && header->layout_version == ADM_LAYOUT_VERSION
           && header->zones == segment->sizes.zones
           && header->children == segment->sizes.children
           && header->chunks == segment->chunks;
}

/* ---- configure ------------------------------------------------------------ */

void adm_segment_begin_load(adm_segment_t *segment)
{
    segment->load++;
    segment->reuse_from = 0;
}

static adm_zone_name_t *name_at(const adm_segment_t *segment, uint32_t slot)
{
    return APR_ARRAY_IDX(segment->names, slot, adm_zone_name_t *);
}

static bool is_retired(const adm_segment_t *segment,
                       const adm_zone_name_t *entry)
{
    return entry->last_load + LOADS_BEFORE_REUSE < segment->load;
}

static bool is_empty(const adm_segment_t *segment, const adm_zone_name_t *entry)
{
    const adm_zone_rec_t *zone = &segment->zone_recs[entry->slot];

    return atomic_load(&zone->active) == 0 && atomic_load(&zone->queued) == 0;
}

/* Add a slot that was never used. */
static apr_status_t add_slot(adm_segment_t *segment, adm_zone_name_t **entry)
{
    uint32_t slot = (uint32_t)segment->names->nelts;
    /* Only now, so that unused slots cost no page. */
    apr_status_t rv = adm_lock_init(&segment->zone_recs[slot].lock);

    if (rv == APR_SUCCESS) {
        *entry = apr_pcalloc(segment->pool, sizeof(**entry));
        (*entry)->slot = slot;
        APR_ARRAY_PUSH(segment->names, adm_zone_name_t *) = *entry;
    }
    return rv;
}

/* Find the slot of a retired zone. Slots in use at the start of the table are
 * not checked again in this load. */
static adm_zone_name_t *find_reusable(adm_segment_t *segment)
{
    uint32_t slot;

    for (slot = segment->reuse_from; slot < segment->sizes.zones; slot++) {
        adm_zone_name_t *entry = name_at(segment, slot);

        if (is_retired(segment, entry) && is_empty(segment, entry)) {
            return entry;
        }
        if (slot == segment->reuse_from && !is_retired(segment, entry)) {
            segment->reuse_from++;
        }
    }
    return NULL;
}

/* Store the slot's setup for all processes. The next one that locks the zone
 * applies it. */
static void publish(adm_segment_t *segment, adm_zone_name_t *entry)
{
    adm_zone_rec_t *zone = &segment->zone_recs[entry->slot];

    atomic_store(&zone->incarnation, entry->incarnation);
    atomic_store(&zone->table_idx, entry->uses_flows ? entry->table_idx : 0);
    atomic_store(&zone->setup, ++entry->setup);
}

/* Give a slot to the zone called @a name. The pool never frees memory, so names
 * get buffers with a reserve that later names of this slot can use. */
static void reassign_slot(adm_segment_t *segment, adm_zone_name_t *entry,
                          const char *name)
{
    size_t length = strlen(name);

    if (entry->name) {
        apr_hash_set(segment->by_name, entry->name, APR_HASH_KEY_STRING, NULL);
    }
    if (!entry->name || length >= entry->size) {
        for (entry->size = 64; entry->size <= length; entry->size *= 2) {
        }
        entry->name = apr_palloc(segment->pool, entry->size);
    }
    memcpy(entry->name, name, length + 1);
    entry->incarnation++;
    entry->limit = 0;
    entry->is_auto = false;
    entry->is_shared = false;
    entry->uses_flows = false;
    adm_limit_clear(&segment->zone_recs[entry->slot]);
    apr_hash_set(segment->by_name, entry->name, APR_HASH_KEY_STRING, entry);
    publish(segment, entry);
}

/* Find the slot of this name, otherwise a new or retired one. */
static apr_status_t find_slot(adm_segment_t *segment, const char *name,
                              adm_zone_name_t **entry)
{
    apr_status_t rv = APR_SUCCESS;

    *entry = apr_hash_get(segment->by_name, name, APR_HASH_KEY_STRING);
    if (*entry) {
        return APR_SUCCESS;
    }
    if ((uint32_t)segment->names->nelts < segment->sizes.zones) {
        rv = add_slot(segment, entry);
    }
    else {
        *entry = find_reusable(segment);
    }
    if (*entry) {
        reassign_slot(segment, *entry, name);
        return APR_SUCCESS;
    }
    return rv != APR_SUCCESS ? rv : ADM_NO_ZONE;
}

/* Record for the history the limit before this load, if it has changed. */
static void note_old_limit(adm_zone_rec_t *rec, uint32_t before)
{
    if (before != ADM_LIMIT_NONE && before != adm_limit_effective(rec)) {
        atomic_store(&rec->limit_before, before + 1);
        atomic_store(&rec->limit_changed_second,
                     adm_history_second_of(adm_now()));
    }
}

/* Remember the configured numbers; clear the overrides if they have changed. */
static void note_numbers(adm_zone_rec_t *rec, adm_zone_name_t *entry,
                         uint32_t limit, uint32_t queue_length)
{
    if (entry->limit != limit || entry->queue_length != queue_length) {
        adm_limit_clear_overrides(rec);
        entry->limit = limit;
        entry->queue_length = queue_length;
    }
}

apr_status_t adm_segment_configure(adm_segment_t *segment, const char *name,
                                   uint32_t limit, uint32_t auto_min,
                                   uint32_t queue_length, adm_zone_t *zone)
{
    bool is_auto = auto_min != 0;
    adm_zone_name_t *entry;
    adm_zone_rec_t *rec;
    uint32_t before;
    apr_status_t rv = find_slot(segment, name, &entry);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    entry->last_load = segment->load;
    *zone = (adm_zone_t){ .idx = entry->slot + 1,
                          .incarnation = entry->incarnation };
    rec = &segment->zone_recs[entry->slot];
    before = adm_limit_effective(rec);
    atomic_store(&rec->queue_length, queue_length);
    if (is_auto && !entry->is_auto) {
        /* Set before the limit becomes automatic: the previous limit, within
         * its bounds. */
        adm_limit_set(rec, ADM_LIMIT_AUTO,
                      adm_lesser(adm_greater(entry->limit, auto_min), limit));
        adm_limit_cancel_term(rec);
        atomic_fetch_add(&rec->measured_began, 1);
    }
    adm_limit_set(rec, ADM_LIMIT_CONFIGURED, limit);
    if (!is_auto && entry->is_auto) {
        adm_limit_set(rec, ADM_LIMIT_AUTO, ADM_LIMIT_NONE);
    }
    entry->is_auto = is_auto;
    note_numbers(rec, entry, limit, queue_length);
    note_old_limit(rec, before);
    return APR_SUCCESS;
}

apr_status_t adm_segment_use_flows(adm_segment_t *segment, adm_zone_t zone,
                                   bool uses_flows)
{
    adm_zone_name_t *entry = name_at(segment, zone.idx - 1);

    /* A flow table stays with its slot. Otherwise a process that is still in
     * one zone could write into the flows of another. */
    if (uses_flows && !entry->table_idx) {
        if (segment->flow_tables_used >= segment->sizes.flow_tables) {
            return ADM_NO_FLOWS;
        }
        entry->table_idx = ++segment->flow_tables_used;
    }
    if (entry->uses_flows != uses_flows) {
        entry->uses_flows = uses_flows;
        publish(segment, entry);
    }
    return APR_SUCCESS;
}

void adm_segment_share(adm_segment_t *segment, adm_zone_t zone,
                       adm_fallback_t fallback)
{
    adm_zone_name_t *entry = name_at(segment, zone.idx - 1);
    adm_zone_rec_t *rec = &segment->zone_recs[entry->slot];
    bool is_shared = fallback != ADM_FALLBACK_NONE;

    atomic_store(&rec->share_fallback, fallback);
    if (is_shared && !entry->is_shared) {
        adm_limit_begin_share(rec);
    }
    else if (!is_shared && entry->is_shared) {
        adm_limit_set(rec, ADM_LIMIT_SHARE, ADM_LIMIT_NONE);
    }
    entry->is_shared = is_shared;
}

void adm_segment_end_load(adm_segment_t *segment, uint32_t worker_cap,
                          adm_usec_t orphan_hold_usec)
{
    adm_header_rec_t *header = segment->header;

    atomic_store(&header->worker_cap, worker_cap);
    atomic_store(&header->orphan_hold_usec, orphan_hold_usec);
    atomic_store(&header->zones_used, (uint32_t)segment->names->nelts);
    atomic_fetch_add(&header->news, 1);
    adm_agent_wake(segment);
}

void adm_segment_count_unlimited(adm_segment_t *segment)
{
    atomic_fetch_add_explicit(&segment->header->unlimited, 1,
                              memory_order_relaxed);
}

void adm_segment_count_ignored(adm_segment_t *segment)
{
    atomic_fetch_add_explicit(&segment->header->tickets_ignored, 1,
                              memory_order_relaxed);
}

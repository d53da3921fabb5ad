/* fleet_duty.c - the agent's duty that leases shares of limits across servers.
 *
 * The duty never blocks on the engine; replies arrive as callbacks of work(). If
 * the duty stops, the leases expire by themselves.
 *
 * Two clocks: `leases` and law_fleet times use adm_clock_since_boot(), which also
 * counts while the system sleeps; the agent's own times use adm_now().
 */
#include <poll.h>
#include <string.h>

#include <apr_strings.h>

#include "core/adm_agent.h"
#include "fleet_shm.h"
#include "fleet_duty.h"

#define RETRY_USEC (100 * ADM_USEC_PER_MSEC)
#define TELL_USEC (60 * ADM_USEC_PER_SEC)
#define HOLD_LEAST_USEC (2 * ADM_USEC_PER_SEC)
#define WHO_USEC ADM_USEC_PER_SEC
#define RENAME_USEC ADM_USEC_PER_SEC /* minimum between two changes of the id */
#define LONG_USEC (3600 * ADM_USEC_PER_SEC)

typedef struct shared_t {
    const agent_share_t *zone;
    law_fleet_t law;
    law_fleet_work_t work;   /* as of the last promise */
    law_fleet_terms_t terms; /* hold_usec is the current value */
    bool has_lapsed;
    bool is_joined;    /* the engine accepts syncs of the zone */
    adm_usec_t who_at; /* last list of the servers that share the limit */
} shared_t;

static struct {
    adm_child_t *self;
    const fleet_setup_t *setup; /* NULL: no zone is shared */
    engine_setup_t engine_setup;
    engine_t *engine;
    shared_t *zones;
    apr_pool_t *pool;          /* of the engine; cleared when the id changes */
    bool has_logged_connected; /* and no loss was logged since */
    bool is_doubled;           /* another server uses this server's id */
    adm_usec_t rename_at;      /* earliest time to take another id */
    _Atomic adm_usec_t
        next[FLEET_EVENTS]; /* earliest time to log the event again */
} all;

/* ---- log -------------------------------------------------------------------- */

/* @return whether it was logged. */
static bool log_rarely(const fleet_news_t *news)
{
    if (!adm_due(&all.next[news->event], adm_now(), TELL_USEC)) {
        return false;
    }
    all.setup->log_event(news);
    return true;
}

/* ---- callbacks of the engine --------------------------------------------------- */

static void joined(uint32_t zone, bool is_new_run, int64_t engine_msec,
                   int64_t now)
{
    law_fleet_connected(&all.zones[zone].law, is_new_run, engine_msec, now);
    all.zones[zone].is_joined = true;
}

static void parted(uint32_t zone)
{
    law_fleet_lost(&all.zones[zone].law);
    all.zones[zone].is_joined = false;
}

static void connected(bool is_other_run)
{
    if (!all.has_logged_connected) {
        all.setup->log_event(&(fleet_news_t){ .event = FLEET_EVENT_CONNECTED,
                                              .number = is_other_run });
    }
    all.has_logged_connected = true;
    fleet_engine_count(all.self, FLEET_ENGINE_CONNECT);
}

static void lost(const char *why)
{
    fleet_engine_count(all.self, FLEET_ENGINE_ERROR);
    if (log_rarely(&(fleet_news_t){ .event = FLEET_EVENT_LOST, .why = why })) {
        all.has_logged_connected = false;
    }
}

static void refused(uint32_t zone, const char *why)
{
    fleet_engine_count(all.self, FLEET_ENGINE_ERROR);
    log_rarely(&(fleet_news_t){ .event = FLEET_EVENT_REFUSED,
                                .zone = all.zones[zone].zone->name,
                                .why = why });
}

static void apply(const shared_t *shared, const law_fleet_share_t *share)
{
    /* On failure the share is unchanged, and the next sync reports that. */
    fleet_apply(all.self, shared->zone->handle, share, adm_now());
}

static void log_about(fleet_event_t event, const shared_t *shared,
                      uint32_t number, uint32_t limit)
{
    log_rarely(&(fleet_news_t){ .event = event,
                                .zone = shared->zone->name,
                                .number = number,
                                .limit = limit });
}

static void check_limits(const shared_t *shared, const law_fleet_reply_t *reply)
{
    if (reply->limit < shared->terms.limit) {
        log_about(FLEET_EVENT_LESS, shared, reply->limit, shared->terms.limit);
    }
    if (reply->reserved > reply->limit && reply->learning_msec == 0) {
        log_about(FLEET_EVENT_OVER, shared, reply->reserved, reply->limit);
    }
}

/* Update the statistics and log what the reply reveals. */
static void count(shared_t *shared, const law_fleet_reply_t *reply,
                  const law_fleet_who_t *who, int64_t now)
{
    fleet_engine_count_sync(all.self, now - shared->law.sent_at);
    if (reply->status == LAW_FLEET_LATE) {
        fleet_engine_count(all.self, FLEET_ENGINE_LATE);
        log_about(FLEET_EVENT_LATE, shared, 0, 0);
    }
    else if (reply->status == LAW_FLEET_STALE) {
        fleet_engine_count(all.self, FLEET_ENGINE_STALE);
        log_about(FLEET_EVENT_DOUBLED, shared, 0, 0);
        all.is_doubled = true;
    }
    else if (reply->status == LAW_FLEET_OK) {
        check_limits(shared, reply);
    }
    if (who->count > 0) {
        shared->who_at = now;
        fleet_engine_note_servers(all.self, shared->zone->handle, who);
    }
}

static void replied(uint32_t zone, const law_fleet_reply_t *reply,
                    const law_fleet_who_t *who, int64_t now)
{
    shared_t *shared = &all.zones[zone];
    law_fleet_share_t share;

    count(shared, reply, who, now);
    if (!all.is_doubled
        && law_fleet_accept_reply(&shared->law, &shared->terms, reply, now,
                                  &share)) {
        apply(shared, &share);
        fleet_note(all.self, shared->zone->handle, reply);
    }
}

static void pushed(uint32_t zone, const law_fleet_push_t *push, int64_t now)
{
    shared_t *shared = &all.zones[zone];
    law_fleet_share_t share;

    fleet_engine_count(all.self, FLEET_ENGINE_PUSH);
    if (!all.is_doubled
        && law_fleet_accept_push(&shared->law, &shared->terms, push, now,
                                 &share)) {
        apply(shared, &share);
    }
}

/* ---- syncs -------------------------------------------------------------------------- */

static void note_lease(shared_t *shared)
{
    bool has_lapsed = fleet_has_lapsed(all.self->segment, shared->zone->handle);

    if (has_lapsed != shared->has_lapsed) {
        all.setup->log_event(&(fleet_news_t){
            .event = has_lapsed ? FLEET_EVENT_LAPSED : FLEET_EVENT_LEASED,
            .zone = shared->zone->name });
    }
    shared->has_lapsed = has_lapsed;
}

/* Unless hold= is configured, the grace period is twice the longest service time. */
static void choose_hold(shared_t *shared)
{
    adm_usec_t hold = 2 * shared->work.longest_usec;

    if (shared->zone->terms.hold_usec != 0) {
        return;
    }
    if (hold > shared->zone->longest_usec) {
        hold = shared->zone->longest_usec;
    }
    shared->terms.hold_usec = hold > HOLD_LEAST_USEC ? hold : HOLD_LEAST_USEC;
}

static bool can_sync(const shared_t *shared)
{
    return shared->is_joined && shared->law.sent_at == 0;
}

/* Promise the current share; return idle permits only if a sync can follow now.
 * Without the sync no other server would get them, and this server would have lost
 * them until the engine replies again. For the same reason an idle permit wakes the
 * agent only then. */
static apr_status_t promise(shared_t *shared, adm_usec_t now)
{
    bool can_send = can_sync(shared),
         is_tight = can_send && shared->law.is_tight;
    apr_status_t rv = fleet_promise(all.self, shared->zone->handle,
                                    LAW_FLEET_AS_BEFORE, is_tight, adm_now(),
                                    &shared->work);
    uint32_t keep = law_fleet_keep(&shared->law, &shared->work, now);

    if (rv == APR_SUCCESS && can_send && keep < shared->work.share
        && shared->work.active < shared->work.share) {
        rv = fleet_promise(all.self, shared->zone->handle, keep, is_tight,
                           adm_now(), &shared->work);
    }
    return rv;
}

/* Check a zone, and send its sync if it is due.
 * @return when to check again, on the clock of leases. */
static adm_usec_t check_zone(uint32_t n, adm_usec_t now)
{
    shared_t *shared = &all.zones[n];
    const law_fleet_terms_t *terms = &shared->terms;
    law_fleet_sync_t sync;
    adm_usec_t due;

    note_lease(shared);
    if (promise(shared, now) != APR_SUCCESS) {
        return now + RETRY_USEC;
    }
    choose_hold(shared);
    due = law_fleet_due(&shared->law, terms, &shared->work, now);
    if (all.is_doubled) {
        return now + RETRY_USEC;
    }
    if (due > now) {
        return due;
    }
    if (!shared->is_joined) {
        return now + RETRY_USEC;
    }
    law_fleet_fill_sync(&shared->law, terms, &shared->work, false, now, &sync);
    sync.asks_who = now - shared->who_at >= WHO_USEC;
    if (!all.setup->provider->sync(all.engine, n, &sync)) {
        law_fleet_lost(&shared->law);
        return now + RETRY_USEC;
    }
    return now + terms->lease_usec / 3;
}

static void open_engine(void)
{
    adm_usec_t now = adm_clock_since_boot();
    uint32_t n;

    for (n = 0; n < all.setup->count; n++) {
        law_fleet_begin(&all.zones[n].law, now);
        all.zones[n].is_joined = false;
    }
    fleet_id(all.self->segment, all.setup->self, all.engine_setup.self.id);
    apr_cpystrn(all.engine_setup.self.predecessor, all.setup->self->predecessor,
                LAW_FLEET_ID_LENGTH + 1);
    all.engine = all.setup->provider->open(all.pool, &all.engine_setup);
}

/* Take another id. Two servers with one id would both use its grant; with another
 * id, this server's promise is counted in addition. RENAME_USEC limits the rate if
 * the engine rejects every id. A server with a doubled id sends nothing. */
static void take_another_id(adm_usec_t now)
{
    all.is_doubled = false;
    all.rename_at = now + RENAME_USEC;
    all.setup->provider->close(all.engine);
    apr_pool_clear(all.pool);
    fleet_renew_id(all.self->segment, all.setup->self, all.setup->id_fd);
    open_engine();
}

static adm_usec_t lease(adm_child_t *self, adm_usec_t now, bool is_woken)
{
    adm_usec_t leases = adm_clock_since_boot();
    adm_usec_t next = leases + LONG_USEC;
    uint32_t n;

    (void)self;
    (void)is_woken;
    if (!all.setup) {
        return now + LONG_USEC;
    }
    all.setup->provider->work(all.engine, leases);
    if (all.is_doubled && leases >= all.rename_at) {
        take_another_id(leases);
    }
    for (n = 0; n < all.setup->count; n++) {
        adm_usec_t at = check_zone(n, leases);

        next = at < next ? at : next;
    }
    return now + (next - leases);
}

static unsigned prepare_poll(struct pollfd *descriptors, adm_usec_t *until)
{
    adm_usec_t wake_at;
    unsigned count;

    if (!all.setup) {
        return 0;
    }
    count = all.setup->provider->prepare_poll(all.engine, descriptors,
                                              &wake_at);
    wake_at += adm_now() - adm_clock_since_boot();
    *until = wake_at < *until ? wake_at : *until;
    return count;
}

/* ---- start and end --------------------------------------------------------------------- */

static void begin(adm_child_t *self, const void *setup, apr_pool_t *pool)
{
    const fleet_setup_t *fleet = setup;
    bool is_used = fleet && fleet->count > 0;
    const char **names;
    uint32_t n;

    all.setup = is_used ? fleet : NULL;
    fleet_engine_begin(self, is_used);
    if (!is_used) {
        return;
    }
    all.self = self;
    all.has_logged_connected = all.is_doubled = false;
    all.rename_at = 0;
    memset(all.next, 0, sizeof(all.next));
    apr_pool_create(&all.pool, pool);
    all.zones = apr_pcalloc(pool, fleet->count * sizeof(*all.zones));
    names = apr_pcalloc(pool, fleet->count * sizeof(*names));
    for (n = 0; n < fleet->count; n++) {
        names[n] = fleet->zones[n].name;
        all.zones[n].zone = &fleet->zones[n];
        all.zones[n].terms = fleet->zones[n].terms;
        choose_hold(&all.zones[n]);
        all.zones[n].has_lapsed = fleet_has_lapsed(self->segment,
                                                   fleet->zones[n].handle);
    }
    all.engine_setup = (engine_setup_t){ .address = fleet->address,
                                         .zones = names,
                                         .count = fleet->count,
                                         .callbacks = { .joined = joined,
                                                        .parted = parted,
                                                        .connected = connected,
                                                        .lost = lost,
                                                        .refused = refused,
                                                        .replied = replied,
                                                        .pushed = pushed } };
    apr_cpystrn(all.engine_setup.self.name, fleet->name, LAW_FLEET_NAME);
    open_engine();
}

static void end(adm_child_t *self, adm_usec_t now)
{
    adm_usec_t leases = adm_clock_since_boot();
    uint32_t n;

    for (n = 0; all.setup && !all.is_doubled && n < all.setup->count; n++) {
        shared_t *shared = &all.zones[n];
        law_fleet_sync_t sync;

        if (can_sync(shared)
            && fleet_promise(self, shared->zone->handle, 0, false, now,
                             &shared->work)
                   == APR_SUCCESS) {
            law_fleet_fill_sync(&shared->law, &shared->terms, &shared->work,
                                true, leases, &sync);
            all.setup->provider->sync(all.engine, n, &sync);
        }
    }
    if (all.setup) {
        all.setup->provider->close(all.engine);
    }
}

const agent_duty_t fleet_duty = {
    .begin = begin, .run = lease, .prepare_poll = prepare_poll, .end = end
};

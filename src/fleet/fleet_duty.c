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
#define LOG_USEC (60 * ADM_USEC_PER_SEC)
#define HOLD_LEAST_USEC (2 * ADM_USEC_PER_SEC)
#define WHO_USEC ADM_USEC_PER_SEC
#define RENAME_USEC ADM_USEC_PER_SEC /* minimum between two changes of the id */
#define LONG_USEC (3600 * ADM_USEC_PER_SEC)

typedef struct shared_t {
    const agent_share_t *zone;
    law_fleet_t law;
    law_fleet_work_t work;   /* when the last promise was made */
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
    _Atomic adm_usec_t next[FLEET_EVENTS]; /* earliest next log message */
} duty;

/* ---- log -------------------------------------------------------------------- */

/* Log an event at most once per LOG_USEC. @return whether it was logged. */
static bool log_rarely(const fleet_news_t *news)
{
    if (!adm_due(&duty.next[news->event], adm_now(), LOG_USEC)) {
        return false;
    }
    duty.setup->log_event(news);
    return true;
}

/* ---- callbacks of the engine --------------------------------------------------- */

static void joined(uint32_t zone, bool is_new_run, int64_t engine_msec,
                   int64_t now)
{
    law_fleet_connected(&duty.zones[zone].law, is_new_run, engine_msec, now);
    duty.zones[zone].is_joined = true;
}

static void parted(uint32_t zone)
{
    law_fleet_lost(&duty.zones[zone].law);
    duty.zones[zone].is_joined = false;
}

static void connected(bool is_other_run)
{
    if (!duty.has_logged_connected) {
        duty.setup->log_event(&(fleet_news_t){ .event = FLEET_EVENT_CONNECTED,
                                               .number = is_other_run });
    }
    duty.has_logged_connected = true;
    fleet_engine_count(duty.self, FLEET_ENGINE_CONNECT);
}

static void lost(const char *why)
{
    fleet_engine_count(duty.self, FLEET_ENGINE_ERROR);
    if (log_rarely(&(fleet_news_t){ .event = FLEET_EVENT_LOST, .why = why })) {
        duty.has_logged_connected = false;
    }
}

static void refused(uint32_t zone, const char *why)
{
    fleet_engine_count(duty.self, FLEET_ENGINE_ERROR);
    log_rarely(&(fleet_news_t){ .event = FLEET_EVENT_REFUSED,
                                .zone = duty.zones[zone].zone->name,
                                .why = why });
}

static void apply(const shared_t *shared, const law_fleet_share_t *share)
{
    /* On failure the share is unchanged, and the next sync reports that. */
    fleet_apply(duty.self, shared->zone->handle, share, adm_now());
}

static void log_about(fleet_event_t event, const shared_t *shared,
                      uint32_t number, uint32_t limit)
{
    log_rarely(&(fleet_news_t){ .event = event,
                                .zone = shared->zone->name,
                                .number = number,
                                .limit = limit });
}

/* Log a lower limit elsewhere; and grants above the limit, unless the engine learns. */
static void check_limits(const shared_t *shared, const law_fleet_reply_t *reply)
{
    if (reply->limit < shared->terms.limit) {
        log_about(FLEET_EVENT_LESS, shared, reply->limit, shared->terms.limit);
    }
    if (reply->reserved > reply->limit && reply->learning_msec == 0) {
        log_about(FLEET_EVENT_OVER, shared, reply->reserved, reply->limit);
    }
}

/* Count the reply, and log problems that it reports. */
static void count_reply(shared_t *shared, const law_fleet_reply_t *reply,
                        const law_fleet_who_t *who, int64_t now)
{
    fleet_engine_count_sync(duty.self, now - shared->law.sent_at);
    if (reply->status == LAW_FLEET_LATE) {
        fleet_engine_count(duty.self, FLEET_ENGINE_LATE);
        log_about(FLEET_EVENT_LATE, shared, 0, 0);
    }
    else if (reply->status == LAW_FLEET_STALE) {
        fleet_engine_count(duty.self, FLEET_ENGINE_STALE);
        log_about(FLEET_EVENT_DOUBLED, shared, 0, 0);
        duty.is_doubled = true;
    }
    else if (reply->status == LAW_FLEET_OK) {
        check_limits(shared, reply);
    }
    if (who->count > 0) {
        shared->who_at = now;
        fleet_engine_note_servers(duty.self, shared->zone->handle, who);
    }
}

static void replied(uint32_t zone, const law_fleet_reply_t *reply,
                    const law_fleet_who_t *who, int64_t now)
{
    shared_t *shared = &duty.zones[zone];
    law_fleet_share_t share;

    count_reply(shared, reply, who, now);
    if (!duty.is_doubled
        && law_fleet_accept_reply(&shared->law, &shared->terms, reply, now,
                                  &share)) {
        apply(shared, &share);
        fleet_note(duty.self, shared->zone->handle, reply);
    }
}

static void pushed(uint32_t zone, const law_fleet_push_t *push, int64_t now)
{
    shared_t *shared = &duty.zones[zone];
    law_fleet_share_t share;

    fleet_engine_count(duty.self, FLEET_ENGINE_PUSH);
    if (!duty.is_doubled
        && law_fleet_accept_push(&shared->law, &shared->terms, push, now,
                                 &share)) {
        apply(shared, &share);
    }
}

/* ---- syncs -------------------------------------------------------------------------- */

/* Log when the lease expires, and when the zone has one again. */
static void note_lease(shared_t *shared)
{
    bool has_lapsed = fleet_has_lapsed(duty.self->segment,
                                       shared->zone->handle);

    if (has_lapsed != shared->has_lapsed) {
        duty.setup->log_event(&(fleet_news_t){
            .event = has_lapsed ? FLEET_EVENT_LAPSED : FLEET_EVENT_LEASED,
            .zone = shared->zone->name });
    }
    shared->has_lapsed = has_lapsed;
}

/* Set the grace period: hold=, or twice the longest service time within bounds. */
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

/* Promise the current share. Idle permits are returned, and wake the agent, only if a
 * sync can follow now. Without the sync, this server would lose them until the engine
 * replies again, and no other server would get them. */
static apr_status_t promise_share(shared_t *shared, adm_usec_t now)
{
    bool can_send = can_sync(shared),
         is_tight = can_send && shared->law.is_tight;
    apr_status_t rv = fleet_promise(duty.self, shared->zone->handle,
                                    LAW_FLEET_AS_BEFORE, is_tight, adm_now(),
                                    &shared->work);
    uint32_t keep = law_fleet_keep(&shared->law, &shared->work, now);

    if (rv == APR_SUCCESS && can_send && keep < shared->work.share
        && shared->work.active < shared->work.share) {
        rv = fleet_promise(duty.self, shared->zone->handle, keep, is_tight,
                           adm_now(), &shared->work);
    }
    return rv;
}

/* Check a zone, and send its sync if it is due.
 * @return when to check again, on the clock of leases. */
static adm_usec_t check_zone(uint32_t n, adm_usec_t now)
{
    shared_t *shared = &duty.zones[n];
    const law_fleet_terms_t *terms = &shared->terms;
    law_fleet_sync_t sync;
    adm_usec_t due;

    note_lease(shared);
    if (promise_share(shared, now) != APR_SUCCESS) {
        return now + RETRY_USEC;
    }
    choose_hold(shared);
    due = law_fleet_due(&shared->law, terms, &shared->work, now);
    if (duty.is_doubled) {
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
    if (!duty.setup->provider->sync(duty.engine, n, &sync)) {
        law_fleet_lost(&shared->law);
        return now + RETRY_USEC;
    }
    return now + terms->lease_usec / 3;
}

static void open_engine(void)
{
    adm_usec_t now = adm_clock_since_boot();
    uint32_t n;

    for (n = 0; n < duty.setup->count; n++) {
        law_fleet_begin(&duty.zones[n].law, now);
        duty.zones[n].is_joined = false;
    }
    fleet_id(duty.self->segment, duty.setup->self, duty.engine_setup.self.id);
    apr_cpystrn(duty.engine_setup.self.predecessor,
                duty.setup->self->predecessor, LAW_FLEET_ID_LENGTH + 1);
    duty.engine = duty.setup->provider->open(duty.pool, &duty.engine_setup);
}

/* Take another id. Two servers with one id would both use its grant; with another
 * id, this server's promise is counted in addition. RENAME_USEC limits the rate if
 * the engine rejects every id. A server with a doubled id sends nothing. */
static void take_another_id(adm_usec_t now)
{
    duty.is_doubled = false;
    duty.rename_at = now + RENAME_USEC;
    duty.setup->provider->close(duty.engine);
    apr_pool_clear(duty.pool);
    fleet_renew_id(duty.self->segment, duty.setup->self, duty.setup->id_fd);
    open_engine();
}

/* Let the engine work, then check each zone. @return when the first zone is due. */
static adm_usec_t run(adm_child_t *self, adm_usec_t now, bool is_woken)
{
    adm_usec_t leases = adm_clock_since_boot();
    adm_usec_t next = leases + LONG_USEC;
    uint32_t n;

    (void)self;
    (void)is_woken;
    if (!duty.setup) {
        return now + LONG_USEC;
    }
    duty.setup->provider->work(duty.engine, leases);
    if (duty.is_doubled && leases >= duty.rename_at) {
        take_another_id(leases);
    }
    for (n = 0; n < duty.setup->count; n++) {
        adm_usec_t at = check_zone(n, leases);

        next = at < next ? at : next;
    }
    return now + (next - leases);
}

static unsigned prepare_poll(struct pollfd *descriptors, adm_usec_t *until)
{
    adm_usec_t wake_at;
    unsigned count;

    if (!duty.setup) {
        return 0;
    }
    count = duty.setup->provider->prepare_poll(duty.engine, descriptors,
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

    duty.setup = is_used ? fleet : NULL;
    fleet_engine_begin(self, is_used);
    if (!is_used) {
        return;
    }
    duty.self = self;
    duty.has_logged_connected = duty.is_doubled = false;
    duty.rename_at = 0;
    memset(duty.next, 0, sizeof(duty.next));
    apr_pool_create(&duty.pool, pool);
    duty.zones = apr_pcalloc(pool, fleet->count * sizeof(*duty.zones));
    names = apr_pcalloc(pool, fleet->count * sizeof(*names));
    for (n = 0; n < fleet->count; n++) {
        names[n] = fleet->zones[n].name;
        duty.zones[n].zone = &fleet->zones[n];
        duty.zones[n].terms = fleet->zones[n].terms;
        choose_hold(&duty.zones[n]);
        duty.zones[n].has_lapsed = fleet_has_lapsed(self->segment,
                                                    fleet->zones[n].handle);
    }
    duty.engine_setup = (engine_setup_t){ .address = fleet->address,
                                          .zones = names,
                                          .count = fleet->count,
                                          .callbacks = { .joined = joined,
                                                         .parted = parted,
                                                         .connected = connected,
                                                         .lost = lost,
                                                         .refused = refused,
                                                         .replied = replied,
                                                         .pushed = pushed } };
    apr_cpystrn(duty.engine_setup.self.name, fleet->name, LAW_FLEET_NAME);
    open_engine();
}

/* Return the permits that are not in use, so that other servers get them now. */
static void end(adm_child_t *self, adm_usec_t now)
{
    adm_usec_t leases = adm_clock_since_boot();
    uint32_t n;

    for (n = 0; duty.setup && !duty.is_doubled && n < duty.setup->count; n++) {
        shared_t *shared = &duty.zones[n];
        law_fleet_sync_t sync;

        if (can_sync(shared)
            && fleet_promise(self, shared->zone->handle, 0, false, now,
                             &shared->work)
                   == APR_SUCCESS) {
            law_fleet_fill_sync(&shared->law, &shared->terms, &shared->work,
                                true, leases, &sync);
            duty.setup->provider->sync(duty.engine, n, &sync);
        }
    }
    if (duty.setup) {
        duty.setup->provider->close(duty.engine);
    }
}

const agent_duty_t fleet_duty = {
    .begin = begin, .run = run, .prepare_poll = prepare_poll, .end = end
};

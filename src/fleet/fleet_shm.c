/* fleet_shm.c - limits across servers, in shared memory. */
#include <string.h>
#include <unistd.h>

#include <apr_escape.h>

#include "core/adm_fault.h"
#include "fleet_shm.h"
#include "core/adm_limit.h"
#include "core/adm_segment.h"
#include "core/adm_zone.h"
#include "core/adm_number.h"
#include "core/adm_seqlock.h"

const adm_part_t adm_part_fleet = { .of_server = sizeof(fleet_engine_rec_t),
                                    .of_zone = sizeof(fleet_rec_t) };

_Static_assert(FLEET_ID_ROOM == 2 * ADM_SECRET_LENGTH + 1,
               "an id is a secret in hexadecimal digits");

/* Choose the events that wake the agent: the first request that waits; and a released
 * permit, while more are in use than the share, or other servers are short. */
static void choose_wake_events_locked(adm_zone_rec_t *zone, bool is_tight)
{
    uint32_t share = adm_limit_of_source(zone, ADM_LIMIT_SHARE);
    unsigned watch = atomic_load(&zone->queued) ? 0 : ADM_WATCH_QUEUE;

    if (is_tight || atomic_load(&zone->active) > share) {
        watch |= ADM_WATCH_BACK;
    }
    adm_zone_watch_locked(zone, ADM_WATCH_QUEUE | ADM_WATCH_BACK, watch);
}

/* @return the share; 0 once its lease has expired, unless fallback=keep. */
static uint32_t valid_share(const adm_zone_rec_t *zone)
{
    uint32_t share = adm_limit_of_source(zone, ADM_LIMIT_SHARE);
    bool is_kept = atomic_load(&zone->share_fallback) == ADM_FALLBACK_KEEP;

    return is_kept || adm_limit_has_lease(zone) ? share : 0;
}

apr_status_t fleet_promise(adm_child_t *self, adm_zone_t zone, uint32_t keep,
                           bool is_tight, adm_usec_t now,
                           law_fleet_work_t *work)
{
    adm_segment_t *segment = self->segment;
    apr_status_t rv;
    uint32_t share, active;
    adm_zone_rec_t *rec = adm_zone_open(segment, zone, now, &rv);

    if (!rec) {
        return rv;
    }
    active = atomic_load(&rec->active);
    share = valid_share(rec);
    if (share > adm_greater(active, keep)) {
        share = adm_greater(active, keep);
    }
    if (share != adm_limit_of_source(rec, ADM_LIMIT_SHARE)) {
        adm_limit_set(rec, ADM_LIMIT_SHARE, share);
        ADM_FAULT(fleet_lowered);
    }
    *work = (law_fleet_work_t){
        .share = share,
        .active = active,
        .queued = atomic_load(&rec->queued),
        .other_limit = adm_limit_without_share(rec),
        .oldest_usec = adm_oldest_wait_locked(segment, rec, now),
        .longest_usec = (adm_usec_t)rec->figures.service.max_usec
    };
    atomic_store(&rec->share_bound, adm_greater(share, active));
    ADM_FAULT(fleet_promised);
    choose_wake_events_locked(rec, is_tight);
    adm_zone_unlock(segment, rec, now);
    return APR_SUCCESS;
}

apr_status_t fleet_apply(adm_child_t *self, adm_zone_t zone,
                         const law_fleet_share_t *share, adm_usec_t now)
{
    adm_segment_t *segment = self->segment;
    apr_status_t rv;
    adm_zone_rec_t *rec = adm_zone_open(segment, zone, now, &rv);

    if (!rec) {
        return rv;
    }
    /* If the agent was stopped meanwhile, the lease might have expired. */
    if (adm_clock_since_boot() < share->until_usec) {
        if (share->share != LAW_FLEET_AS_BEFORE) {
            atomic_store(&rec->share_bound,
                         adm_greater(atomic_load(&rec->share_bound),
                                     share->share));
            adm_limit_set(rec, ADM_LIMIT_SHARE, share->share);
            ADM_FAULT(fleet_set);
        }
        atomic_store(&rec->share_until, share->until_usec);
        atomic_store(&rec->share_had_lease, 1);
        ADM_FAULT(fleet_leased);
        choose_wake_events_locked(rec, false);
    }
    adm_zone_unlock(segment, rec, now); /* grants the new permits */
    return APR_SUCCESS;
}

bool fleet_has_lapsed(const adm_segment_t *segment, adm_zone_t zone)
{
    const adm_zone_rec_t *rec = adm_zone_at(segment, zone.idx);

    return rec && !adm_limit_has_lease(rec);
}

void fleet_begin_self(fleet_self_t *self)
{
    *self = (fleet_self_t){ .fd = 0 };
    adm_segment_random(self->id, sizeof(self->id));
}

void fleet_id(const adm_segment_t *segment, const fleet_self_t *self,
              char id[FLEET_ID_ROOM])
{
    unsigned char bytes[ADM_SECRET_LENGTH];
    uint64_t salt = atomic_load(&fleet_engine_rec_of(segment)->salt);
    size_t n;

    memcpy(bytes, self->id, sizeof(bytes));
    for (n = 0; n < sizeof(salt); n++) {
        bytes[n] ^= (unsigned char)(salt >> 8 * n);
    }
    apr_escape_hex(id, bytes, sizeof(bytes), 0, NULL);
}

void fleet_renew_id(adm_segment_t *segment, const fleet_self_t *self, int id_fd)
{
    uint64_t salt;

    if (self->fd > 0 && ftruncate(id_fd, 0) != 0) {
        return; /* the successor would take over the other server's share */
    }
    adm_segment_random(&salt, sizeof(salt));
    atomic_store(&fleet_engine_rec_of(segment)->salt, salt);
}

/* ---- outputs ---------------------------------------------------------------- */

void fleet_note(adm_child_t *self, adm_zone_t zone,
                const law_fleet_reply_t *reply)
{
    fleet_rec_t *rec = fleet_rec_at(self->segment, zone);

    if (!rec) {
        return;
    }
    adm_words_store(rec->reply, reply, sizeof(*reply));
    atomic_store(&rec->learns_until,
                 adm_clock_since_boot()
                     + reply->learning_msec * ADM_USEC_PER_MSEC);
}

const char *fleet_state_name(fleet_state_t state)
{
    static const char *const names[] = { [FLEET_OFF] = "off",
                                         [FLEET_LEASED] = "leased",
                                         [FLEET_LEARNING] = "learning",
                                         [FLEET_FALLBACK] = "fallback" };

    return names[state];
}

static adm_usec_t left(adm_usec_t until, adm_usec_t now)
{
    return until > now ? until - now : 0;
}

void fleet_view(const adm_segment_t *segment, adm_zone_t zone, fleet_t *shown)
{
    const fleet_rec_t *rec = fleet_rec_at(segment, zone);
    const adm_zone_rec_t *of_zone = adm_zone_at(segment, zone.idx);
    adm_usec_t now = adm_clock_since_boot();

    *shown = (fleet_t){ .state = FLEET_OFF };
    if (!rec || !of_zone
        || adm_limit_of_source(of_zone, ADM_LIMIT_SHARE) == ADM_LIMIT_NONE) {
        return;
    }
    *shown = (fleet_t){
        .share = adm_limit_of_source(of_zone, ADM_LIMIT_SHARE),
        .lease_usec = left(atomic_load(&of_zone->share_until), now),
        .learning_usec = left(atomic_load(&rec->learns_until), now)
    };
    adm_words_load(rec->reply, &shown->reply, sizeof(shown->reply));
    shown->state = shown->lease_usec == 0      ? FLEET_FALLBACK
                   : shown->learning_usec != 0 ? FLEET_LEARNING
                                               : FLEET_LEASED;
}

/* ---- the connection --------------------------------------------------------- */

void fleet_engine_begin(adm_child_t *self, bool is_wanted)
{
    atomic_store(&fleet_engine_rec_of(self->segment)->state,
                 is_wanted ? FLEET_ENGINE_LOST : FLEET_ENGINE_OFF);
}

void fleet_engine_count(adm_child_t *self, fleet_engine_event_t event)
{
    fleet_engine_rec_t *rec = fleet_engine_rec_of(self->segment);

    atomic_fetch_add(&rec->counts[event], 1);
    if (event == FLEET_ENGINE_CONNECT) {
        atomic_store(&rec->state, FLEET_ENGINE_CONNECTED);
    }
    else if (event == FLEET_ENGINE_ERROR) {
        atomic_store(&rec->state, FLEET_ENGINE_LOST);
    }
}

void fleet_engine_count_sync(adm_child_t *self, adm_usec_t took_usec)
{
    fleet_engine_rec_t *rec = fleet_engine_rec_of(self->segment);
    uint64_t took = took_usec > 0 ? (uint64_t)took_usec : 0;

    fleet_engine_count(self, FLEET_ENGINE_SYNC);
    atomic_fetch_add(&rec->round_trip_usec, took);
    if (took > atomic_load(&rec->round_trip_max_usec)) {
        atomic_store(&rec->round_trip_max_usec, took);
    }
}

const char *fleet_engine_state_name(fleet_engine_state_t state)
{
    return state == FLEET_ENGINE_CONNECTED ? "connected"
           : state == FLEET_ENGINE_LOST    ? "lost"
                                           : "off";
}

void fleet_engine_view(const adm_segment_t *segment, fleet_engine_t *shown)
{
    fleet_engine_rec_t *rec = fleet_engine_rec_of(segment);
    uint64_t syncs;
    int event;

    for (event = 0; event < FLEET_ENGINE_EVENTS; event++) {
        shown->counts[event] = atomic_load(&rec->counts[event]);
    }
    syncs = shown->counts[FLEET_ENGINE_SYNC];
    shown->state = (fleet_engine_state_t)atomic_load(&rec->state);
    shown->mean_usec = syncs ? (adm_usec_t)(atomic_load(&rec->round_trip_usec)
                                            / syncs)
                             : 0;
    shown->max_usec = (adm_usec_t)atomic_load(&rec->round_trip_max_usec);
}

/* ---- the servers that share a limit -------------------------------------------- */

void fleet_engine_note_servers(adm_child_t *self, adm_zone_t zone,
                               const law_fleet_who_t *who)
{
    fleet_rec_t *rec = fleet_rec_at(self->segment, zone);

    if (!rec) {
        return;
    }
    atomic_fetch_or(&rec->who_sequence, 1);
    ADM_FAULT(engine_who);
    adm_words_store(rec->who, who, sizeof(*who));
    atomic_store(&rec->who_at, adm_clock_since_boot());
    atomic_fetch_add(&rec->who_sequence, 1);
}

bool fleet_engine_servers(const adm_segment_t *segment, adm_zone_t zone,
                          law_fleet_who_t *who, adm_usec_t *age_usec)
{
    const fleet_rec_t *rec = fleet_rec_at(segment, zone);
    unsigned before;
    adm_usec_t at;
    uint32_t n;

    if (!rec || atomic_load(&rec->who_at) == 0) {
        return false;
    }
    before = atomic_load(&rec->who_sequence);
    adm_words_load(rec->who, who, sizeof(*who));
    at = atomic_load(&rec->who_at);
    if (before % 2 || before != atomic_load(&rec->who_sequence)) {
        return false;
    }
    for (n = 0; n < LAW_FLEET_SERVERS; n++) {
        who->servers[n].name[LAW_FLEET_NAME - 1] = '\0';
    }
    *age_usec = adm_clock_since_boot() - at;
    return who->count <= LAW_FLEET_SERVERS;
}

/* fleet_engine.c - statistics of the engine and the servers that share a limit.
 * Written by fleet_duty, shown by fleet.
 */
#include "fleet_engine.h"
#include "core/adm_fault.h"
#include "fleet_shm.h"
#include "core/adm_seqlock.h"

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

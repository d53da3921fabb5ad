/* adm_weigh.c - what kinds of programs cost.
 * Called by src/agent and the module.
 *
 * The agent writes what it has learnt, requests read it, and nobody takes a lock:
 * each word is true enough by itself. A cost never lets more run than the limit.
 */
#include "adm_layout.h"
#include "adm_weigh.h"

static adm_weigh_rec_t *rec_at(const adm_segment_t *segment, adm_zone_t zone)
{
    return zone.idx - 1 < segment->sizes.zones
               ? &segment->auto_recs[zone.idx - 1].weigh
               : NULL;
}

static bool is_current(const adm_segment_t *segment, adm_zone_t zone,
                       const adm_weigh_rec_t *rec)
{
    return atomic_load_explicit(&rec->of_began, memory_order_relaxed)
           == atomic_load_explicit(&segment->auto_recs[zone.idx - 1].began,
                                   memory_order_relaxed);
}

uint32_t adm_weigh_cost(const adm_segment_t *segment, adm_zone_t zone,
                        uint32_t kind)
{
    const adm_weigh_rec_t *rec = rec_at(segment, zone);
    uint32_t n, way;

    if (!rec || kind == 0 || !is_current(segment, zone, rec)) {
        return 1;
    }
    n = law_weigh_set(kind);
    for (way = 0; way < LAW_WEIGH_WAYS; way++, n++) {
        if (atomic_load_explicit(&rec->kinds[n].name, memory_order_relaxed)
            == kind) {
            return law_weigh_cost(atomic_load(&rec->kinds[n].kb),
                                  atomic_load(&rec->unit_kb),
                                  atomic_load(&rec->most));
        }
    }
    return 1;
}

void adm_weigh_read(const adm_segment_t *segment, adm_zone_t zone,
                    law_weigh_t *weigh)
{
    const adm_weigh_rec_t *rec = rec_at(segment, zone);
    uint32_t n;

    *weigh = (law_weigh_t){ .unit_kb = 0 };
    if (!rec || !is_current(segment, zone, rec)) {
        return;
    }
    weigh->unit_kb = atomic_load(&rec->unit_kb);
    weigh->most = atomic_load(&rec->most);
    weigh->last_sec = atomic_load(&rec->last_sec);
    for (n = 0; n < sizeof(rec->kinds) / sizeof(*rec->kinds); n++) {
        weigh->kinds[n] = (law_weigh_kind_t){
            .name = atomic_load(&rec->kinds[n].name),
            .kb = atomic_load(&rec->kinds[n].kb),
            .seen_sec = atomic_load(&rec->kinds[n].seen_sec)
        };
    }
}

static void write_kind(adm_kind_rec_t *rec, const law_weigh_kind_t *kind)
{
    atomic_store_explicit(&rec->name, kind->name, memory_order_relaxed);
    atomic_store_explicit(&rec->kb, kind->kb, memory_order_relaxed);
    atomic_store_explicit(&rec->seen_sec, kind->seen_sec, memory_order_relaxed);
}

void adm_weigh_write(adm_segment_t *segment, adm_zone_t zone,
                     const law_weigh_t *weigh)
{
    adm_weigh_rec_t *rec = rec_at(segment, zone);
    uint32_t n;

    if (!rec) {
        return;
    }
    for (n = 0; n < sizeof(rec->kinds) / sizeof(*rec->kinds); n++) {
        write_kind(&rec->kinds[n], &weigh->kinds[n]);
    }
    atomic_store(&rec->last_sec, weigh->last_sec);
    atomic_store(&rec->most, weigh->most);
    atomic_store(&rec->unit_kb, weigh->unit_kb);
    atomic_store(&rec->of_began,
                 atomic_load(&segment->auto_recs[zone.idx - 1].began));
}

/* law_weigh.c - what a kind of program costs.
 * Called by src/core and src/agent.
 */
#include <stdbool.h>
#include <stddef.h>

#include "law_weigh.h"

/* A kind of which none has ended while others did, for so long, costs what it did
 * but counts no more. */
#define STALE_SEC 600

/* A larger program moves what its kind takes by half of the difference, a smaller one
 * by an eighth: it may have been seen last before it was as large as it became. */
#define RISES 2
#define FALLS 8

/* The unit stays while the one that it should be is within a quarter of it: each
 * change of it is another world for the limit. */
#define IS_NEAR(a, b) (4 * (uint64_t)(a) <= 5 * (uint64_t)(b))

static bool is_fresh(const law_weigh_t *weigh, const law_weigh_kind_t *kind)
{
    return kind->name != 0 && kind->kb != 0
           && weigh->last_sec - kind->seen_sec < STALE_SEC;
}

uint32_t law_weigh_cost_of(const law_weigh_t *weigh, uint32_t name)
{
    const law_weigh_kind_t *kind = &weigh->kinds[law_weigh_set(name)];
    uint32_t way;

    for (way = 0; way < LAW_WEIGH_WAYS; way++) {
        if (kind[way].name == name) {
            return law_weigh_cost(kind[way].kb, weigh->unit_kb, weigh->most);
        }
    }
    return 1;
}

/* Its place, or that of one that counts no more, or of the lightest. Who is not known
 * costs 1: so it is the heavy ones that have to be known. */
static law_weigh_kind_t *place_of(law_weigh_t *weigh, uint32_t name)
{
    law_weigh_kind_t *kind = &weigh->kinds[law_weigh_set(name)];
    law_weigh_kind_t *least = NULL;
    uint32_t way, least_kb = UINT32_MAX;

    for (way = 0; way < LAW_WEIGH_WAYS; way++) {
        uint32_t kb = is_fresh(weigh, &kind[way]) ? kind[way].kb : 0;

        if (kind[way].name == name) {
            return &kind[way];
        }
        if (!least || kb < least_kb) {
            least = &kind[way];
            least_kb = kb;
        }
    }
    return least;
}

void law_weigh_note(law_weigh_t *weigh, uint32_t name, uint32_t kb,
                    uint32_t now_sec)
{
    law_weigh_kind_t *kind = place_of(weigh, name);

    if (name == 0 || kb == 0) {
        return;
    }
    weigh->last_sec = now_sec;
    if (kind->name != name) {
        if (is_fresh(weigh, kind) && kind->kb > kb) {
            return;
        }
        *kind = (law_weigh_kind_t){ .name = name, .kb = kb };
    }
    if (kb > kind->kb) {
        kind->kb += (kb - kind->kb) / RISES;
    }
    else {
        kind->kb -= (kind->kb - kb) / FALLS;
    }
    kind->seen_sec = now_sec;
}

void law_weigh_settle(law_weigh_t *weigh, uint64_t budget_kb, uint32_t max)
{
    /* Where each may have much, small differences are of no interest. */
    uint64_t least = max ? budget_kb / max : 0;
    uint64_t smallest = UINT32_MAX, unit;
    uint32_t n;

    for (n = 0; n < LAW_WEIGH_SETS * LAW_WEIGH_WAYS; n++) {
        if (is_fresh(weigh, &weigh->kinds[n])
            && weigh->kinds[n].kb < smallest) {
            smallest = weigh->kinds[n].kb;
        }
    }
    if (smallest == UINT32_MAX) {
        return;
    }
    unit = smallest > least ? smallest : least;
    unit = unit < UINT32_MAX ? unit : UINT32_MAX;
    if (weigh->unit_kb == 0 || !IS_NEAR(unit, weigh->unit_kb)
        || !IS_NEAR(weigh->unit_kb, unit)) {
        weigh->unit_kb = (uint32_t)unit;
    }
    budget_kb /= weigh->unit_kb;
    weigh->most = budget_kb < max ? (uint32_t)budget_kb : max;
}

uint32_t law_weigh_dearest(const law_weigh_t *weigh)
{
    uint32_t dearest = 1, cost, n;

    for (n = 0; n < LAW_WEIGH_SETS * LAW_WEIGH_WAYS; n++) {
        cost = law_weigh_cost(weigh->kinds[n].kb, weigh->unit_kb, weigh->most);
        if (is_fresh(weigh, &weigh->kinds[n]) && cost > dearest) {
            dearest = cost;
        }
    }
    return dearest;
}

/* test_orders.c - stories in which somebody sets a limit: the agent, an administrator. */
#include "test_scenes.h"

#include "../unit/test_support.h"
#include "auto/auto_shm.h"
#include "core/adm_limit.h"

/* An administrator has it at 1, and opens the zone. */
bool order_one(adm_child_t *child)
{
    adm_override_t before, after,
        wanted = { .limit = 1, .queue_length = ADM_OVERRIDE_KEEP, .mode = ADM_MODE_OPEN };

    return adm_override_set(child, zone, &wanted, adm_now(), &before, &after) == APR_SUCCESS;
}

int override_limit(void *unused)
{
    child = join();
    arm();
    NEED(order_one(child));
    return 0;
}

/* What the agent does with a limit that finds itself. */
void tune(adm_child_t *child)
{
    const law_tune_t state = { .version = LAW_TUNE_VERSION };

    atomic_store(&rec_of_zone(zone)->measured_began, 1);
    auto_write(segment, zone, &state, 1, adm_now());
    auto_set(child, zone, 1, adm_now());
}

int tune_only(void *unused)
{
    child = join();
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
    arm();
    tune(child);
    return 0;
}

/* test_shares.c - stories of the agent of a fleet. */
#include "test_scenes.h"

#include "../unit/test_support.h"
#include "fleet/fleet_shm.h"
#include "core/adm_limit.h"

/* The zone has a share, kept whatever happens. */
static adm_child_t *join_with_share(uint32_t share)
{
    child = join();
    if (child) {
        adm_segment_share(segment, zone, ADM_FALLBACK_KEEP);
        adm_limit_set(rec_of_zone(zone), ADM_LIMIT_CONFIGURED, 1);
        adm_limit_set(rec_of_zone(zone), ADM_LIMIT_SHARE, share);
    }
    return child;
}

/* The zone is shared for a while: nothing, then one. */
bool share(adm_child_t *child)
{
    const law_fleet_share_t one = { .share = 1,
                                    .until_usec = adm_clock_since_boot() + 10 * ADM_USEC_PER_SEC };
    const law_fleet_who_t who = { .count = 1 };
    adm_ticket_t ticket;
    law_fleet_work_t work;

    adm_segment_share(segment, zone, ADM_FALLBACK_KEEP);
    adm_limit_set(rec_of_zone(zone), ADM_LIMIT_SHARE, 20);
    if (fleet_promise(child, zone, 0, false, adm_now(), &work) != APR_SUCCESS) {
        return false;
    }
    if (enter(child, zone, &ticket) == ADM_WAITING) {
        adm_ticket_cancel(&ticket, ADM_GONE, adm_now());
    }
    else {
        adm_ticket_release(&ticket, adm_now());
    }
    if (fleet_apply(child, zone, &one, adm_now()) != APR_SUCCESS) {
        return false;
    }
    adm_segment_share(segment, zone, ADM_FALLBACK_NONE);
    fleet_engine_note_servers(child, zone, &who);
    return true;
}

void share_again(adm_child_t *child)
{
    const law_fleet_share_t one = { .share = 1,
                                    .until_usec = adm_clock_since_boot() + 10 * ADM_USEC_PER_SEC };

    if (adm_limit_of_source(rec_of_zone(zone), ADM_LIMIT_SHARE) != ADM_LIMIT_NONE) {
        fleet_apply(child, zone, &one, adm_now());
    }
}

int share_lowered(void *unused)
{
    adm_child_t *child = join_with_share(2);
    law_fleet_work_t work;

    arm();
    NEED(fleet_promise(child, zone, 1, false, adm_now(), &work) == APR_SUCCESS);
    return 0;
}

int share_granted(void *unused)
{
    adm_child_t *child = join_with_share(0);
    const law_fleet_share_t share = {
        .share = 1, .until_usec = adm_clock_since_boot() + 10 * ADM_USEC_PER_SEC
    };

    arm();
    NEED(fleet_apply(child, zone, &share, adm_now()) == APR_SUCCESS);
    return 0;
}

int share_awaited(void *unused)
{
    adm_child_t *child = join_with_share(1);
    law_fleet_work_t work;
    adm_ticket_t ticket;

    NEED(fleet_promise(child, zone, 1, false, adm_now(), &work) == APR_SUCCESS);
    arm();
    NEED(enter(child, zone, &ticket) == ADM_WAITING);
    return 0;
}

int sharers_noted(void *unused)
{
    const law_fleet_who_t who = { .count = 1, .servers = { { .name = "one" } } };
    child = join();
    arm();
    fleet_engine_note_servers(child, zone, &who);
    return 0;
}

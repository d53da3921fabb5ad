/* park_lease.c - the zones that this child's dispatcher looks after.
 *
 * A permit that is handed to a parked request can be used when a worker of its
 * child is idle. When there is none for GRACE_USEC the dispatcher says so, and
 * the permit goes to a waiter that can run; when the dispatcher cannot say so,
 * its process being stopped, another child's finds the lease over.
 */
#include <httpd.h>
#include <scoreboard.h>

#include "park_lease.h"
#include "park_mpm.h"
#include "module/capacity.h"

/* A worker that is about to be idle takes less. */
#define GRACE_USEC (20 * ADM_USEC_PER_MSEC)

/* Of so many zones at once; for the others there is the dispatcher's round. */
#define WATCHED_MAX 64

static struct {
    adm_zone_t zone;
    adm_usec_t look_at;
} watched[WATCHED_MAX];
static int watched_count;

static void look_at(adm_zone_t zone, adm_usec_t when)
{
    int i;

    for (i = 0; i < watched_count; i++) {
        if (watched[i].zone.idx == zone.idx) {
            if (when < watched[i].look_at) {
                watched[i].look_at = when;
            }
            return;
        }
    }
    if (watched_count < WATCHED_MAX) {
        watched[watched_count].zone = zone;
        watched[watched_count].look_at = when;
        watched_count++;
    }
}

void admission_lease_expect_begin(adm_zone_t zone, adm_usec_t now)
{
    look_at(zone, now + GRACE_USEC);
}

void admission_lease_watch(adm_zone_t zone, adm_usec_t now)
{
    look_at(zone, now);
}

adm_usec_t admission_lease_next(adm_usec_t latest)
{
    int i;

    for (i = 0; i < watched_count; i++) {
        if (watched[i].look_at < latest) {
            latest = watched[i].look_at;
        }
    }
    return latest;
}

/* ---- idle workers --------------------------------------------------------- */

static bool is_idle(const worker_score *worker)
{
    /* The latter in a child that ends. */
    return worker
           && (worker->status == SERVER_READY
               || worker->status == SERVER_GRACEFUL);
}

bool admission_lease_has_idle_worker(void)
{
    int slot = admission_mpm_slot(), threads = admission_capacity_threads(), i;

    for (i = 0; slot >= 0 && i < threads; i++) {
        if (is_idle(ap_get_scoreboard_worker_from_indexes(slot, i))) {
            return true;
        }
    }
    return slot < 0;
}

/* ---- the visit ------------------------------------------------------------ */

void admission_lease_visit(adm_child_t *child, adm_usec_t now)
{
    int i, kept = 0;

    for (i = 0; i < watched_count; i++) {
        adm_usec_t when = watched[i].look_at;

        if (when <= now) {
            when = adm_lease_look(child, watched[i].zone, now);
        }
        if (when) {
            watched[kept].zone = watched[i].zone;
            watched[kept].look_at = when > now ? when : now + 1;
            kept++;
        }
    }
    watched_count = kept;
}

/* park_lease.c - zones in which this child's dispatcher checks that granted
 * permits are used.
 *
 * A parked request needs an idle worker of its child to use a permit. If the
 * child has none for a while, its dispatcher reports that, and the permit is
 * passed on to a waiter that can run. If the child's process is stopped and
 * cannot report, the dispatcher of another child finds that the lease has
 * expired.
 */
#include <httpd.h>
#include <scoreboard.h>

#include "park_lease.h"
#include "park_mpm.h"
#include "module/capacity.h"

/* Zones watched at a time. Further ones are checked in the dispatcher's
 * round. */
#define WATCHED_MAX 64

static struct {
    adm_zone_t zone;
    adm_usec_t check_at;
} watched[WATCHED_MAX];
static int watched_count;

/* A zone beyond WATCHED_MAX is left to the dispatcher's next round. */
void admission_lease_watch(adm_zone_t zone, adm_usec_t when)
{
    int i;

    for (i = 0; i < watched_count; i++) {
        if (watched[i].zone.idx == zone.idx) {
            if (when < watched[i].check_at) {
                watched[i].check_at = when;
            }
            return;
        }
    }
    if (watched_count < WATCHED_MAX) {
        watched[watched_count].zone = zone;
        watched[watched_count].check_at = when;
        watched_count++;
    }
}

adm_usec_t admission_lease_next(adm_usec_t latest)
{
    int i;

    for (i = 0; i < watched_count; i++) {
        if (watched[i].check_at < latest) {
            latest = watched[i].check_at;
        }
    }
    return latest;
}

/* ---- idle workers --------------------------------------------------------- */

static bool is_idle(const worker_score *worker)
{
    /* SERVER_GRACEFUL: idle in a child that is ending */
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

/* ---- check ---------------------------------------------------------------- */

void admission_lease_check(adm_child_t *child, adm_usec_t now)
{
    int i, kept = 0;

    for (i = 0; i < watched_count; i++) {
        adm_usec_t when = watched[i].check_at;

        if (when <= now) {
            when = adm_lease_check(child, watched[i].zone, now);
        }
        if (when) {
            watched[kept].zone = watched[i].zone;
            watched[kept].check_at = when > now ? when : now + 1;
            kept++;
        }
    }
    watched_count = kept;
}

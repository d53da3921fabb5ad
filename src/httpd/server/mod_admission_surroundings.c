/* mod_admission_surroundings.c - warn at start of what else the server does that
 * weakens a limit.
 *
 * Only of what the module can know: what is loaded, what the configuration says,
 * what a child sees in /proc. docs/manual has the rest.
 */
#include <httpd.h>
#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>
#include <apr_shm.h>
#include <apr_strings.h>
#include <http_log.h>
#include <unixd.h>

#include "config/mod_admission_said.h"
#include "config/mod_admission_zones.h"
#include "server/mod_admission_capacity.h"
#include "server/mod_admission_process.h"
#include "server/mod_admission_surroundings.h"

APLOG_USE_MODULE(admission);

static void warn_of_suexec(server_rec *s, apr_pool_t *p)
{
    if (ap_find_linked_module("mod_cgid.c")
        && ap_find_linked_module("mod_suexec.c")
        && ap_unixd_config.suexec_enabled
        && admission_said_anywhere(p, "SuexecUserGroup", NULL)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0113)
                     "SuexecUserGroup is used with mod_cgid: programs of other "
                     "users cannot be observed, so when clients leave early "
                     "more of them may run than MaxConcurrent allows; mod_cgi "
                     "keeps the limit");
    }
}

static const admission_zone_t *largest_zone(void)
{
    const apr_array_header_t *zones = admission_zones();
    const admission_zone_t *largest = NULL;
    int i;

    for (i = 0; i < zones->nelts; i++) {
        const admission_zone_t *zone = APR_ARRAY_IDX(zones, i,
                                                     admission_zone_t *);

        if (!largest
            || zone->limit + zone->queue_length
                   > largest->limit + largest->queue_length) {
            largest = zone;
        }
    }
    return largest;
}

/* A client has its streams on one connection, so in one child. */
static void warn_of_http2(server_rec *s, apr_pool_t *p)
{
    const admission_zone_t *zone = largest_zone();
    int room = admission_capacity_http2_room(s);

    if (zone->limit + zone->queue_length > room
        && ap_find_linked_module("mod_http2.c")
        && (admission_said_anywhere(p, "Protocols", "h2")
            || admission_said_anywhere(p, "Protocols", "h2c"))) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0115)
                     "zone %s (%s): MaxConcurrent %d and AdmissionQueue %d "
                     "accept %d requests, but each child has room for %d "
                     "HTTP/2 streams in zones: requests beyond that are "
                     "rejected; raise H2MaxWorkers or lower AdmissionQueue",
                     zone->name, zone->place, zone->limit, zone->queue_length,
                     zone->limit + zone->queue_length, room);
    }
}

/* Whether some child has warned, since the last start or restart. */
static atomic_int *has_warned_of_proc;

static void prepare_warning_of_proc(apr_pool_t *pconf)
{
    apr_shm_t *shm;

    if (ap_find_linked_module("mod_cgid.c")
        && apr_shm_create(&shm, sizeof(*has_warned_of_proc), NULL, pconf)
               == APR_SUCCESS) {
        has_warned_of_proc = apr_shm_baseaddr_get(shm);
        atomic_init(has_warned_of_proc, 0);
    }
}

int admission_surroundings_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                       apr_pool_t *ptemp, server_rec *s)
{
    (void)plog;
    has_warned_of_proc = NULL;
    if (admission_process_segment() && admission_zones()->nelts) {
        warn_of_suexec(s, ptemp);
        warn_of_http2(s, ptemp);
        prepare_warning_of_proc(pconf);
    }
    return OK;
}

/* The parent may see more than its children do. What hides the parent from them
 * (hidepid) hides mod_cgid's daemon, too: both began as root, or neither. */
void admission_surroundings_child_init(apr_pool_t *pchild, server_rec *s)
{
    char path[64];

    (void)pchild;
    if (!has_warned_of_proc) {
        return;
    }
    apr_snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
                 (int)getppid(), (int)getppid());
    if (access(path, R_OK) != 0 && !atomic_exchange(has_warned_of_proc, 1)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s, ADMLOGNO(0114)
                     "%s cannot be read: the end of mod_cgid's programs cannot "
                     "be observed, so after the crash of a child its permits "
                     "can stay taken for as long as Timeout; mount /proc "
                     "without hidepid, or with gid= of httpd's group",
                     path);
    }
}

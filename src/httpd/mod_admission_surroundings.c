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

#include "mod_admission_private.h"

APLOG_USE_MODULE(admission);

/* ---- the configuration ------------------------------------------------------------ */

/* @return whether the directive has this name, and this word among its
 * arguments; NULL: any. */
static int says(const ap_directive_t *directive, const char *name,
                const char *word, apr_pool_t *p)
{
    const char *args = directive->args;

    if (strcasecmp(directive->directive, name) != 0) {
        return 0;
    }
    while (word && args && *args) {
        if (strcasecmp(ap_getword_conf(p, &args), word) == 0) {
            return 1;
        }
    }
    return !word;
}

/* The same of any directive, in whatever section. */
static int is_configured(const char *name, const char *word, apr_pool_t *p)
{
    apr_array_header_t *sections = apr_array_make(p, 8,
                                                  sizeof(ap_directive_t *));
    const ap_directive_t *directive;

    APR_ARRAY_PUSH(sections, const ap_directive_t *) = ap_conftree;
    while (sections->nelts) {
        directive = *(const ap_directive_t **)apr_array_pop(sections);
        for (; directive; directive = directive->next) {
            if (says(directive, name, word, p)) {
                return 1;
            }
            if (directive->first_child) {
                APR_ARRAY_PUSH(sections,
                               const ap_directive_t *) = directive->first_child;
            }
        }
    }
    return 0;
}

static void warn_of_suexec(server_rec *s, apr_pool_t *p)
{
    if (ap_find_linked_module("mod_cgid.c")
        && ap_find_linked_module("mod_suexec.c")
        && ap_unixd_config.suexec_enabled
        && is_configured("SuexecUserGroup", NULL, p)) {
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
    int room = admission_http2_room(s);

    if (zone->limit + zone->queue_length > room
        && ap_find_linked_module("mod_http2.c")
        && (is_configured("Protocols", "h2", p)
            || is_configured("Protocols", "h2c", p))) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0115)
                     "zone %s (%s): MaxConcurrent %d and AdmissionQueue %d "
                     "accept %d requests, but each child has room for %d "
                     "HTTP/2 streams in zones: requests beyond that are "
                     "rejected; raise H2MaxWorkers or lower AdmissionQueue",
                     zone->name, zone->place, zone->limit, zone->queue_length,
                     zone->limit + zone->queue_length, room);
    }
}

/* ---- /proc ---------------------------------------------------------------------- */

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

/* ---- start ------------------------------------------------------------------------ */

void admission_surroundings_post_config(apr_pool_t *pconf, apr_pool_t *ptemp,
                                        server_rec *s)
{
    has_warned_of_proc = NULL;
    if (admission_zones()->nelts) {
        warn_of_suexec(s, ptemp);
        warn_of_http2(s, ptemp);
        prepare_warning_of_proc(pconf);
    }
}

/* The parent may see more than its children do. What hides the parent from them
 * (hidepid) hides mod_cgid's daemon, too: both began as root, or neither. */
void admission_surroundings_child_init(server_rec *s)
{
    char path[64];

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

/* process.c - the segment across restarts, and the registration of children in
 * it.
 *
 * The parent creates one segment and keeps it across restarts, so that the
 * children of an old and of a new generation share one limit.
 *
 * A zone's lock contains pointers. A process that can write to the shared
 * memory could thus make the next owner of a lock write to any address in its
 * own memory. If that owner can become root, so can the writer. So processes
 * with privileges take no lock.
 */
#include <httpd.h>
#include <errno.h>
#include <signal.h>
#include <apr_strings.h>
#include <ap_mpm.h>
#include <http_core.h>
#include <http_log.h>
#include <http_main.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conf.h"
#include "capacity.h"
#include "process.h"
#include "zones.h"

APLOG_USE_MODULE(admission);

static adm_segment_t *segment; /* inherited by children */
static adm_child_t *child;     /* in children; NULL: not registered */
static bool is_privileged;     /* in children: has privileges, so must not
                                * register */

/* ---- the parent ---------------------------------------------------------- */

adm_segment_t *admission_process_segment(void)
{
    return segment;
}

#define MIN_ZONES 16384
#define MIN_TICKETS 65536
#define SPARE_CHILDREN 64
#define MIN_FLOW_TABLES 64

static uint32_t clamp(uint64_t wanted, uint32_t least, uint32_t most)
{
    return wanted < least ? least : wanted > most ? most : (uint32_t)wanted;
}

/* Number of tickets that all zones together can use. */
static uint64_t tickets_needed(void)
{
    const admission_zone_t *zone;
    uint64_t tickets = 0;

    for (zone = admission_zones(); zone; zone = zone->next) {
        /* A zone allocates tickets in chunks. */
        tickets += (uint64_t)zone->limit + (uint64_t)zone->queue->length + 128;
    }
    return tickets;
}

/* Capacities of the segment. Generous, because they cannot grow later, and
 * unused memory is never allocated. */
static adm_sizes_t choose_sizes(void)
{
    const admission_zone_t *zone;
    uint64_t flow_tables = 0;

    for (zone = admission_zones(); zone; zone = zone->next) {
        flow_tables += zone->uses_flows;
    }
    return (adm_sizes_t){
        .zones = clamp(4 * (uint64_t)admission_zones_count(), MIN_ZONES,
                       ADMISSION_ZONES_MAX),
        .flow_tables = clamp(4 * flow_tables, MIN_FLOW_TABLES, 65536),
        .tickets = clamp(4 * tickets_needed(), MIN_TICKETS, 1 << 24),
        /* Twice, because the worker MPM can have more processes than slots
         * while old ones finish. */
        .children = clamp(2
                              * (uint64_t)admission_capacity_query(
                                  AP_MPMQ_HARD_LIMIT_DAEMONS, 256),
                          SPARE_CHILDREN, 1 << 20)
                    + SPARE_CHILDREN
    };
}

#define VERSION_KEY "mod_admission.version"
#define SEGMENT_KEY "mod_admission.segment.%u"
#define VERSION_BEFORE 0x1007f64U /* version 0.1, which stores no version */

/* Warn if a reload has loaded a build of the module with another version of the
 * segment. */
static void note_version(server_rec *s, uint32_t version)
{
    const char *key_before = apr_psprintf(s->process->pool, SEGMENT_KEY,
                                          VERSION_BEFORE);
    uint32_t *retained = ap_retained_data_get(VERSION_KEY);

    if (!retained) {
        retained = ap_retained_data_create(VERSION_KEY, sizeof(*retained));
        *retained = ap_retained_data_get(key_before) ? VERSION_BEFORE : version;
    }
    if (*retained != version) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0125)
                     "module replaced by one with another layout of shared "
                     "memory: old and new children count separately, so up to "
                     "twice each limit can run until the old children exit; "
                     "stop and start httpd to avoid this");
    }
    *retained = version;
}

/* Get the segment of this parent's earlier configuration, or create one. */
static apr_status_t find_segment(server_rec *s)
{
    const char *key = apr_psprintf(s->process->pool, SEGMENT_KEY,
                                   adm_segment_version());
    adm_segment_t **retained = ap_retained_data_get(key);
    adm_sizes_t sizes = choose_sizes();
    apr_status_t rv;

    note_version(s, adm_segment_version());
    if (retained) {
        segment = *retained;
        return APR_SUCCESS;
    }
    rv = adm_segment_create(&segment, &sizes, s->process->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    retained = ap_retained_data_create(key, sizeof(*retained));
    *retained = segment;
    ap_log_error(APLOG_MARK, APLOG_INFO, 0, s, ADMLOGNO(0101)
                 "shared memory created: room for %u zones, %u tickets and %u "
                 "children in %" APR_SIZE_T_FMT " KB of address space",
                 sizes.zones, sizes.tickets, sizes.children,
                 adm_segment_bytes(segment) / 1024);
    return APR_SUCCESS;
}

/* Warn if a reload has raised the limits beyond the capacity of the segment. */
static void warn_of_small_segment(server_rec *s)
{
    uint32_t room = adm_segment_sizes(segment).tickets;
    uint64_t needed = tickets_needed();

    if (needed > room) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0110)
                     "the zones can use %" APR_UINT64_T_FMT " tickets, but the "
                     "shared memory has only %u: further requests run without "
                     "a limit until httpd is stopped and started",
                     needed, room);
    }
}

static apr_status_t configure_zone(admission_zone_t *zone)
{
    return adm_segment_configure(segment, zone->name, (uint32_t)zone->limit,
                                 zone->max_concurrent.is_auto
                                     ? (uint32_t)zone->max_concurrent.min
                                     : 0,
                                 (uint32_t)zone->queue->length, &zone->handle);
}

/* Log once for all zones. Not for zones beyond ADMISSION_ZONES_MAX:
 * check_config has logged these. */
static void warn_of_full_table(server_rec *s, const admission_zone_t *first,
                               int without)
{
    if (without > 0 && admission_zones_count() <= ADMISSION_ZONES_MAX) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, 0, s, ADMLOGNO(0102)
            "the zone table is full: %d zones, the first of them %s (%s), "
            "have no limit until httpd is stopped and started",
            without, first->name, first->place);
    }
}

static void configure_zones(server_rec *s)
{
    const admission_zone_t *first = NULL;
    admission_zone_t *zone;
    int without = 0;

    adm_segment_begin_load(segment);
    for (zone = admission_zones(); zone; zone = zone->next) {
        apr_status_t rv = configure_zone(zone);

        if (rv != APR_SUCCESS) {
            if (without++ == 0) {
                first = zone;
            }
            continue;
        }
        if (adm_segment_use_flows(segment, zone->handle, zone->uses_flows)
            != APR_SUCCESS) {
            ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, ADMLOGNO(0139)
                         "zone %s (%s): the shared memory has no room for "
                         "another zone with AdmissionFair, AdmissionPriority "
                         "or AdmissionCost; the zone ignores these and serves "
                         "requests in order of arrival; stop and start httpd",
                         zone->name, zone->place);
        }
    }
    warn_of_full_table(s, first, without);
    adm_segment_end_load(segment, (uint32_t)admission_capacity_for_zones(s),
                         s->timeout);
}

int admission_process_start(server_rec *s)
{
    apr_status_t rv;

    segment = NULL;
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK; /* a trial run: httpd unloads everything after it */
    }
    admission_zones_bound(admission_capacity_for_zones(s));
    rv = find_segment(s);
    if (rv == APR_SUCCESS) {
        rv = adm_program_watch_forks(segment);
    }
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, rv, s, ADMLOGNO(0107)
                     "cannot create the shared memory; httpd does not start; "
                     "raise the limit on the address space or memory of httpd");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    configure_zones(s);
    warn_of_small_segment(s);
    return OK;
}

void admission_process_child_status(server_rec *s, pid_t pid,
                                    ap_generation_t gen, int slot,
                                    mpm_child_status status)
{
    /* httpd also reports a child that was stopped by SIGSTOP as exited, and
     * forgets it. So check whether the process exists. */
    if (status == MPM_CHILD_EXITED && segment && kill(pid, 0) != 0
        && errno == ESRCH) {
        adm_child_ended(segment, pid);
    }
}

/* ---- privileges ----------------------------------------------------------- */

/* Not all capabilities: a server that is not started by root has
 * CAP_NET_BIND_SERVICE. */
static const int dangerous[] = {
    CAP_CHOWN,      CAP_DAC_OVERRIDE, CAP_FOWNER,     CAP_DAC_READ_SEARCH,
    CAP_SETGID,     CAP_SETUID,       CAP_SETPCAP,    CAP_SETFCAP,
    CAP_SYS_MODULE, CAP_SYS_RAWIO,    CAP_SYS_PTRACE, CAP_SYS_ADMIN
};

/* Tests the permitted set, because a process can make permitted capabilities
 * effective at any time. */
static bool has_dangerous_capability(void)
{
    struct __user_cap_header_struct header = {
        .version = _LINUX_CAPABILITY_VERSION_3
    };
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
    size_t i;

    if (syscall(SYS_capget, &header, sets) != 0) {
        return false; /* a sandbox forbids the call */
    }
    for (i = 0; i < sizeof(dangerous) / sizeof(*dangerous); i++) {
        if (sets[CAP_TO_INDEX(dangerous[i])].permitted
            & CAP_TO_MASK(dangerous[i])) {
            return true;
        }
    }
    return false;
}

/* @return whether the calling thread is root, or has a dangerous capability: to
 * become root, or to act on other users' files and processes. Even if it is not
 * in effect. A few system calls. */
static bool has_privileges(void)
{
    return geteuid() == 0 || getuid() == 0 || has_dangerous_capability();
}

/* ---- children ------------------------------------------------------------ */

bool admission_process_may_log(adm_zone_t zone, adm_outcome_t outcome)
{
    return adm_zone_may_log(segment, zone, outcome, adm_now(),
                            60 * ADM_USEC_PER_SEC);
}

static void register_process(uint32_t generation, apr_pool_t *p)
{
    apr_status_t rv = adm_child_register(&child, segment, generation, p);

    if (rv == APR_SUCCESS) {
        return;
    }
    child = NULL;
    ap_log_error(APLOG_MARK, APLOG_ERR, 0, ap_server_conf, ADMLOGNO(0108)
                 "cannot register this child: %s; its requests run without a "
                 "limit",
                 rv == ADM_NO_CHILD
                     ? "the table of children is full (end old children that "
                       "do not exit)"
                     : "the shared memory is corrupt (stop and start httpd)");
}

/* Log once per minute that children have privileges. Not for mpm-itk: the
 * processes that its children fork drop their privileges before they serve
 * requests. */
static void log_privileged(void)
{
    if (!ap_find_linked_module("mpm_itk.c")
        && admission_process_may_log((adm_zone_t){ 0 }, ADM_UNLIMITED)) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, 0, ap_server_conf, ADMLOGNO(0116)
            "children run as root, or have capabilities to become "
            "another user, so they do not use the shared memory; their "
            "requests run without a limit; start httpd with a User, "
            "and without such capabilities");
    }
}

void admission_process_register(uint32_t generation, apr_pool_t *pchild)
{
    is_privileged = has_privileges();
    if (is_privileged) {
        adm_program_start_none();
        log_privileged();
    }
    else {
        register_process(generation, pchild);
    }
}

adm_child_t *admission_process_own_child(void)
{
    return child;
}

/* @return whether the calling process is a fork of a child, made to serve a
 * request, and may register itself. Only such a process drops privileges late.
 */
static bool can_register_now(void)
{
    if (!is_privileged) {
        return child && !adm_child_is_self(child);
    }
    if (!admission_capacity_is_threaded()) {
        is_privileged = has_privileges();
    }
    return !is_privileged;
}

/* Registers late in one case: mpm-itk serves each connection in its own
 * process. Its permits are reclaimed when it exits, as any child's. */
adm_child_t *admission_process_child(void)
{
    if (can_register_now()) {
        register_process(0, ap_server_conf->process->pool);
    }
    return child;
}

apr_status_t admission_process_fault(void)
{
    return is_privileged ? APR_EACCES : ADM_NO_CHILD;
}

void admission_process_child_stopping(apr_pool_t *pchild, int graceful)
{
    /* Waits would delay the child's exit. A graceful stop lets them finish. */
    if (child && !graceful) {
        adm_child_stop(child);
    }
}

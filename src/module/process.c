/* process.c - this process's registration in the shared memory. */
#include <httpd.h>
#include <http_log.h>
#include <http_main.h>

#include "conf.h"
#include "capacity.h"
#include "privilege.h"
#include "process.h"

APLOG_USE_MODULE(admission);

static adm_segment_t *segment; /* inherited by children */
static adm_child_t *child;     /* in children; NULL: not registered */
static bool is_privileged;     /* in children: has privileges, so must not
                                * register */

#define LOG_INTERVAL (60 * ADM_USEC_PER_SEC)

static void log_unregistered(apr_status_t rv)
{
    ap_log_error(APLOG_MARK, APLOG_ERR, 0, ap_server_conf, ADMLOGNO(0108)
                 "cannot register this child: %s; its requests run without a "
                 "limit",
                 rv == ADM_NO_CHILD ? "the table of children is full"
                                    : "the shared memory is corrupt");
}

void admission_process_use(adm_segment_t *used)
{
    segment = used;
}

adm_segment_t *admission_process_segment(void)
{
    return segment;
}

static void register_process(uint32_t generation, apr_pool_t *p)
{
    apr_status_t rv = adm_child_register(&child, segment, generation, p);

    if (rv != APR_SUCCESS) {
        child = NULL;
        log_unregistered(rv);
    }
}

/* Log once per minute that children have privileges. Not for mpm-itk: the
 * processes that its children fork drop their privileges before they serve
 * requests. */
static void log_privileged(void)
{
    if (!ap_find_linked_module("mpm_itk.c")
        && adm_zone_may_log(segment, (adm_zone_t){ 0 }, ADM_UNLIMITED,
                            adm_now(), LOG_INTERVAL)) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, ap_server_conf, ADMLOGNO(0116)
                     "children can become another user, as root or with "
                     "capabilities, so they must not take locks in shared "
                     "memory; their requests run without a limit");
    }
}

void admission_process_register(uint32_t generation, apr_pool_t *pchild)
{
    is_privileged = admission_privilege_is_held();
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
        is_privileged = admission_privilege_is_held();
    }
    return !is_privileged;
}

/* Registers late in one case: mpm-itk serves each connection in a process of
 * its own. The permits of that process are reclaimed when it exits, as any
 * child's. */
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

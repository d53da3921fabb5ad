/* mod_admission_process.c - this process in the shared memory. */
#include <httpd.h>
#include <http_log.h>
#include <http_main.h>

#include "config/mod_admission_conf.h"
#include "server/mod_admission_process.h"

APLOG_USE_MODULE(admission);

static adm_segment_t *segment; /* inherited by children */
static adm_child_t *child;     /* in children */

static void log_unregistered(apr_status_t rv)
{
    ap_log_error(APLOG_MARK, APLOG_ERR, 0, ap_server_conf, ADMLOGNO(0108)
                 "%s, requests of this child run without a limit",
                 rv == ADM_NO_CHILD
                     ? "the table of children is full"
                     : "the shared memory is not what this module wrote");
}

void admission_process_use(adm_segment_t *used)
{
    segment = used;
}

adm_segment_t *admission_process_segment(void)
{
    return segment;
}

static void join(uint32_t generation, apr_pool_t *p)
{
    apr_status_t rv = adm_child_register(&child, segment, generation, p);

    if (rv != APR_SUCCESS) {
        child = NULL;
        log_unregistered(rv);
    }
}

void admission_process_register(uint32_t generation, apr_pool_t *pchild)
{
    join(generation, pchild);
}

adm_child_t *admission_process_own_child(void)
{
    return child;
}

/* mpm-itk serves each connection in a process of its own. What it holds is
 * taken back when that ends, as of any child. */
adm_child_t *admission_process_child(void)
{
    if (child && !adm_child_is_self(child)) {
        join(0, ap_server_conf->process->pool);
    }
    return child;
}

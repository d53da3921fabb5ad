/* mod_admission.c - the module record and all hooks. */
#include <httpd.h>
#include <ap_mpm.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mod_proxy.h>
#include <mod_status.h>

#include "part.h"
#include "conf.h"
#include "location.h"
#include "page_handler.h"
#include "zones.h"
#include "control/control.h"
#include "admit.h"
#include "http2/http2.h"
#include "park/park_mpm.h"
#include "park/park.h"
#include "program.h"
#include "release.h"
#include "run.h"
#include "nested/nested_proxied.h"
#include "report.h"
#include "backend.h"
#include "advice.h"
#include "capacity.h"
#include "agent_process.h"
#include "countable.h"
#include "park/park_room.h"
#include "process.h"
#include "since.h"
#include "view/view_outputs.h"

static int on_pre_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    /* mod_status and mod_proxy declare these hooks when they are loaded. Only
     * now are all modules loaded. */
    APR_OPTIONAL_HOOK(ap, status_hook, admission_server_status, NULL, NULL,
                      APR_HOOK_MIDDLE);
    /* After all other modules have changed the headers. */
    APR_OPTIONAL_HOOK(proxy, fixups, admission_proxied_fixups, NULL, NULL,
                      APR_HOOK_REALLY_LAST);
    if (admission_proxied_is_possible()) {
        /* Hides the module's header from other modules. */
        ap_hook_post_read_request(admission_proxied_post_read_request, NULL,
                                  NULL, APR_HOOK_REALLY_FIRST);
    }
    admission_zones_begin(pconf);
    admission_location_begin();
    /* Add directives, before event and mod_http2 read theirs. */
    admission_mpm_choose();
    admission_room_pre_config(pconf);
    admission_streams_pre_config(pconf);
    return OK;
}

/* The segment must exist before the first fork, which is mod_cgid's in its
 * post_config. */
static int on_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                          apr_pool_t *ptemp, server_rec *s)
{
    int rv = admission_process_start(s);

    if (rv == OK && admission_process_segment()) {
        admission_room_start(s);
        admission_program_start(ptemp, s);
        admission_countable_start(ptemp);
        admission_advice_start(ptemp, s);
        admission_streams_start(ptemp, s);
    }
    return rv;
}

static void on_child_init(apr_pool_t *pchild, server_rec *s)
{
    if (admission_process_segment()) {
        admission_process_register(
            (uint32_t)admission_capacity_query(AP_MPMQ_GENERATION, 0), pchild);
        admission_room_child_start(s);
        admission_http2_child_start(s);
        admission_park_child_start(pchild, s);
    }
}

static void on_start(void)
{
    /* Zones are named when the whole configuration has been read. check_config
     * also runs for `configtest`. */
    ap_hook_check_config(admission_zones_settle, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_check_config(admission_page_handler_check_config, NULL, NULL,
                         APR_HOOK_MIDDLE);
    /* The MPM's settings are final only at the end of check_config. */
    ap_hook_check_config(admission_advice_check_config, NULL, NULL,
                         APR_HOOK_LAST);
    ap_hook_test_config(admission_advice_test_config, NULL, NULL,
                        APR_HOOK_MIDDLE);
    ap_hook_post_config(on_post_config, NULL, NULL, APR_HOOK_REALLY_FIRST);
    /* Forks the agent, so it runs last, when the start can no longer fail. */
    ap_hook_post_config(admission_agent_post_config, NULL, NULL,
                        APR_HOOK_REALLY_LAST);
    ap_hook_monitor(admission_agent_monitor, NULL, NULL, APR_HOOK_MIDDLE);
}

static void on_children(void)
{
    /* After other modules have opened files, which park.c counts. */
    ap_hook_child_init(on_child_init, NULL, NULL, APR_HOOK_MIDDLE + 1);
    /* Called in the parent for each child that has exited. Before the core's
     * own hook, which might discard the generation. */
    ap_hook_child_status(admission_process_child_status, NULL, NULL,
                         APR_HOOK_REALLY_FIRST);
#if ADMISSION_HAS_CHILD_STOPPING
    ap_hook_child_stopping(admission_process_child_stopping, NULL, NULL,
                           APR_HOOK_MIDDLE);
#endif
}

static void on_requests(void)
{
    /* Runs after authentication and mapping, when the handler is known.
     * REALLY_FIRST + 1 is after mod_cache and the protocol upgrade, and before
     * all handlers that serve content. */
    ap_hook_handler(admission_admit, NULL, NULL, APR_HOOK_REALLY_FIRST + 1);
    admission_run_set_own_hook(admission_admit);
    /* After mod_remoteip, which removes X-Forwarded-For. */
    ap_hook_post_read_request(admission_control_post_read_request, NULL, NULL,
                              APR_HOOK_LAST);
    /* The handlers admission-control and admission-status. */
    ap_hook_handler(admission_control_handler, NULL, NULL, APR_HOOK_MIDDLE);
    /* Parking, on MPMs that support it: process_connection continues a parked
     * request before any other module reads from the connection; suspend and
     * resume make the MPM poll a placeholder descriptor in the meantime. */
    ap_hook_process_connection(admission_park_process, NULL, NULL,
                               APR_HOOK_REALLY_FIRST + 1);
    ap_hook_suspend_connection(admission_park_suspend, NULL, NULL,
                               APR_HOOK_LAST);
    ap_hook_resume_connection(admission_park_resume, NULL, NULL,
                              APR_HOOK_FIRST);
    /* Called by each module that is about to start a CGI program, to get the
     * program's user. */
    ap_hook_get_suexec_identity(admission_program_starts, NULL, NULL,
                                APR_HOOK_REALLY_FIRST);
    /* The notes must be on the request that is logged. */
    ap_hook_log_transaction(admission_report_log_transaction, NULL, NULL,
                            APR_HOOK_REALLY_FIRST);
    admission_release_register_filter();
    admission_backend_register_filter();
    admission_mpm_register_filter();
}

static void register_hooks(apr_pool_t *p)
{
    int i;

    ap_hook_pre_config(on_pre_config, NULL, NULL, APR_HOOK_MIDDLE);
    on_start();
    on_children();
    on_requests();
    for (i = 0; i < ADMISSION_PARTS_NUMBER; i++) {
        if (admission_parts[i]->register_hooks) {
            admission_parts[i]->register_hooks(p);
        }
    }
}

AP_DECLARE_MODULE(admission) = {
    STANDARD20_MODULE_STUFF,
    admission_conf_create_dir,
    admission_conf_merge_dir,
    admission_conf_create_server,
    NULL, /* server directives apply to the main server only */
    admission_directives,
    register_hooks,
    AP_MODULE_FLAG_NONE
};

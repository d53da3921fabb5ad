/* mod_admission.c - the module record, and when httpd calls what. No logic. */
#include <httpd.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mod_proxy.h>
#include <mod_status.h>

#include "part.h"
#include "conf.h"
#include "directives.h"
#include "location.h"
#include "opening.h"
#include "zones.h"
#include "control/control.h"
#include "admit.h"
#include "park/park_connection.h"
#include "http2/http2.h"
#include "include.h"
#include "park/park_mpm.h"
#include "park/park.h"
#include "program.h"
#include "release.h"
#include "run.h"
#include "nested/nested_self.h"
#include "tell.h"
#include "upgrade.h"
#include "advice.h"
#include "agent_process.h"
#include "park/park_factor.h"
#include "foreign.h"
#include "lifecycle.h"
#include "park/park_room.h"
#include "since.h"
#include "http2/http2_streams.h"
#include "view/view_handler.h"
#include "view/view_server_status.h"

static int on_pre_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    /* mod_status and mod_proxy declare their hooks only when they are loaded, so
     * not before all modules are. */
    APR_OPTIONAL_HOOK(ap, status_hook, admission_server_status, NULL, NULL,
                      APR_HOOK_MIDDLE);
    /* When nobody else changes the headers any more. */
    APR_OPTIONAL_HOOK(proxy, fixups, admission_self_proxy_fixups, NULL, NULL,
                      APR_HOOK_REALLY_LAST);
    if (admission_self_is_possible()) {
        /* What is for us alone in a request's header. */
        ap_hook_post_read_request(admission_self_post_read_request, NULL, NULL,
                                  APR_HOOK_REALLY_FIRST);
    }
    admission_zones_begin(pconf);
    admission_location_begin();
    /* Before event and mod_http2 read what may be added. */
    admission_room_begin(admission_mpm_choose());
    admission_factor_pre_config(pconf);
    admission_streams_pre_config(pconf);
    return OK;
}

static void on_start(void)
{
    /* Zones get their names when the whole configuration is known; also what
     * `configtest` runs. */
    ap_hook_check_config(admission_zones_settle, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_check_config(admission_opening_check_config, NULL, NULL,
                         APR_HOOK_MIDDLE);
    /* The MPM's numbers are settled by now. */
    ap_hook_check_config(admission_advice_check_config, NULL, NULL,
                         APR_HOOK_LAST);
    ap_hook_test_config(admission_advice_test_config, NULL, NULL,
                        APR_HOOK_MIDDLE);
    /* The segment has to be there before anything forks: mod_cgid's daemon
     * does so in its post_config. The others ask whether it is there. */
    ap_hook_post_config(admission_lifecycle_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST);
    ap_hook_post_config(admission_room_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST + 1);
    ap_hook_post_config(admission_factor_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST + 2);
    ap_hook_post_config(admission_program_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST + 2);
    ap_hook_post_config(admission_include_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST + 2);
    ap_hook_post_config(admission_foreign_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST + 2);
    ap_hook_post_config(admission_advice_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST + 3);
    ap_hook_post_config(admission_streams_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST + 3);
    /* A fork of the parent, so when nothing of the start can fail any more. */
    ap_hook_post_config(admission_agent_post_config, NULL, NULL,
                        APR_HOOK_REALLY_LAST);
    ap_hook_monitor(admission_agent_monitor, NULL, NULL, APR_HOOK_MIDDLE);
}

static void on_children(void)
{
    ap_hook_child_init(admission_lifecycle_child_init, NULL, NULL,
                       APR_HOOK_MIDDLE);
    /* These need its registration. */
    ap_hook_child_init(admission_room_child_init, NULL, NULL,
                       APR_HOOK_MIDDLE + 1);
    ap_hook_child_init(admission_http2_child_init, NULL, NULL,
                       APR_HOOK_MIDDLE + 1);
    ap_hook_child_init(admission_park_child_init, NULL, NULL,
                       APR_HOOK_MIDDLE + 2);
    /* Runs in the parent, which learns of every death. Before the core's own,
     * that may end the generation in the same breath. */
    ap_hook_child_status(admission_lifecycle_child_status, NULL, NULL,
                         APR_HOOK_REALLY_FIRST);
#if ADMISSION_HAS_CHILD_STOPPING
    ap_hook_child_stopping(admission_lifecycle_child_stopping, NULL, NULL,
                           APR_HOOK_MIDDLE);
#endif
}

static void on_requests(void)
{
    /* After authentication and mapping, when the handler is known. Behind
     * mod_cache and the protocol upgrade, which are REALLY_FIRST, and before
     * all that serves content. */
    ap_hook_handler(admission_admit, NULL, NULL, APR_HOOK_REALLY_FIRST + 1);
    admission_run_behind(admission_admit);
    /* SetHandler admission-control and admission-status */
    ap_hook_handler(admission_control_handler, NULL, NULL, APR_HOOK_MIDDLE);
    /* Parking: what the handler could not finish is taken up again before
     * anybody reads from the connection, and the MPM polls another descriptor
     * meanwhile. Only on MPMs that can wait without a worker. */
    ap_hook_process_connection(admission_connection_process, NULL, NULL,
                               APR_HOOK_REALLY_FIRST + 1);
    ap_hook_suspend_connection(admission_connection_suspend, NULL, NULL,
                               APR_HOOK_LAST);
    ap_hook_resume_connection(admission_connection_resume, NULL, NULL,
                              APR_HOOK_FIRST);
    /* Whoever starts a CGI program asks for the identity to start it with. */
    ap_hook_get_suexec_identity(admission_program_starts, NULL, NULL,
                                APR_HOOK_REALLY_FIRST);
    /* The notes have to be on the request that is logged. */
    ap_hook_log_transaction(admission_tell_log_transaction, NULL, NULL,
                            APR_HOOK_REALLY_FIRST);
    admission_release_register_filter();
    admission_upgrade_register_filter();
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
    NULL, /* the one server directive is for the main server only */
    admission_directives,
    register_hooks,
    AP_MODULE_FLAG_NONE
};

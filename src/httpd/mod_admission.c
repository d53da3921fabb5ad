/* mod_admission.c - the module record, and when httpd calls what. No logic. */
#include <httpd.h>
#include <http_connection.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mod_status.h>

#include "mod_admission_private.h"

static int on_pre_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    /* mod_status declares its hook only when it is loaded, so not before all
     * modules are. */
    APR_OPTIONAL_HOOK(ap, status_hook, admission_status, NULL, NULL,
                      APR_HOOK_MIDDLE);
    return admission_pre_config(pconf, plog, ptemp);
}

static void register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_pre_config(on_pre_config, NULL, NULL, APR_HOOK_MIDDLE);
    /* Zones get their names when the whole configuration is known; also what
     * `configtest` runs. */
    ap_hook_check_config(admission_check_config, NULL, NULL, APR_HOOK_MIDDLE);
    /* Where the configuration opens the status pages. */
    ap_hook_check_config(admission_said_check_config, NULL, NULL,
                         APR_HOOK_MIDDLE);
    /* What is warned of at a start; the MPM's numbers are settled by now. */
    ap_hook_test_config(admission_test_config, NULL, NULL, APR_HOOK_MIDDLE);
    /* httpd -t -D DUMP_ADMISSION */
    ap_hook_test_config(admission_dump_config, NULL, NULL, APR_HOOK_MIDDLE);
    /* The segment has to be there before anything forks: mod_cgid's daemon
     * does so in its post_config. */
    ap_hook_post_config(admission_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST);
    ap_hook_child_init(admission_child_init, NULL, NULL, APR_HOOK_MIDDLE);
    /* A child has taken a recycled one's place when every module is ready. */
    ap_hook_child_init(admission_recycle_child_ready, NULL, NULL,
                       APR_HOOK_REALLY_LAST);
    /* Runs in the parent, which learns of every death. Before the core's own,
     * that may end the generation in the same breath. */
    ap_hook_child_status(admission_child_status, NULL, NULL,
                         APR_HOOK_REALLY_FIRST);
    ap_hook_child_stopping(admission_child_stopping, NULL, NULL,
                           APR_HOOK_MIDDLE);
    /* After authentication and mapping, when the handler is known. Behind
     * mod_cache and the protocol upgrade, which are REALLY_FIRST, and before
     * all that serves content. */
    ap_hook_handler(admission_handler, NULL, NULL, APR_HOOK_REALLY_FIRST + 1);
    /* SetHandler admission-status */
    ap_hook_handler(admission_status_handler, NULL, NULL, APR_HOOK_MIDDLE);
    /* Once a connection, wherever it goes from there. */
    ap_hook_pre_connection(admission_recycle_pre_connection, NULL, NULL,
                           APR_HOOK_FIRST);
    /* Parking: what the handler could not finish is taken up again before
     * anybody reads from the connection, and the MPM polls another descriptor
     * meanwhile. Only on MPMs that can wait without a worker. */
    ap_hook_process_connection(admission_process_connection, NULL, NULL,
                               APR_HOOK_REALLY_FIRST + 1);
    ap_hook_suspend_connection(admission_suspend_connection, NULL, NULL,
                               APR_HOOK_LAST);
    ap_hook_resume_connection(admission_resume_connection, NULL, NULL,
                              APR_HOOK_FIRST);
    /* Whoever starts a CGI program asks for the identity to start it with. */
    ap_hook_get_suexec_identity(admission_program_starts, NULL, NULL,
                                APR_HOOK_REALLY_FIRST);
    /* The notes have to be on the request that is logged. */
    ap_hook_log_transaction(admission_log_transaction, NULL, NULL,
                            APR_HOOK_REALLY_FIRST);
    admission_register_filter();
}

AP_DECLARE_MODULE(admission) = {
    STANDARD20_MODULE_STUFF,
    admission_create_dir_conf,
    admission_merge_dir_conf,
    admission_create_server_conf,
    NULL, /* the one server directive is for the main server only */
    admission_directives,
    register_hooks,
    AP_MODULE_FLAG_NONE
};

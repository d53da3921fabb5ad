/* spool.c - AdmissionSpool as a capability: its hooks, steps and outputs. */
#include <httpd.h>
#include <http_config.h>

#include "module/part.h"
#include "module/conf.h"
#include "module/process.h"
#include "spool.h"
#include "spool_buffer.h"
#include "spool_shm.h"
#include "view/view_fields.h"

static void register_hooks(apr_pool_t *p)
{
    ap_hook_post_config(admission_buffer_post_config, NULL, NULL,
                        APR_HOOK_REALLY_FIRST + 2);
    spool_body_register();
    spool_output_register();
    spool_backend_register();
}

/* ---- outputs --------------------------------------------------------------- */

/* Write a size with the unit that the configuration would use. */
static void dump_size(apr_file_t *out, const char *what, apr_off_t size)
{
    static const char units[] = "\0KMGT";
    const char *unit = units;

    while (size > 0 && size % 1024 == 0 && unit < units + 4) {
        size /= 1024;
        unit++;
    }
    if (size == 0) {
        apr_file_printf(out, " %s=off", what);
    }
    else {
        apr_file_printf(out, " %s=%" APR_OFF_T_FMT "%.1s", what, size, unit);
    }
}

static void describe(apr_file_t *out, const admission_dir_conf_t *conf)
{
    apr_file_puts(" spool", out);
    dump_size(out, "request", spool_conf_request(&conf->spool));
    dump_size(out, "response", spool_conf_response(&conf->spool));
}

static void facts_of_server(admission_facts_t *facts)
{
    FACT(Spooled, GAUGE_BYTES,
         "Bytes buffered for slow clients, in memory and in files.",
         spool_bytes(admission_process_segment()));
}

const admission_part_t admission_part_spool = {
    .register_hooks = register_hooks,
    .describe = describe,
    .before = spool_body_read,
    .begin = spool_begin,
    .end = spool_end,
    .rest = spool_rest,
    .facts_of_server = facts_of_server
};

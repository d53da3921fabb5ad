/* include.c - mod_include pages that might start programs.
 *
 * For httpd's handlers such a page is a static file. Its programs are started
 * later by the filter INCLUDES, when it is too late to reject the request. So
 * the page counts like a program.
 */
#include <httpd.h>
#include <http_core.h>
#include <util_filter.h>

#include "include.h"

#define NOTE_INCLUDES "admission-includes"

static ap_init_filter_func setup_of_includes;

/* The filter's init function runs before the handlers, if the response will
 * pass through INCLUDES, no matter how the filter was added: by name, by
 * XBitHack, or by a rule of mod_filter. */
static int note_includes(ap_filter_t *f)
{
    apr_table_setn(f->r->notes, NOTE_INCLUDES, "");
    return setup_of_includes ? setup_of_includes(f) : OK;
}

int admission_include_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                  apr_pool_t *ptemp, server_rec *s)
{
    ap_filter_rec_t *includes = ap_get_output_filter_handle("INCLUDES");

    if (includes && includes->filter_init_func != note_includes) {
        setup_of_includes = includes->filter_init_func;
        includes->filter_init_func = note_includes;
    }
    return OK;
}

bool admission_include_may_exec(request_rec *r)
{
    int options = ap_allow_options(r);

    return (options & OPT_INCLUDES) && (options & OPT_INC_WITH_EXEC)
           && apr_table_get(r->notes, NOTE_INCLUDES) != NULL;
}

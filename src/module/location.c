/* location.c - the directives of a URL's <Location> sections alone. */
#include <httpd.h>
#include <http_config.h>
#include <http_core.h>
#include <http_request.h>

#include "location.h"

bool admission_location_is_used;

/* Number of the request note that contains these directives. */
static apr_size_t note_number;

void admission_location_begin(void)
{
    admission_location_is_used = false;
}

/* @return whether a directive is in a <Location>, maybe inside an <If>. */
static bool is_in_location(const ap_directive_t *directive)
{
    const ap_directive_t *section;

    for (section = directive->parent; section; section = section->parent) {
        if (strcasecmp(section->directive, "<Location") == 0
            || strcasecmp(section->directive, "<LocationMatch") == 0) {
            return true;
        }
    }
    return false;
}

/* The hook translate_name: store the directives before the URL is mapped. At
 * that point the merged configuration is the server's and the <Location>
 * sections' of the client's URL. Later mod_rewrite with [PT], mod_dir and
 * mod_negotiation replace the URL. */
static int note_location(request_rec *r)
{
    const admission_dir_conf_t *conf = ap_get_module_config(r->per_dir_config,
                                                            &admission_module);

    if (conf->location) {
        *ap_get_request_note(r, note_number) = (void *)conf->location;
    }
    return DECLINED;
}

const char *admission_location_mark(cmd_parms *cmd, admission_dir_conf_t *conf)
{
    if (is_in_location(cmd->directive)) {
        conf->location = conf;
        if (!admission_location_is_used) {
            /* Only configurations with such sections need the hook. httpd sorts
             * the hooks again after it has read all directives. */
            admission_location_is_used = true;
            note_number = ap_register_request_note();
            ap_hook_translate_name(note_location, NULL, NULL,
                                   APR_HOOK_REALLY_FIRST);
        }
    }
    /* Not in .htaccess, which is read for each request, and whose authors must
     * not create or block zones. ACCESS_CONF alone would let AllowOverrideList
     * permit it. */
    return ap_check_cmd_context(cmd, NOT_IN_HTACCESS | NOT_IN_LIMIT);
}

const admission_dir_conf_t *admission_location_of(request_rec *r)
{
    return admission_location_is_used ? *ap_get_request_note(r, note_number)
                                      : NULL;
}

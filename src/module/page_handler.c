/* page_handler.c - locations where the configuration enables the module's
 * pages.
 */
#include <httpd.h>
#include <http_core.h>

#include "conf.h"
#include "page_handler.h"
#include "conf_tree.h"

/* A SetHandler directive for one of the module's handlers. */
typedef struct page_place_t {
    const ap_directive_t *directive;
    const char *handler;
} page_place_t;

static apr_array_header_t *places; /* of page_place_t */

const char *admission_page_handler_named(const char *name)
{
    return strcasecmp(name, ADMISSION_STATUS_HANDLER) == 0
               ? ADMISSION_STATUS_HANDLER
           : strcasecmp(name, ADMISSION_CONTROL_HANDLER) == 0
               ? ADMISSION_CONTROL_HANDLER
               : NULL;
}

int admission_page_handler_check_config(apr_pool_t *pconf, apr_pool_t *plog,
                                        apr_pool_t *ptemp, server_rec *s)
{
    const ap_directive_t *directive;

    places = apr_array_make(pconf, 2, sizeof(page_place_t));
    for (directive = ap_conftree; directive;
         directive = admission_conf_tree_next(directive)) {
        const char *handler = admission_conf_tree_is(directive, "SetHandler")
                                  ? admission_page_handler_named(
                                      admission_conf_tree_argument(ptemp,
                                                                   directive))
                                  : NULL;

        if (handler) {
            APR_ARRAY_PUSH(places, page_place_t) = (page_place_t){ directive,
                                                                   handler };
        }
    }
    return OK;
}

/* httpd parses the argument of SetHandler as an expression, which contains the
 * directive's line and file name. The name is compared by address: an .htaccess
 * file has its own copy, so it cannot enable a page. */
const char *admission_page_handler_of(const request_rec *r)
{
    const core_dir_config *core = ap_get_core_module_config(r->per_dir_config);
    const ap_expr_info_t *set = core->expr_handler;
    int i;

    for (i = 0; set && i < places->nelts; i++) {
        const page_place_t *place = &APR_ARRAY_IDX(places, i, page_place_t);

        if (set->line_number == (unsigned)place->directive->line_num
            && set->filename == place->directive->filename) {
            return place->handler;
        }
    }
    return NULL;
}

bool admission_page_handler_is_unchanged(const request_rec *r)
{
    const char *handler = admission_page_handler_of(r);

    return handler && strcmp(r->handler, handler) == 0;
}

/* @return whether a section applies to all requests of the server. */
static bool applies_to(const ap_directive_t *section, const server_rec *server)
{
    for (; section; section = section->parent) {
        if (!admission_conf_tree_is(section, "<VirtualHost")
            || !server->defn_name
            || section->line_num != (int)server->defn_line_number
            || section->filename != server->defn_name) {
            return false;
        }
    }
    return true;
}

/* @return the path of a plain <Location "/path">; NULL: another kind of
 * section. */
static const char *path_of(apr_pool_t *p, const ap_directive_t *section)
{
    const char *name = section ? admission_conf_tree_section(p, section) : NULL;

    return name && *name == '/' && !strpbrk(name, "*?[") ? name : NULL;
}

const char *admission_page_handler_path(const request_rec *r)
{
    const char *found = NULL;
    int i;

    for (i = 0; places && i < places->nelts; i++) {
        const page_place_t *place = &APR_ARRAY_IDX(places, i, page_place_t);
        const ap_directive_t *section = place->directive->parent;
        const char *path = path_of(r->pool, section);

        if (path && applies_to(section->parent, r->server)) {
            found = path;
            if (strcmp(place->handler, ADMISSION_STATUS_HANDLER) == 0) {
                break;
            }
        }
    }
    return found;
}

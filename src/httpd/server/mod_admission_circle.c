/* mod_admission_circle.c - ProxyPass that leads a zone into itself.
 *
 * The requests that mod_proxy sends are recognized, and take over the permit
 * (mod_admission_self.c). But each needs a worker beside that of its sender, which
 * nobody has counted: when all workers are senders, nobody answers them.
 *
 * Known are ProxyPass with a plain path, the URL of this server, and sections
 * with a plain path. What RewriteRule, ProxyPassMatch and balancers do is not.
 */
#include <httpd.h>
#include <http_config.h>
#include <http_log.h>
#include <http_main.h>

#include "config/mod_admission_said.h"
#include "config/mod_admission_sections.h"
#include "server/mod_admission_circle.h"
#include "server/mod_admission_own.h"

APLOG_USE_MODULE(admission);

/* @return the length of a path that another one begins with; -1: it does not. */
static int begins_with(const char *path, const char *beginning)
{
    size_t length = strlen(beginning);

    while (length > 0 && beginning[length - 1] == '/') {
        length--;
    }
    return strncmp(path, beginning, length) == 0
                   && (path[length] == '/' || !path[length])
               ? (int)length
               : -1;
}

/* By the section with the longest path. */
static const admission_zone_t *zone_of(const server_rec *s, const char *path)
{
    const apr_array_header_t *sections = admission_sections_all();
    const admission_zone_t *zone = NULL;
    int i, longest = -1;

    for (i = 0; i < sections->nelts; i++) {
        const admission_section_t *section =
            APR_ARRAY_IDX(sections, i, admission_section_t *);
        int length;

        if (!section->name || *section->name != '/' || section->is_regex
            || (section->server != s && section->server != ap_server_conf)) {
            continue;
        }
        length = begins_with(path, section->name);
        if (length >= longest && length >= 0) {
            longest = length;
            zone = section->zone;
        }
    }
    return zone;
}

/* The section that a directive stands in, of this kind; NULL: none. */
static const ap_directive_t *section_of(const ap_directive_t *directive,
                                        const char *kind)
{
    do {
        directive = directive->parent;
    } while (directive && !admission_said_is(directive, kind));
    return directive;
}

/* A section's arguments end with its bracket. */
static const char *path_of_location(apr_pool_t *p,
                                    const ap_directive_t *location)
{
    const char *args = location->args;
    char *path = ap_getword_conf(p, &args);
    size_t length = strlen(path);

    if (length > 0 && path[length - 1] == '>') {
        path[length - 1] = '\0';
    }
    return path;
}

/* The server that a directive belongs to, by the lines in which it begins. */
static const server_rec *server_of(const ap_directive_t *directive)
{
    const ap_directive_t *host = section_of(directive, "<VirtualHost");
    const server_rec *s;

    for (s = ap_server_conf->next; host && s; s = s->next) {
        if (s->defn_line_number == (unsigned)host->line_num && s->defn_name
            && strcmp(s->defn_name, host->filename) == 0) {
            return s;
        }
    }
    return ap_server_conf;
}

#define CIRCLE ", back to itself: these requests are rejected"
#define TWO_WORKERS \
    ": each such request holds two workers, AdmissionReserve counts one"

static void warn_of(apr_pool_t *p, server_rec *s,
                    const ap_directive_t *directive)
{
    const ap_directive_t *location = section_of(directive, "<Location");
    const server_rec *from = server_of(directive);
    const char *args = directive->args ? directive->args : "";
    const char *path = location ? path_of_location(p, location)
                                : ap_getword_conf(p, &args);
    const char *url = ap_getword_conf(p, &args);
    const admission_zone_t *zone = *path == '/' ? zone_of(from, path) : NULL;
    const server_rec *to;
    apr_uri_t uri;
    bool is_circle;

    if (!zone || !admission_own_url(p, url, NULL, &uri)) {
        return;
    }
    to = admission_own_server(&uri);
    uri.path = uri.path ? uri.path : "/";
    if (zone_of(to, uri.path) != zone) {
        return;
    }
    is_circle = to == from && begins_with(uri.path, path) >= 0;
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, ADMLOGNO(0119)
                 "zone %s: ProxyPass %s %s (%s:%d) leads to this server and "
                 "into the same zone%s",
                 zone->name, path, url, directive->filename,
                 directive->line_num, is_circle ? CIRCLE : TWO_WORKERS);
}

void admission_circle_warn(apr_pool_t *p, server_rec *s)
{
    const ap_directive_t *directive;

    for (directive = ap_conftree; directive;
         directive = admission_said_next(directive)) {
        if (admission_said_is(directive, "ProxyPass")) {
            warn_of(p, s, directive);
        }
    }
}

/* view_server_status.c - the module's part of the server-status page. */
#include <httpd.h>
#include <apr_strings.h>
#include <http_protocol.h>
#include <mod_status.h>

#include "module/page_handler.h"
#include "module/process.h"
#include "view_fields.h"
#include "view_outputs.h"
#include "view_text.h"

/* @return the zone of zone=NAME, NULL if unknown; all zones without such a query. */
static const admission_zone_t *selected_zones(request_rec *r)
{
    const char *args = r->args ? r->args : "";

    while (*args) {
        const char *value = ap_getword(r->pool, &args, '&');
        const char *key = ap_getword(r->pool, &value, '=');

        if (strcmp(key, "zone") == 0) {
            char *name = apr_pstrdup(r->pool, value);
            const admission_zone_t *zone =
                ap_unescape_urlencoded(name) == OK
                    ? admission_fields_find_zone(r->pool, name)
                    : NULL;

            return zone ? admission_fields_zones(r->pool, zone) : NULL;
        }
    }
    return admission_fields_zones(r->pool, NULL);
}

/* @param prefix  of the names: "Admission" or "Admission[n]" */
static void print_lines(request_rec *r, const char *prefix,
                        const admission_facts_t *facts)
{
    int i;

    for (i = 0; i < facts->count; i++) {
        ap_rvputs(r, prefix, facts->fact[i].field->name, ": ", NULL);
        admission_fields_write(r, &facts->fact[i]);
        ap_rputs("\n", r);
    }
}

static void print_lines_of_zones(request_rec *r)
{
    const admission_zone_t *zone = selected_zones(r);
    admission_facts_t facts;
    admission_view_t view;
    char prefix[32];
    int n;

    for (n = 0; zone && !r->connection->aborted; n++, zone = zone->next) {
        admission_fields_sample_zone(zone, &view, NULL);
        apr_snprintf(prefix, sizeof(prefix), "Admission[%d]", n);
        ap_rvputs(r, prefix, "Name: ", view.zone->name, "\n", NULL);
        if (!view.is_busy) {
            admission_fields_of_zone(&view, &facts);
            print_lines(r, prefix, &facts);
        }
    }
}

static void print_server(request_rec *r, const admission_facts_t *facts)
{
    int i;

    ap_rputs("<hr />\n<h1>Admission control</h1>\n<dl><dt>", r);
    for (i = 0; i < facts->count; i++) {
        ap_rvputs(r, i ? ", " : "", facts->fact[i].field->name, ": ", NULL);
        admission_fields_write(r, &facts->fact[i]);
    }
    ap_rputs("</dt>\n", r);
}

/* @param page  URL of the live page; NULL: none */
static void print_zone(request_rec *r, apr_pool_t *p, const char *page,
                       const admission_view_t *view)
{
    const adm_zone_stats_t *stats = &view->stats;
    const char *name = ap_escape_html(p, view->zone->name);

    ap_rputs("<dd>", r);
    if (page) {
        ap_rvputs(
            r, "<a href=\"", page, "?zone=",
            ap_escape_urlencoded(p, admission_text_utf8(p, view->zone->name)),
            "\">", name, "</a>", NULL);
    }
    else {
        ap_rputs(name, r);
    }
    if (view->is_busy) {
        ap_rputs(": busy</dd>\n", r);
        return;
    }
    ap_rprintf(r,
               "%s: limit %u, %u running, %u waiting, %" APR_UINT64_T_FMT
               " rejected</dd>\n",
               view->zone->dry_run ? " (dry run)" : "", stats->limit,
               stats->active, stats->queued,
               adm_figures_rejected(&stats->figures));
}

static void print_zones(request_rec *r)
{
    const char *path = admission_page_handler_path(r);
    const char *page = path
                           ? ap_escape_html(r->pool,
                                            ap_os_escape_path(r->pool, path, 1))
                           : NULL;
    const admission_zone_t *zone = selected_zones(r);
    apr_pool_t *p; /* of one zone */

    apr_pool_create(&p, r->pool);
    for (; zone && !r->connection->aborted; zone = zone->next) {
        admission_view_t view;

        apr_pool_clear(p);
        admission_fields_sample_zone(zone, &view, NULL);
        print_zone(r, p, page, &view);
    }
    apr_pool_destroy(p);
}

int admission_server_status(request_rec *r, int flags)
{
    adm_server_stats_t server;
    admission_facts_t facts;

    if (!admission_process_child()) {
        return DECLINED;
    }
    /* Prints copies: no lock is held during output. */
    admission_fields_of_server(&server, &facts);
    if (flags & AP_STATUS_SHORT) {
        print_lines(r, "Admission", &facts);
        print_lines_of_zones(r);
        return OK;
    }
    print_server(r, &facts);
    print_zones(r);
    ap_rputs("</dl>\n", r);
    return OK;
}

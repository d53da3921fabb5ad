/* view_page.c - the live page.
 *
 * The server draws everything, so the page is the same with and without
 * script; the script only fetches the page again and updates what has changed.
 * This handler also serves style and script: the page loads nothing from
 * elsewhere and needs no exception from a Content-Security-Policy of 'self'.
 */
#include <httpd.h>
#include <http_protocol.h>

#include "view_outputs.h"
#include "view_page.h"

static const char style[] =
#include "view/page_css.inc"
    ;

static const char script[] =
#include "view/page_js.inc"
    ;

int admission_page_constant(request_rec *r, const char *name)
{
    bool is_style = strcmp(name, "style") == 0;

    if (!is_style && strcmp(name, "script") != 0) {
        return DECLINED;
    }
    ap_set_content_type(r, is_style ? "text/css; charset=utf-8"
                                    : "text/javascript; charset=utf-8");
    /* Another version of the module has other constants. */
    apr_table_setn(r->headers_out, "Cache-Control", "no-cache");
    ap_rputs(is_style ? style : script, r);
    return OK;
}

static void write_headers(request_rec *r)
{
    ap_set_content_type(r, "text/html; charset=utf-8");
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    apr_table_setn(r->headers_out, "Content-Security-Policy",
                   "default-src 'none'; style-src 'self'; script-src 'self'; "
                   "connect-src 'self'; img-src data:; base-uri 'none'; "
                   "frame-ancestors 'none'; form-action 'self'");
}

static void write_top(request_rec *r)
{
    ap_rputs(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width,"
        "initial-scale=1\">\n<title>Admission control</title>\n"
        "<link rel=\"icon\" href=\"data:,\">"
        "<link rel=\"stylesheet\" href=\"?style\">\n"
        "<script src=\"?script\" defer></script>\n"
        "</head><body>\n<header><h1>Admission control</h1>"
        "<p id=\"stale\" class=\"bad\" role=\"status\"></p></header>\n<main>\n",
        r);
}

int admission_page_write(request_rec *r, const admission_zone_t *only,
                         const char *filter)
{
    bool can_override = strcmp(r->handler, ADMISSION_CONTROL_HANDLER) == 0;
    adm_server_stats_t server;
    admission_facts_t facts;

    admission_fields_of_server(&server, &facts);
    write_headers(r);
    write_top(r);
    admission_page_facts_trouble(r, &server);
    if (only) {
        ap_rvputs(r, "<p class=\"key\"><a href=\"",
                  ap_os_escape_path(r->pool, r->uri, 1),
                  "\">All zones</a></p>\n", NULL);
        admission_page_zone_write(r, r->pool, only, can_override);
    }
    else {
        admission_page_overview_write(r, filter);
    }
    admission_page_facts_server(r, &facts);
    ap_rputs(
        "</main>\n<footer><p class=\"key\"><span>For programs: "
        "<a href=\"?json\">JSON</a>, <a href=\"?prometheus\">Prometheus</a>"
        "</span></p></footer></body></html>\n",
        r);
    return OK;
}

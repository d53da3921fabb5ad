/* view_page_facts.c - all fields, for people. */
#include <httpd.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "view_page_facts.h"
#include "view_page_words.h"

/* "OldestWaitMs" is "Oldest wait": the value has its unit. What is written in
 * capitals stays so. */
static const char *label_of(apr_pool_t *p, const admission_field_t *field)
{
    apr_size_t length = strlen(field->name)
                        - strlen(admission_fields_unit(field->kind)->name);
    char *label = apr_palloc(p, 2 * length + 1), *end = label;
    apr_size_t i;

    for (i = 0; i < length; i++) {
        char c = field->name[i];
        bool follows = i > 0 && apr_isupper(c);

        if (follows && !apr_isupper(field->name[i - 1])) {
            *end++ = ' ';
        }
        *end++ = follows && i + 1 < length && !apr_isupper(field->name[i + 1])
                     ? apr_tolower(c)
                     : c;
    }
    *end = '\0';
    return label;
}

/* @return a value as people write it; NULL: it is but a number. */
static const char *text_of(apr_pool_t *p, admission_kind_t kind,
                           apr_int64_t value)
{
    switch (kind) {
    case ADMISSION_GAUGE_USEC:
        return value < 1000 ? apr_psprintf(p, "%" APR_INT64_T_FMT " us", value)
                            : admission_page_words_time(p, value);
    case ADMISSION_GAUGE_MSEC:
        return admission_page_words_time(p, value * ADM_USEC_PER_MSEC);
    case ADMISSION_GAUGE_SEC:
        return value == 0
                   ? "0 s"
                   : admission_page_words_time(p, value * ADM_USEC_PER_SEC);
    case ADMISSION_GAUGE_KB:
        return value == 0 ? "-"
                          : admission_page_words_size(p, (apr_uint64_t)value);
    case ADMISSION_GAUGE_MB:
        return value == 0
                   ? "-"
                   : admission_page_words_size(p, (apr_uint64_t)value * 1024);
    case ADMISSION_GAUGE_PERCENT:
        return apr_psprintf(p, "%" APR_INT64_T_FMT " %%", value);
    default:
        return NULL;
    }
}

/* With the number itself where people read something else. */
static void write_fact(request_rec *r, apr_pool_t *p,
                       const admission_field_t *field, apr_int64_t value)
{
    const char *text = text_of(p, field->kind, value);

    ap_rvputs(r, "<div data-field=\"", field->name, "\" title=\"", field->help,
              "\"><dt>", label_of(p, field), "</dt><dd>", NULL);
    if (text) {
        ap_rprintf(r, "<data value=\"%" APR_INT64_T_FMT "\">%s</data>", value,
                   text);
    }
    else {
        admission_fields_write(r, field, value);
    }
    ap_rputs("</dd></div>\n", r);
}

void admission_page_facts_zone(request_rec *r, apr_pool_t *p,
                               const admission_view_t *view)
{
    int i;

    ap_rputs("<dl>\n", r);
    for (i = 0; i < admission_zone_fields_count; i++) {
        const admission_field_t *field = &admission_zone_fields[i];

        if (admission_fields_tells(field, view)) {
            write_fact(r, p, field, field->of_zone(view));
        }
    }
    ap_rputs("</dl>\n", r);
}

void admission_page_facts_reasons(request_rec *r, const admission_view_t *view)
{
    int i;

    if (adm_figures_rejected(&view->stats.figures) == 0) {
        return;
    }
    ap_rputs("<table class=\"reasons\"><caption>Rejected since the start, by "
             "reason</caption>\n<tr><th scope=\"col\">Reason</th>"
             "<th scope=\"col\">Requests</th></tr>\n",
             r);
    for (i = 0; i < admission_zone_fields_count; i++) {
        const admission_field_t *field = &admission_zone_fields[i];

        if (field->reason && field->of_zone(view) > 0) {
            ap_rprintf(r,
                       "<tr><th scope=\"row\">%s</th><td>%" APR_INT64_T_FMT
                       "</td></tr>\n",
                       field->reason, field->of_zone(view));
        }
    }
    ap_rputs("</table>\n", r);
}

void admission_page_facts_trouble(request_rec *r,
                                  const adm_server_stats_t *server)
{
    if (!server->has_agent
        && admission_fields_zones(r->pool, NULL)->nelts > 0) {
        ap_rputs(
            "<p class=\"say bad\">The agent is not at work: children take "
            "back what the dead held, and limits of auto stand still or fall. "
            "The error log may have the reason.</p>\n",
            r);
    }
    if (server->engine.state == ADM_ENGINE_LOST) {
        ap_rputs(
            "<p class=\"say bad\">There is no connection with the engine of "
            "limits over servers: shares hold as long as their leases, then "
            "the fallback of AdmissionFleet does. The error log has the "
            "reason.</p>\n",
            r);
    }
    if (server->unlimited) {
        ap_rprintf(r,
                   "<p class=\"say bad\">%" APR_UINT64_T_FMT
                   " requests were let through without a limit because of a "
                   "fault; the error log has the reason.</p>\n",
                   (apr_uint64_t)server->unlimited);
    }
}

void admission_page_facts_server(request_rec *r,
                                 const adm_server_stats_t *server)
{
    const admission_field_t *field;
    int i;

    ap_rputs("<section><h2>Workers and children</h2>\n", r);
    ap_rputs("<dl>\n", r);
    for (i = 0; (field = admission_fields_of_server(i)); i++) {
        if (field->of == ADMISSION_OF_FLEET
            && server->engine.state == ADM_ENGINE_OFF) {
            continue;
        }
        write_fact(r, r->pool, field, field->of_server(server));
    }
    ap_rputs("</dl></section>\n", r);
}

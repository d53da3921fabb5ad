/* view_page_facts.c - numbers of a zone and of the server, grouped and
 * folded. */
#include <httpd.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_protocol.h>

#include "view_page.h"

/* @return the label of a field: "OldestWaitMs" is "Oldest wait", since the
 * value has its unit. Abbreviations in capitals are kept. */
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

/* @return a value that is not 0 with its unit; NULL if it has none. */
static const char *text_of(apr_pool_t *p, const admission_fact_t *fact)
{
    apr_int64_t value = fact->value;

    switch (fact->field->kind) {
    case ADMISSION_GAUGE_USEC:
        return value < 1000 ? apr_psprintf(p, "%" APR_INT64_T_FMT " us", value)
                            : admission_page_words_time(p, value);
    case ADMISSION_GAUGE_MSEC:
        return admission_page_words_time(p, value * ADM_USEC_PER_MSEC);
    case ADMISSION_GAUGE_SEC:
        return admission_page_words_time(p, value * ADM_USEC_PER_SEC);
    case ADMISSION_GAUGE_KB:
        return admission_page_words_size(p, (apr_uint64_t)value);
    case ADMISSION_GAUGE_MB:
        return admission_page_words_size(p, (apr_uint64_t)value * 1024);
    case ADMISSION_GAUGE_PERCENT:
        return apr_psprintf(p, "%" APR_INT64_T_FMT " %%", value);
    default:
        return NULL;
    }
}

/* Write a fact, with the plain number as a title if the text differs. */
static void write_fact(request_rec *r, apr_pool_t *p,
                       const admission_fact_t *fact)
{
    const admission_field_t *field = fact->field;
    const char *text = text_of(p, fact);

    ap_rvputs(r, "<div data-field=\"", field->name, "\" title=\"", field->help,
              "\"><dt>", label_of(p, field), "</dt><dd>", NULL);
    if (text) {
        ap_rprintf(r, "<data value=\"%" APR_INT64_T_FMT "\">%s</data>",
                   fact->value, text);
    }
    else {
        admission_fields_write(r, fact);
    }
    ap_rputs("</dd></div>\n", r);
}

/* Most numbers of most zones are 0. The page leaves these out, so that the
 * others are easier to find; the outputs for programs have all. */
static void write_group(request_rec *r, apr_pool_t *p,
                        const admission_facts_t *facts, const char *group)
{
    int i;

    ap_rputs("<dl>\n", r);
    for (i = 0; i < facts->count; i++) {
        if (facts->fact[i].group == group && facts->fact[i].value != 0) {
            write_fact(r, p, &facts->fact[i]);
        }
    }
    ap_rputs("</dl>", r);
}

/* @return whether a fact is the first of its group that is shown. */
static bool is_first(const admission_facts_t *facts, int fact)
{
    int i = 0;

    while (facts->fact[i].group != facts->fact[fact].group
           || facts->fact[i].value == 0) {
        i++;
    }
    return i == fact;
}

void admission_page_facts_zone(request_rec *r, apr_pool_t *p,
                               const admission_facts_t *facts)
{
    int i;

    for (i = 0; i < facts->count; i++) {
        const admission_fact_t *fact = &facts->fact[i];

        if (fact->group && fact->value != 0 && is_first(facts, i)) {
            ap_rvputs(r, "<details><summary>", fact->group, "</summary>\n",
                      NULL);
            write_group(r, p, facts, fact->group);
            ap_rputs("</details>\n", r);
        }
    }
}

void admission_page_facts_reasons(request_rec *r,
                                  const admission_facts_t *facts)
{
    const char *begin =
        "<table class=\"reasons\"><caption>Rejected requests since httpd "
        "started</caption>\n<tr><th scope=\"col\">Reason</th>"
        "<th scope=\"col\">Requests</th></tr>\n";
    const char *end = "";
    int i;

    for (i = 0; i < facts->count; i++) {
        const admission_fact_t *fact = &facts->fact[i];

        if (fact->field->reason && fact->value > 0) {
            ap_rprintf(r,
                       "%s<tr><th scope=\"row\">%s</th><td>%" APR_INT64_T_FMT
                       "</td></tr>\n",
                       begin, fact->field->reason, fact->value);
            begin = "";
            end = "</table>\n";
        }
    }
    ap_rputs(end, r);
}

void admission_page_facts_trouble(request_rec *r,
                                  const adm_server_stats_t *server)
{
    if (!server->has_agent && admission_fields_zones(r->pool, NULL)) {
        admission_page_words_write(
            r, "bad",
            "The agent is not running: child processes reclaim permits themselves, "
            "and automatic limits no longer rise. See the error log.");
    }
    admission_page_words_write_parts(r, r->pool, NULL);
    if (server->unlimited) {
        admission_page_words_write(
            r, "bad",
            "%" APR_UINT64_T_FMT
            " requests ran without a limit because of a fault. See the error log.",
            (apr_uint64_t)server->unlimited);
    }
}

void admission_page_facts_server(request_rec *r, const admission_facts_t *facts)
{
    ap_rvputs(r, "<section><h2>", facts->group, "</h2>\n", NULL);
    write_group(r, r->pool, facts, facts->group);
    ap_rputs("</section>\n", r);
}

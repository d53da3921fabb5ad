/* view_page_who.c - the running and waiting requests of a zone. */
#include <httpd.h>
#include <http_protocol.h>

#include "module/process.h"
#include "view_page.h"
#include "view_text.h"

#define SHOWN_MAX 36

/* First requests in the order of the page, of all seen so far. */
typedef struct first_t {
    adm_present_t shown[SHOWN_MAX];
    int count;
    int total;
    bool is_known; /* at least one request has a known client */
} first_t;

static bool is_before(const adm_present_t *a, const adm_present_t *b)
{
    return a->runs != b->runs ? a->runs : a->age_usec > b->age_usec;
}

/* Insert a request at its place in the order, and drop the last one if it is full. */
static void insert(first_t *first, const adm_present_t *present)
{
    int i;

    first->total++;
    first->is_known = first->is_known || present->is_known;
    if (first->count < SHOWN_MAX) {
        i = first->count++;
    }
    else if (is_before(present, &first->shown[SHOWN_MAX - 1])) {
        i = SHOWN_MAX - 1;
    }
    else {
        return;
    }
    for (; i > 0 && is_before(present, &first->shown[i - 1]); i--) {
        first->shown[i] = first->shown[i - 1];
    }
    first->shown[i] = *present;
}

/* @return NULL if the zone's lock is not free. */
static first_t *find_first(apr_pool_t *p, const admission_zone_t *zone)
{
    first_t *first = apr_pcalloc(p, sizeof(*first));
    adm_present_t *some = apr_palloc(p, ADM_PRESENT_MAX * sizeof(*some));
    uint32_t cursor = 0, count, i;

    do {
        if (adm_who_list(admission_process_child(), zone->handle, adm_now(),
                         &cursor, some, &count)
            != APR_SUCCESS) {
            return NULL;
        }
        for (i = 0; i < count; i++) {
            insert(first, &some[i]);
        }
    } while (count);
    return first;
}

static const char *escaped(apr_pool_t *p, const char *text)
{
    return ap_escape_html(p, admission_text_utf8(p, text));
}

static void write_program(request_rec *r, apr_pool_t *p,
                          const adm_present_t *present)
{
    adm_proc_usage_t usage;

    if (present->program) {
        ap_rprintf(r, "%d", (int)present->program);
    }
    ap_rputs("</td><td>", r);
    if (adm_proc_current_usage("", present->program, present->program_seen,
                               &usage)) {
        ap_rvputs(
            r, admission_page_words_time(p, (adm_usec_t)usage.processor_usec),
            "</td><td>", admission_page_words_size(p, usage.size_kb), NULL);
    }
    else {
        ap_rputs("</td><td>", r);
    }
}

/* Write "high, 3 permits"; default values are left out. */
static void write_ask(request_rec *r, apr_pool_t *p,
                      const adm_present_t *present)
{
    bool is_usual = present->priority == ADM_PRIORITY_NORMAL;

    ap_rvputs(r, "</td><td class=\"text\">",
              escaped(p,
                      admission_text_utf8_cut(p, present->key, ADM_KEY_NAME)),
              "</td><td class=\"text\">",
              is_usual ? "" : adm_priority_name(present->priority), NULL);
    if (present->cost > 1) {
        ap_rprintf(r, "%s%u permits", is_usual ? "" : ", ", present->cost);
    }
}

static void write_row(request_rec *r, apr_pool_t *p, bool has_asks,
                      const adm_present_t *present)
{
    const adm_who_t *who = &present->who;

    ap_rvputs(r, "<tr><th scope=\"row\">",
              present->runs ? "running" : "waiting", "</th><td>",
              admission_page_words_time(p, present->age_usec),
              "</td><td class=\"text\">", NULL);
    if (present->is_known) {
        ap_rvputs(r, escaped(p, who->client), "</td><td class=\"text\">",
                  escaped(p, who->method), " ", escaped(p, who->uri),
                  "</td><td class=\"text\">", escaped(p, who->host), NULL);
    }
    else {
        ap_rputs("</td><td></td><td>", r);
    }
    if (has_asks) {
        write_ask(r, p, present);
    }
    ap_rputs("</td><td>", r);
    write_program(r, p, present);
    ap_rputs("</td></tr>\n", r);
}

void admission_page_who_write(request_rec *r, apr_pool_t *p,
                              const admission_zone_t *zone)
{
    const first_t *first = find_first(p, zone);
    int i;

    if (!first || first->total == 0) {
        return;
    }
    ap_rputs(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Running and waiting requests\"><table class=\"who\">"
        "<caption>Running and waiting requests, oldest first</caption>\n"
        "<thead><tr><th scope=\"col\">State</th><th scope=\"col\">Since</th>"
        "<th scope=\"col\" class=\"text\">Client</th>"
        "<th scope=\"col\" class=\"text\">Request</th>"
        "<th scope=\"col\" class=\"text\">Host</th>",
        r);
    if (zone->uses_flows) {
        ap_rputs("<th scope=\"col\" class=\"text\">Key</th>"
                 "<th scope=\"col\" class=\"text\">Asks for</th>",
                 r);
    }
    ap_rputs("<th scope=\"col\">Program</th><th scope=\"col\">Processor</th>"
             "<th scope=\"col\">Memory</th></tr></thead>\n<tbody>\n",
             r);
    for (i = 0; i < first->count; i++) {
        write_row(r, p, zone->uses_flows, &first->shown[i]);
    }
    ap_rputs("</tbody></table></div>\n", r);
    if (first->total > first->count) {
        ap_rprintf(r, "<p class=\"key\"><span>and %d more</span></p>\n",
                   first->total - first->count);
    }
    if (!first->is_known) {
        ap_rputs("<p class=\"key\"><span>To see clients and URLs, set "
                 "ExtendedStatus On.</span></p>\n",
                 r);
    }
}

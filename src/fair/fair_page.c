/* fair_page.c - table of a zone's keys, on the live page. */
#include <httpd.h>
#include <http_protocol.h>

#include "module/process.h"
#include "fair_page.h"
#include "view/view_text.h"

void admission_page_keys_write(request_rec *r, apr_pool_t *p,
                               const admission_zone_t *zone)
{
    adm_key_stats_t keys[ADM_KEYS_SHOWN];
    uint32_t count = zone->uses_flows
                         ? adm_view_keys(admission_process_child(),
                                         zone->handle, adm_now(), keys)
                         : 0;
    uint32_t i;

    if (count == 0) {
        return;
    }
    ap_rputs(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Keys\"><table class=\"who\">"
        "<caption>Keys with the most permits and waiting requests</caption>\n"
        "<thead><tr><th scope=\"col\">Key</th>"
        "<th scope=\"col\">Permits</th><th scope=\"col\">Waiting</th>"
        "</tr></thead>\n<tbody>\n",
        r);
    for (i = 0; i < count; i++) {
        const char *name = admission_text_utf8_cut(p, keys[i].name,
                                                   ADM_KEY_NAME);

        ap_rvputs(r, "<tr><th scope=\"row\">",
                  *name ? ap_escape_html(p, name) : "(none)", NULL);
        ap_rprintf(r, "</th><td>%u</td><td>%u</td></tr>\n", keys[i].held,
                   keys[i].waiting);
    }
    ap_rputs("</tbody></table></div>\n", r);
}

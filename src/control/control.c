/* control.c - the handler admission-control: change limits by POST.
 *
 * A POST request overrides the configured limit, queue length or mode of one
 * zone. Every other request gets the status pages.
 */
#include <httpd.h>
#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "module/conf.h"
#include "module/page_handler.h"
#include "control.h"
#include "control_form.h"
#include "control_sender.h"
#include "module/process.h"
#include "view/view_fields.h"
#include "view/view_handler.h"
#include "view/view_json.h"
#include "view/view_text.h"

APLOG_USE_MODULE(admission);

/* Describe the change for the log: "limit 4 -> 8 (configured 4), mode open ->
 * pause". */
static const char *describe(apr_pool_t *p, const admission_zone_t *zone,
                            const adm_override_t *before,
                            const adm_override_t *after)
{
    const char *text = "";

    if (before->limit != after->limit) {
        text = apr_psprintf(p, ", limit %u -> %u (configured %d)",
                            before->limit, after->limit, zone->limit);
    }
    if (before->queue_length != after->queue_length) {
        text = apr_psprintf(p, "%s, queue %u -> %u (configured %d)", text,
                            before->queue_length, after->queue_length,
                            zone->queue_length);
    }
    if (before->mode != after->mode) {
        text = apr_psprintf(p, "%s, mode %s -> %s", text,
                            adm_mode_name((adm_mode_t)before->mode),
                            adm_mode_name((adm_mode_t)after->mode));
    }
    return *text ? text + 2 : "nothing changed";
}

/* Override the values of a zone, log the change, and respond. */
static int apply(request_rec *r, const admission_form_t *form)
{
    const admission_zone_t *zone = admission_fields_find_zone(r->pool,
                                                              form->zone);
    adm_override_t before, after;
    apr_status_t rv;

    if (!zone) {
        return admission_text_no_zone(r, form->zone);
    }
    rv = adm_override_set(admission_process_child(), zone->handle,
                          &form->wanted, adm_now(), &before, &after);
    if (rv != APR_SUCCESS) {
        return admission_text_answer(
            r, HTTP_SERVICE_UNAVAILABLE,
            "Nothing was changed: a stopped process holds the zone's lock, or the "
            "zone no longer exists.");
    }
    ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r, ADMLOGNO(0207)
                  "zone %s: %s, by %s", zone->name,
                  describe(r->pool, zone, &before, &after),
                  admission_sender_name(r));
    if (apr_table_get(r->headers_in, ADMISSION_CONTROL_HEADER)) {
        return admission_json_write(r, zone, ADMISSION_WITH_NOTHING);
    }
    /* A browser: redirect to the page, so that a reload does not repeat the
     * POST. */
    apr_table_setn(r->headers_out, "Location",
                   apr_pstrcat(r->pool, ap_os_escape_path(r->pool, r->uri, 1),
                               r->args ? "?" : "", r->args, NULL));
    return HTTP_SEE_OTHER;
}

/* Check the sender, read the form and apply it. @return what a handler
 * returns. */
ADMISSION_NOT_INLINED static int handle_post(request_rec *r)
{
    admission_form_t form;
    const char *wrong;
    int status;

    if (!admission_page_handler_is_unchanged(r)) {
        return admission_handler_refuse_page(r);
    }
    if (!admission_process_child()) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    wrong = admission_sender_check(r);
    if (wrong) {
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, r, ADMLOGNO(0208)
                      "override rejected, from %s: %s",
                      admission_sender_name(r), wrong);
        return admission_text_answer(r, HTTP_FORBIDDEN, wrong);
    }
    status = admission_form_read(r, &form, &wrong);
    if (status != OK) {
        return status;
    }
    return wrong ? admission_text_answer(r, HTTP_BAD_REQUEST, wrong)
                 : apply(r, &form);
}

int admission_control_handler(request_rec *r)
{
    return admission_conf_is_handler(r, ADMISSION_CONTROL_HANDLER)
                   && r->method_number == M_POST
               ? handle_post(r)
               : admission_handler_status(r);
}

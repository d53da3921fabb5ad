/* mod_admission_admit.c - the handler hook: decide, wait, tell, act. */
#include <httpd.h>
#include <http_config.h>

#include "request/mod_admission_admit.h"
#include "request/mod_admission_block.h"
#include "request/mod_admission_counts.h"
#include "request/mod_admission_detour.h"
#include "request/mod_admission_http2.h"
#include "request/mod_admission_key.h"
#include "request/mod_admission_park.h"
#include "request/mod_admission_program.h"
#include "request/mod_admission_resume.h"
#include "request/mod_admission_run.h"
#include "request/mod_admission_self.h"
#include "request/mod_admission_upload.h"
#include "request/mod_admission_visit.h"
#include "request/mod_admission_wait.h"
#include "request/mod_admission_who.h"
#include "server/mod_admission_process.h"

/* Why it is refused, and what helps. */
#define ENDLESS                                                           \
    "this server has sent it to itself " APR_STRINGIFY(                   \
        ADMISSION_SELF_HOPS_MAX) " times, and each time a worker waits; " \
                                 "look for a loop of ProxyPass"

/* ---- decide -------------------------------------------------------------- */

static adm_entry_t entry_of(request_rec *r, const admission_dir_conf_t *conf,
                            const admission_kin_t *kin,
                            admission_request_t *known)
{
    adm_entry_t entry = { .queue_length = (uint32_t)admission_conf_queue_length(
                              conf),
                          .target_usec = admission_conf_queue_target(conf),
                          .dry_run = admission_conf_is_dry_run(conf) };

    if (kin->holds_any) {
        /* A request that holds a permit must not wait for another one; and its
         * worker is counted already. */
        return entry;
    }
    if (admission_self_is_endless(r)) {
        entry.worker = ADM_WORKER_DENIED;
        entry.wait = ADM_WAIT_BLOCKED;
        known->why_denied = ENDLESS;
    }
    else if (!r->connection->master) {
        entry.worker = ADM_WORKER_ONE;
        entry.wait = admission_resume_is_possible(r) ? ADM_WAIT_PARKED
                                                     : ADM_WAIT_BLOCKED;
    }
    else {
        entry.worker = admission_http2_enter(r, known);
        entry.wait = ADM_WAIT_BLOCKED;
    }
    if (kin->was_rejected) {
        /* The error page for a full zone must not join its queue. */
        entry.wait = ADM_WAIT_NEVER;
    }
    return entry;
}

/* ADM_WAITING: the ticket is queued, to wait in the way of @a how. */
static void enter(request_rec *r, const admission_dir_conf_t *conf,
                  const admission_kin_t *kin, admission_verdict_t *verdict,
                  adm_wait_t *how)
{
    admission_request_t *known = admission_visit_note(r, verdict->zone);
    admission_kin_t all_kin = *kin;
    adm_ticket_t *ticket;
    adm_entry_t entry;

    known->visit = admission_visit_make(r, verdict->zone);
    ticket = &known->visit->ticket;
    switch (admission_self_claim(r, verdict->zone, ticket)) {
    case ADMISSION_SELF_HEIR:
        admission_who_note(r, ticket);
        verdict->outcome = ADM_ADMITTED;
        return;
    case ADMISSION_SELF_PART:
        all_kin.holds_any = 1;
        break;
    case ADMISSION_SELF_STRANGER:
        break;
    }
    entry = entry_of(r, conf, &all_kin, known);
    admission_key_ask(r, conf, verdict->zone, &entry);
    verdict->outcome = adm_ticket_enter(admission_process_child(),
                                        verdict->zone->handle, &entry,
                                        adm_now(), ticket);
    if (atomic_load(&ticket->held)) {
        admission_who_note(r, ticket);
    }
    verdict->queued_ahead = ticket->queued_ahead;
    verdict->drain_usec = ticket->drain_usec;
    verdict->fault = ticket->fault;
    if (verdict->outcome == ADM_RESERVE || verdict->outcome == ADM_PARKING) {
        verdict->reason = known->why_denied;
    }
    *how = entry.wait;
}

/* @return whether the request runs without asking its zone. */
static bool is_let_through(request_rec *r, const admission_dir_conf_t *conf,
                           admission_verdict_t *verdict)
{
    if (!admission_process_child()) {
        verdict->outcome = ADM_UNLIMITED;
        verdict->fault = admission_process_fault();
        return true;
    }
    if (admission_counts_exempt(r, conf, verdict->zone)) {
        adm_zone_count_exempt(admission_process_child(), verdict->zone->handle);
        verdict->outcome = ADM_EXEMPT;
        return true;
    }
    return false;
}

/* ---- wait ---------------------------------------------------------------- */

/* @return SUSPENDED: mod_admission_park.c goes on. */
static int wait_for_permit(request_rec *r, const admission_dir_conf_t *conf,
                           adm_wait_t how, admission_verdict_t *verdict)
{
    admission_visit_t *visit = admission_visit_request(r)->visit;
    adm_usec_t began = adm_now();
    adm_usec_t deadline = began + admission_conf_queue_timeout(conf);
    adm_outcome_t outcome = ADM_WAITING;

    if (how == ADM_WAIT_PARKED) {
        if (admission_park(r, visit, deadline) == SUSPENDED) {
            return SUSPENDED;
        }
        outcome = adm_ticket_block(&visit->ticket, began);
    }
    if (outcome == ADM_WAITING) {
        outcome = admission_block(r, &visit->ticket, deadline);
    }
    admission_wait_end(r, outcome, began, verdict);
    return OK;
}

/* ---- the hook ------------------------------------------------------------ */

/* @return what a handler returns, or SUSPENDED: mod_admission_park.c goes on. */
static int ask(request_rec *r, const admission_dir_conf_t *conf,
               const admission_kin_t *kin, bool leads_on)
{
    admission_verdict_t verdict = { .zone = admission_conf_zone(conf) };
    adm_wait_t how = ADM_WAIT_NEVER;

    if (!kin->holds_any && !kin->was_rejected) {
        int rv = admission_upload_read(r, conf, admission_admit);

        if (rv != OK) {
            return rv;
        }
    }
    enter(r, conf, kin, &verdict, &how);
    admission_visit_request(r)->leads_on = leads_on;
    if (verdict.outcome == ADM_WAITING
        && wait_for_permit(r, conf, how, &verdict) == SUSPENDED) {
        return SUSPENDED;
    }
    return admission_run(r, &verdict);
}

/* It asks nothing for itself. But where it is redirected inside httpd, it asks
 * for its target, while it can still be parked. */
ADMISSION_NOT_INLINED static int ask_for_target(request_rec *r)
{
    admission_kin_t none = { 0 };
    admission_dir_conf_t target;

    return admission_detour_target(r, &target) && admission_conf_zone(&target)
               ? ask(r, &target, &none, 1)
               : DECLINED;
}

static inline int ask_elsewhere(request_rec *r,
                                const admission_dir_conf_t *conf)
{
    return admission_detour_is_possible(r, conf) ? ask_for_target(r) : DECLINED;
}

static int ask_for_itself(request_rec *r, const admission_dir_conf_t *conf)
{
    const admission_zone_t *zone = admission_conf_zone(conf);
    admission_kin_t kin = admission_visit_kin(r, zone);

    if (kin.visit_of_zone) {
        admission_visit_share(r, kin.visit_of_zone);
        admission_program_export_token(r, &kin.visit_of_zone->ticket);
        return DECLINED;
    }
    if (kin.was_rejected_by_zone) {
        /* Rejected and counted once: httpd's own text takes the place of the
         * error page. */
        return admission_conf_reject_status(conf);
    }
    if (kin.holds_any) {
        admission_detour_leave_ended(r);
        kin = admission_visit_kin(r, zone);
    }
    return ask(r, conf, &kin, 0);
}

ADMISSION_NOT_INLINED static int ask_zone(request_rec *r,
                                          const admission_dir_conf_t *conf)
{
    admission_verdict_t verdict = { .zone = admission_conf_zone(conf) };

    if (admission_counts_detour(r) || !admission_counts(conf, r)) {
        return ask_elsewhere(r, conf);
    }
    if (is_let_through(r, conf, &verdict)) {
        admission_visit_note(r, verdict.zone);
        return admission_run(r, &verdict);
    }
    if (admission_detour_take_over(r, &verdict)) {
        return admission_run(r, &verdict);
    }
    return ask_for_itself(r, conf);
}

/* Most requests go through here in a few instructions. */
int admission_admit(request_rec *r)
{
    const admission_dir_conf_t *conf = ap_get_module_config(r->per_dir_config,
                                                            &admission_module);

    return admission_conf_zone(conf) ? ask_zone(r, conf)
                                     : ask_elsewhere(r, conf);
}

/* block.c - wait for a permit without parking the request: blocked. */
#include <httpd.h>

#include "block.h"
#include "park/park_mpm.h"

/* Reason for a rejected request, and the remedy. */
#define WORKER_IS_NEEDED                                          \
    "its worker is needed by a request that has a permit; raise " \
    "ThreadsPerChild"

/* Once per second and child: the event MPM's listener can miss that workers are
 * idle. Requests that are parked have the dispatcher for this check. */
static void check_listener(adm_usec_t now)
{
    static _Atomic adm_usec_t next_check;

    if (adm_due(&next_check, now, ADM_USEC_PER_SEC)) {
        admission_mpm_keep_accepting();
    }
}

adm_outcome_t admission_block(request_rec *r, adm_ticket_t *ticket,
                              adm_usec_t deadline)
{
    adm_outcome_t outcome;

    while ((outcome = admission_wait_outcome(r, ticket, deadline))
           == ADM_WAITING) {
        if (adm_worker_claim_yield(ticket->child)) {
            admission_visit_request(r)->why_denied = WORKER_IS_NEEDED;
            return adm_ticket_cancel(ticket, ADM_RESERVE, adm_now());
        }
        check_listener(adm_now());
        adm_round_help(ticket->child, adm_now());
        adm_ticket_sleep(ticket, deadline);
    }
    return outcome;
}

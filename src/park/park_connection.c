/* park_connection.c - connection hooks: continue a waiting request when its
 * connection has a worker again.
 *
 * A request waits for a permit (park.c) or for its client (park_ready.c), never
 * for both. It is continued before anything else reads from the connection.
 */
#include <httpd.h>
#include <apr_hooks.h>
#include <http_connection.h>

#include "park_connection.h"
#include "park_mpm.h"
#include "park.h"
#include "park_ready.h"
#include "park_room.h"

/* Run the hooks after admission_connection_process(), which read and run the
 * next request. They are called from here because the connection's state must
 * be changed if that request is parked. */
static int run_later_hooks(conn_rec *c)
{
    apr_array_header_t *hooks = ap_hook_get_process_connection();
    ap_LINK_process_connection_t *hook = (ap_LINK_process_connection_t *)
                                             hooks->elts;
    int i, rv = DECLINED;

    for (i = 0;
         i < hooks->nelts && hook[i].pFunc != admission_connection_process;
         i++) {
    }
    for (i++; i < hooks->nelts && rv == DECLINED; i++) {
        rv = hook[i].pFunc(c);
    }
    return rv;
}

int admission_connection_process(conn_rec *c)
{
    admission_continued_t continued;
    int rv = OK;

    if (!admission_room_parks() || !c->cs || c->master) {
        return DECLINED;
    }
    continued = admission_ready_continue(c);
    if (continued == ADMISSION_NONE_WAITED) {
        continued = admission_park_continue(c);
    }
    if (continued == ADMISSION_NONE_WAITED) {
        rv = run_later_hooks(c);
        if (admission_mpm_is_suspended(c) && admission_resume_is_leaving(c)) {
            continued = ADMISSION_WAITS_AGAIN;
        }
    }
    if (continued == ADMISSION_WAITS_AGAIN) {
        admission_mpm_wait(c, admission_ready_is_leaving(c)
                                  && admission_ready_polls_to_write(c));
        rv = OK;
    }
    return rv;
}

void admission_connection_suspend(conn_rec *c, request_rec *r)
{
    if (admission_room_parks() && c->cs && admission_mpm_is_waiting(c)) {
        admission_park_suspend(c);
        admission_ready_suspend(c);
    }
}

void admission_connection_resume(conn_rec *c, request_rec *r)
{
    if (admission_room_parks()) {
        admission_park_resume(c);
        admission_ready_resume(c);
    }
}

/* mod_admission_block.c - wait for a permit and hold the worker meanwhile. */
#include <httpd.h>
#include <poll.h>

#include <apr_portable.h>
#include <ap_mpm.h>
#include <http_core.h>
#include <http_main.h>
#include <http_protocol.h>

#include "mod_admission_private.h"

/* ---- the client --------------------------------------------------------------------- */

int admission_may_half_close(const request_rec *r)
{
    while (r->main) {
        r = r->main; /* a subrequest has no protocol of its own */
    }
    /* Proxies say "Connection: close" with each request, and close the whole
     * connection when their own client leaves: nobody reads the answer then. */
    return r->proto_num < HTTP_VERSION(1, 1)
           && !apr_table_get(r->headers_in, "Connection");
}

/* Sees a closed connection behind unread data, and under TLS. Where the system
 * cannot tell, the client counts as there. */
static int has_hung_up(const request_rec *r)
{
#ifdef POLLRDHUP
    apr_socket_t *socket = ap_get_conn_socket(r->connection);
    struct pollfd client = { .events = admission_may_half_close(r)
                                           ? 0
                                           : POLLRDHUP };

    return socket && apr_os_sock_get(&client.fd, socket) == APR_SUCCESS
           && poll(&client, 1, 0) == 1
           && (client.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
#else
    (void)r;
    return 0;
#endif
}

int admission_client_has_gone(const request_rec *r)
{
    const conn_rec *c = r->connection;

    /* An HTTP/2 stream has no socket of its own; the thread of the connection
     * marks it. */
    return c->master ? c->aborted || c->master->aborted
                     : c->aborted || has_hung_up(r);
}

/* ---- the wait ------------------------------------------------------------------------- */

adm_outcome_t admission_block(request_rec *r, adm_ticket_t *ticket,
                              adm_usec_t deadline)
{
    for (;;) {
        adm_usec_t now = adm_now();
        adm_usec_t slice = now + ADM_WAIT_SLICE_USEC;
        adm_outcome_t outcome = adm_ticket_wait(ticket, slice < deadline
                                                            ? slice
                                                            : deadline);

        /* Also at the grant, so that nothing is started for nobody. */
        if (admission_client_has_gone(r)) {
            return adm_ticket_cancel(ticket, ADM_GONE, adm_now());
        }
        if (outcome == ADM_WAITED) {
            return outcome;
        }
        if (outcome != ADM_WAITING) {
            return adm_ticket_cancel(ticket, outcome, adm_now());
        }
        now = adm_now();
        if (now >= deadline) {
            /* Granted at the last moment: then be it so. */
            return adm_ticket_cancel(ticket, ADM_TIMEOUT, adm_now());
        }
        adm_round(ticket->child, now, false);
    }
}

/* ---- HTTP/2: another pool of threads ------------------------------------------------------ */

static atomic_int http2_visits;
static int http2_visits_max;

/* mod_http2 keeps its configuration to itself; this is its directive and its
 * default. */
static int http2_max_workers(void)
{
    int workers = (int)admission_number_of("H2MaxWorkers", 0);
    int threads = 0;

    if (workers < 1) {
        ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
        workers = threads * 3 / 2 > 4 ? threads * 3 / 2 : 4;
    }
    return workers;
}

int admission_http2_room(server_rec *s)
{
    int workers = http2_max_workers();
    /* Streams that do not count keep one, and so do those that do. */
    int room = workers - admission_reserved_share(s, workers);

    return room > 1 ? room : 1;
}

void admission_http2_child_init(server_rec *s)
{
    http2_visits_max = admission_http2_room(s);
}

int admission_http2_enter(void)
{
    if (atomic_fetch_add(&http2_visits, 1) < http2_visits_max) {
        return 1;
    }
    atomic_fetch_sub(&http2_visits, 1);
    return 0;
}

void admission_http2_leave(void)
{
    atomic_fetch_sub(&http2_visits, 1);
}

/* wait.c - how a wait ends, with a worker or without. */
#include <httpd.h>
#include <poll.h>

#include <ap_mpm.h>
#include <apr_portable.h>
#include <http_core.h>
#include <http_protocol.h>

#include "wait.h"
#include "capacity.h"
#include "since.h"

/* ---- the client ---------------------------------------------------------- */

/* A client that uses HTTP/1.0 by hand half-closes its connection and reads on.
 * Proxies send "Connection: close" with each request, and close the whole connection
 * when their own client disconnects. A client that claims any version other than 1.1
 * here is written by hand, too. */
static bool may_half_close(const request_rec *r)
{
    return r->proto_num != HTTP_VERSION(1, 1)
           && !apr_table_get(r->headers_in, "Connection");
}

static bool is_of_this_server(const conn_rec *c)
{
    return strncmp(c->client_ip, "127.", 4) == 0
           || apr_sockaddr_equal(c->client_addr, c->local_addr);
}

/* A proxy on this server passes on requests of clients that are not. */
static bool is_passed_on(const request_rec *r)
{
    return apr_table_get(r->headers_in, "X-Forwarded-For")
           || apr_table_get(r->headers_in, "Forwarded")
           || apr_table_get(r->headers_in, "Via")
           || strcmp(r->useragent_ip, r->connection->client_ip) != 0;
}

/* An application's request to its own server, such as WordPress's to wp-cron.php:
 * sent for its effect, by a client that disconnects without reading the response. A
 * GET without a reader is useless, and a proxy may pass it on without a header. */
static bool is_own_errand(const request_rec *r)
{
    return r->method_number == M_POST && is_of_this_server(r->connection)
           && !is_passed_on(r);
}

bool admission_wait_ignores_end(const request_rec *r)
{
    while (r->main) {
        r = r->main; /* a subrequest has no protocol of its own */
    }
    return may_half_close(r) || is_own_errand(r);
}

/* Sees a closed connection behind unread data, and under TLS. Where the system
 * cannot tell, the client counts as there. */
static bool has_hung_up(const request_rec *r)
{
#ifdef POLLRDHUP
    apr_socket_t *socket = ap_get_conn_socket(r->connection);
    struct pollfd client = { .events = admission_wait_ignores_end(r)
                                           ? 0
                                           : POLLRDHUP };

    return socket && apr_os_sock_get(&client.fd, socket) == APR_SUCCESS
           && poll(&client, 1, 0) == 1
           && (client.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
#else
    return false;
#endif
}

bool admission_wait_client_has_gone(const request_rec *r)
{
    const conn_rec *c = r->connection;

    /* An HTTP/2 stream has no socket of its own; the thread of the connection
     * marks it. */
    return c->master ? c->aborted || c->master->aborted
                     : c->aborted || has_hung_up(r);
}

/* ---- the child ----------------------------------------------------------- */

/* What the hook child_stopping tells where there is one: this stop is not graceful.
 * The MPM has closed the connections of busy workers then. */
static void note_hard_stop(conn_rec *c, adm_child_t *child)
{
    apr_socket_t *socket = ap_get_conn_socket(c->master ? c->master : c);
    apr_os_sock_t number = -1;

    if (admission_capacity_query(AP_MPMQ_MPM_STATE, AP_MPMQ_RUNNING)
            == AP_MPMQ_STOPPING
        && !(socket && apr_os_sock_get(&number, socket) == APR_SUCCESS
             && number >= 0)) {
        adm_child_stop(child);
    }
}

/* ---- the end ------------------------------------------------------------- */

adm_outcome_t admission_wait_outcome(request_rec *r, adm_ticket_t *ticket,
                                     adm_usec_t deadline)
{
    adm_usec_t now = adm_now();
    adm_outcome_t outcome;

    /* First, also at the grant: no work is started for a client that has gone. */
    if (admission_wait_client_has_gone(r)) {
        return adm_ticket_cancel(ticket, ADM_GONE, now);
    }
    if (!ADMISSION_HAS_CHILD_STOPPING) {
        note_hard_stop(r->connection, ticket->child);
    }
    outcome = adm_ticket_outcome(ticket, deadline, now);
    return outcome == ADM_WAITING || outcome == ADM_WAITED
               ? outcome
               : adm_ticket_cancel(ticket, outcome, now);
}

void admission_wait_end(request_rec *r, adm_outcome_t outcome, adm_usec_t began,
                        admission_verdict_t *verdict)
{
    const admission_request_t *known = admission_visit_request(r);
    const adm_ticket_t *ticket = &known->visit->ticket;

    *verdict = (admission_verdict_t){ .outcome = outcome,
                                      .zone = known->zone,
                                      .queued_ahead = ticket->queued_ahead,
                                      .waited_usec = adm_now() - began,
                                      .drain_usec = ticket->drain_usec,
                                      .fault = ticket->fault,
                                      .reason = known->why_denied };
}

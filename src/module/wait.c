/* wait.c - how a wait ends, parked or blocked, and the blocked way to wait. */
#include <httpd.h>
#include <poll.h>

#include <ap_mpm.h>
#include <apr_portable.h>
#include <http_core.h>

#include "wait.h"
#include "capacity.h"
#include "park/park_mpm.h"
#include "since.h"

/* ---- the client ---------------------------------------------------------- */

/* @return whether the client might half-close its connection and read on, as
 * hand-written HTTP/1.0 clients do. Proxies send "Connection: close" with each
 * request, and close the whole connection when their own client disconnects. A
 * client with any other version than 1.1 is hand-written, too. */
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

/* @return whether a proxy on this server sent the request for an outside
 * client. */
static bool is_proxied(const request_rec *r)
{
    return apr_table_get(r->headers_in, "X-Forwarded-For")
           || apr_table_get(r->headers_in, "Forwarded")
           || apr_table_get(r->headers_in, "Via")
           || strcmp(r->useragent_ip, r->connection->client_ip) != 0;
}

/* @return whether an application sent this request to its own server for its
 * effect only, as WordPress does to wp-cron.php, and disconnected without
 * reading the response. A GET is useless without a reader; moreover, a proxy
 * can pass it on without a header. */
static bool is_local_post(const request_rec *r)
{
    return r->method_number == M_POST && is_of_this_server(r->connection)
           && !is_proxied(r);
}

bool admission_wait_ignores_end(const request_rec *r)
{
    while (r->main) {
        r = r->main; /* a subrequest has no client */
    }
    return may_half_close(r) || is_local_post(r);
}

bool admission_wait_ignores_reset(const request_rec *r)
{
    while (r->main) {
        r = r->main;
    }
    return is_local_post(r);
}

/* @return whether the client has closed its connection, even behind unread data
 * and under TLS. */
static bool has_closed(const request_rec *r)
{
    apr_socket_t *socket = ap_get_conn_socket(r->connection);
    struct pollfd client = { .events = admission_wait_ignores_end(r)
                                           ? 0
                                           : POLLRDHUP };

    /* A client that leaves unread data behind, such as the session tickets of
     * TLS 1.3, resets its connection. */
    return socket && !admission_wait_ignores_reset(r)
           && apr_os_sock_get(&client.fd, socket) == APR_SUCCESS
           && poll(&client, 1, 0) == 1
           && (client.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

bool admission_wait_client_has_gone(const request_rec *r)
{
    const conn_rec *c = r->connection;

    /* An HTTP/2 stream has no socket; its connection's thread sets
     * `aborted`. */
    return c->master ? c->aborted || c->master->aborted
                     : c->aborted || has_closed(r);
}

/* ---- the child ----------------------------------------------------------- */

/* Substitute for the hook child_stopping in older versions of httpd: detect
 * that the child is stopping, and not gracefully. The MPM has then closed the
 * sockets of busy workers. */
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

    /* Before the outcome is checked, so that no work starts for a client that
     * has disconnected, even if the ticket has just been granted. */
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

void admission_wait_end(request_rec *r, adm_outcome_t outcome, adm_usec_t began)
{
    admission_request_t *state = admission_visit_request(r);

    state->outcome = outcome;
    state->waited_usec = adm_now() - began;
}

/* ---- blocked ------------------------------------------------------------- */

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

/* spool_backend.c - send buffered output while a backend is silent. */
#include <httpd.h>
#include <poll.h>

#include <apr_portable.h>
#include <http_core.h>
#include <http_connection.h>
#include <util_filter.h>

#include "module/zones.h"
#include "module/since.h"
#include "spool.h"

static ap_filter_rec_t *backend_filter;

/* Response of the request whose handlers run on this thread; NULL: none. */
static _Thread_local admission_drain_t *current;

admission_drain_t *spool_backend_begin(admission_drain_t *drain)
{
    admission_drain_t *outer = current;

    current = drain;
    return outer;
}

void spool_backend_end(admission_drain_t *outer)
{
    current = outer;
}

/* Wait until the backend can be read or the client can be written to.
 * @return whether one of them can, before @a until. */
static bool wait_for_either(conn_rec *backend, conn_rec *client,
                            apr_time_t until)
{
    apr_socket_t *sockets[] = { ap_get_conn_socket(backend),
                                ap_get_conn_socket(client) };
    struct pollfd either[] = { { .events = POLLIN }, { .events = POLLOUT } };
    apr_time_t left = apr_time_as_msec(until - apr_time_now());

    return left > 0 && sockets[0] && sockets[1]
           && apr_os_sock_get(&either[0].fd, sockets[0]) == APR_SUCCESS
           && apr_os_sock_get(&either[1].fd, sockets[1]) == APR_SUCCESS
           && poll(either, 2, (int)left) > 0;
}

/* Read from the backend. While a read would block and a flush is due, send the
 * client what it takes. The blocking read itself follows when nothing is left
 * to send. */
static apr_status_t read_backend(ap_filter_t *f, apr_bucket_brigade *bb,
                                 ap_input_mode_t mode, apr_read_type_e block,
                                 apr_off_t bytes)
{
    conn_rec *client = current ? current->f->c : NULL;
    apr_interval_time_t patience = 0;
    apr_time_t until = 0;

    while (block == APR_BLOCK_READ && client && current->is_flush_due) {
        apr_status_t rv = ap_get_brigade(f->next, bb, mode, APR_NONBLOCK_READ,
                                         bytes);

        if (!APR_STATUS_IS_EAGAIN(rv)
            && !(rv == APR_SUCCESS && APR_BRIGADE_EMPTY(bb))) {
            return rv;
        }
        rv = admission_drain_flush_soon(current);
        if (rv != APR_SUCCESS || !current->is_flush_due) {
            break; /* the handler gets the error when it writes */
        }
        if (!until) {
            apr_socket_timeout_get(ap_get_conn_socket(f->c), &patience);
            until = apr_time_now() + patience;
        }
        if (!wait_for_either(f->c, client, until)) {
            break;
        }
    }
    return ap_get_brigade(f->next, bb, mode, block, bytes);
}

/* Add the filter to connections to backends. */
static int pre_connection(conn_rec *c, void *socket)
{
#if ADMISSION_HAS_OUTGOING
    if (!c->outgoing) {
        return DECLINED;
    }
#else
    if (c->sbh) {
        return DECLINED; /* mod_proxy's connections have no scoreboard handle */
    }
#endif
    if (!c->master && admission_zones()) {
        ap_add_input_filter_handle(backend_filter, NULL, NULL, c);
    }
    return DECLINED;
}

void spool_backend_register(void)
{
    backend_filter = ap_register_input_filter("ADMISSION_BACKEND", read_backend,
                                              NULL, AP_FTYPE_CONNECTION);
    ap_hook_pre_connection(pre_connection, NULL, NULL, APR_HOOK_MIDDLE);
}

/* http2.c - account for the threads and workers of HTTP/2 streams in zones.
 *
 * A stream occupies a thread of mod_http2. Its connection also occupies a
 * worker of the MPM while any stream is open. So the first stream of a
 * connection that enters a zone takes one worker for all of them, and the last
 * stream to leave returns it.
 *
 * The counts are in private memory: if the child is killed, its record in the
 * segment, and with it its workers, are reclaimed.
 */
#include <httpd.h>
#include <pthread.h>

#include "http2.h"
#include "module/process.h"
#include "http2_threads.h"

/* Reasons for a rejected stream, and the remedy. */
#define NO_THREAD \
    "the last threads of mod_http2 are reserved, raise H2MaxWorkers"
#define NO_WORKER                                                            \
    "the last workers are reserved, and its HTTP/2 connection would occupy " \
    "one; raise MaxRequestWorkers"
#define NO_ROOM                                                       \
    "its HTTP/2 connection would occupy a worker, and the remaining " \
    "connections are reserved; raise MaxRequestWorkers"

/* A connection that has streams in zones. */
typedef struct connection_t {
    const conn_rec *c; /* the client's; compared, never dereferenced */
    int streams;
} connection_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* All under one lock, held also while the worker is requested: a second stream
 * must not enter before its connection has a worker. */
static connection_t *connections; /* streams_max elements */
static int connections_used;
static int streams;
static int streams_max;

void admission_http2_child_init(apr_pool_t *pchild, server_rec *s)
{
    streams_max = admission_streams_room(s);
    /* The process pool, because streams can end while pchild is destroyed. */
    connections = apr_pcalloc(s->process->pool,
                              (apr_size_t)streams_max * sizeof(*connections));
}

static connection_t *find_connection(const conn_rec *c)
{
    int i;

    for (i = 0; i < connections_used; i++) {
        if (connections[i].c == c) {
            return &connections[i];
        }
    }
    return NULL;
}

/* Count a stream, and occupy a worker if it is the first one of its connection.
 * @return ADM_WORKER_NONE: counted; otherwise @a why has the reason. */
static adm_worker_t enter_locked(const conn_rec *c, const char **why)
{
    connection_t *connection = find_connection(c);
    adm_worker_t worker = ADM_WORKER_NONE;

    if (streams >= streams_max) {
        *why = NO_THREAD;
        return ADM_WORKER_DENIED;
    }
    if (!connection) {
        worker = adm_worker_occupy(admission_process_child());
        if (worker != ADM_WORKER_NONE) {
            *why = worker == ADM_WORKER_NO_ROOM ? NO_ROOM : NO_WORKER;
            return worker;
        }
        connection = &connections[connections_used++];
        *connection = (connection_t){ .c = c };
    }
    connection->streams++;
    streams++;
    return worker;
}

/* Undo enter_locked(). The connection is in the table as long as one of its streams is
 * counted. */
static void leave_locked(const conn_rec *c)
{
    connection_t *connection = find_connection(c);

    streams--;
    if (connection && --connection->streams == 0) {
        *connection = connections[--connections_used];
        adm_worker_vacate(admission_process_child());
    }
}

adm_worker_t admission_http2_enter(const request_rec *r,
                                   admission_request_t *state)
{
    adm_worker_t worker;

    pthread_mutex_lock(&lock);
    worker = enter_locked(r->connection->master, &state->why_denied);
    pthread_mutex_unlock(&lock);
    state->counts_for_http2 = worker == ADM_WORKER_NONE;
    return worker;
}

void admission_http2_leave_counted(const request_rec *r,
                                   admission_request_t *state)
{
    state->counts_for_http2 = false;
    pthread_mutex_lock(&lock);
    leave_locked(r->connection->master);
    pthread_mutex_unlock(&lock);
}

/* park_room.h - how many requests can be parked. */
#ifndef PARK_ROOM_H
#define PARK_ROOM_H

#include <stdbool.h>

#include <httpd.h>

/** Open files a child needs besides those of its connections, and each of its
 *  threads, for a program or a backend. */
#define ADMISSION_SPARE_FILES 64
#define ADMISSION_THREAD_FILES 4

/** How many requests can be parked at once, by the sizes of the server and the
 *  limit of open files. */
typedef struct admission_room_t {
    int children; /* at most */
    int children_at_start;
    apr_int64_t requests; /* in all these children */
    apr_int64_t requests_at_start;
} admission_room_t;

/** How the MPM can wait without a worker; NULL: it cannot. Before a configuration
 *  is read. */
void admission_room_begin(const char *way_of_mpm);

/** @return whether the MPM can wait without a worker. */
bool admission_room_can_park(void);

/** @return the room of this server; nothing where requests do not park. */
admission_room_t admission_room(server_rec *s);

/** @return whether requests will park. Also before the server runs. */
bool admission_room_would_park(server_rec *s);

/** @return whether requests of this server wait without a worker at all. */
bool admission_room_parks(void);

/** @return how many requests a child can park that has @a open files open. */
apr_int64_t admission_room_slots(server_rec *s, apr_int64_t open);

/** @return how many files this process may have open, and has. */
apr_int64_t admission_room_files_allowed(void);
apr_int64_t admission_room_files_open(void);

/** Log a warning if the queues are longer than what can be parked. Also before
 *  the server runs. */
void admission_room_warn(server_rec *s);

int admission_room_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                               apr_pool_t *ptemp, server_rec *s);

/** Where requests park, let so few wait that the MPM goes on accepting
 *  connections for others. */
void admission_room_child_init(apr_pool_t *pchild, server_rec *s);

#endif

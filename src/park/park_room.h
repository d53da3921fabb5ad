/* park_room.h - parking capacity: how many requests can be parked. */
#ifndef PARK_ROOM_H
#define PARK_ROOM_H

#include <stdbool.h>

#include <httpd.h>

/** Open files that a child needs in addition to its connections, and that each
 *  of its threads needs for a program or a backend. */
#define ADMISSION_SPARE_FILES 64
#define ADMISSION_THREAD_FILES 4

/** Parking capacity of this server. */
typedef struct admission_room_t {
    int children; /* maximum */
    int children_at_start;
    apr_int64_t requests; /* in all these children together */
    apr_int64_t requests_at_start;
} admission_room_t;

/** @return the capacity; all 0 if requests are not parked. */
admission_room_t admission_room(server_rec *s);

/** @return whether requests would be parked with a higher limit of open files.
 *  Also before the server runs. */
bool admission_room_lacks_files(server_rec *s);

/** @return whether requests will be parked. Also before the server runs. */
bool admission_room_would_park(server_rec *s);

/** @return whether requests of the running server are parked. */
bool admission_room_parks(void);

/** @return the number of requests that a child with @a open open files can
 *  park. */
apr_int64_t admission_room_slots(server_rec *s, apr_int64_t open);

/** @return the number of files that this process can open, and has open. The
 *  second lists /proc/self/fd. */
apr_int64_t admission_room_files_allowed(void);
apr_int64_t admission_room_files_open(void);

/** Log a warning (ADM0302) if a queue is longer than the parking capacity. Also
 *  before the server runs. */
void admission_room_warn(server_rec *s);

/** Add AsyncRequestWorkerFactor to the configuration, before httpd processes
 *  it, if the configuration has a zone but does not set the factor. */
void admission_room_pre_config(apr_pool_t *pconf);

/** Decide whether this server parks requests, and log it (ADM0303), and the
 *  factor that was added (ADM0306). */
void admission_room_start(server_rec *s);

/** Limit the requests that wait in this child, so that the MPM still accepts
 *  other connections. No effect if requests are not parked. */
void admission_room_child_start(server_rec *s);

#endif

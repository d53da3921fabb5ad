/* capacity.h - what httpd has to serve requests with, and how much
 * of it zones may use: workers and threads.
 */
#ifndef MODULE_CAPACITY_H
#define MODULE_CAPACITY_H

#include <stdbool.h>

#include <httpd.h>

/** @return what the MPM says to a query of ap_mpm.h; @a otherwise where it does
 *  not know it. */
int admission_capacity_query(int what, int otherwise);

/** How many requests the server can run at once. */
int admission_capacity_workers(void);

/** How many threads a child has; 1 on prefork. */
int admission_capacity_threads(void);

/** How many children there can be. */
int admission_capacity_children(void);

/** @return whether children have more than one thread. */
bool admission_capacity_is_threaded(void);

/** How many of @a workers zones may not occupy. */
int admission_capacity_reserved(server_rec *s, int workers);

/** How many workers zones may occupy. */
int admission_capacity_for_zones(server_rec *s);

/** The same share of this many @a threads as of all workers, but at least one. */
int admission_capacity_reserved_share(server_rec *s, int threads);

#endif

/* capacity.h - how many workers and threads httpd has, and how many of them
 * zones may use.
 */
#ifndef MODULE_CAPACITY_H
#define MODULE_CAPACITY_H

#include <stdbool.h>

#include <httpd.h>

/** Query the MPM. @param what an AP_MPMQ_ constant of ap_mpm.h
 *  @return the MPM's answer, or @a otherwise if it has none. */
int admission_capacity_query(int what, int otherwise);

/** @return how many requests the server can run concurrently. */
int admission_capacity_workers(void);

/** @return the number of threads per child; 1 on prefork. */
int admission_capacity_threads(void);

/** @return the maximum number of children. */
int admission_capacity_children(void);

/** @return whether children have more than one thread. */
bool admission_capacity_is_threaded(void);

/** @return how many of @a workers AdmissionReserve keeps free of zones. */
int admission_capacity_reserved(server_rec *s, int workers);

/** @return how many workers zones may occupy. */
int admission_capacity_for_zones(server_rec *s);

/** @return how many of @a threads are reserved if they are reserved in the same
 *  proportion as the workers, but at least 1. */
int admission_capacity_reserved_share(server_rec *s, int threads);

#endif

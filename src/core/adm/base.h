/* adm/base.h - handles, errors, time.
 * Included by adm.h. Include adm.h, not this file.
 */
#ifndef ADM_PUBLIC_BASE_H
#define ADM_PUBLIC_BASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <apr_errno.h>
#include <apr_pools.h>

#include "core/adm_time.h"

/** A zone's lock that no process got for this time belongs to a stopped
 *  process: requests wait for it only briefly, and run without a limit. */
#define ADM_LOCK_STUCK_USEC ADM_USEC_PER_SEC
/** Longest time that a request waits for a zone's lock that other processes
 *  get: on an overloaded machine, each of them can be slow. */
#define ADM_LOCK_LONG_USEC (10 * ADM_USEC_PER_SEC)
#define ADM_LOCK_BRIEF_USEC (10 * ADM_USEC_PER_MSEC)

/** Errors, in addition to the system's. */
#define ADM_NO_TICKET (APR_OS_START_USERERR + 3104) /* ticket table is full */
#define ADM_NO_ZONE (APR_OS_START_USERERR + 3105)   /* zone table is full */
#define ADM_NO_CHILD (APR_OS_START_USERERR + 3106)  /* child table is full */
#define ADM_ZONE_RETIRED \
    (APR_OS_START_USERERR + 3107)                   /* no longer configured */
#define ADM_LOCK_LOST (APR_OS_START_USERERR + 3108) /* lock beyond repair */
#define ADM_BAD_SEGMENT \
    (APR_OS_START_USERERR + 3109) /* other version, or corrupt */
#define ADM_INTERRUPTED (APR_OS_START_USERERR + 3110) /* caller holds a lock */
#define ADM_ZONE_BUSY (APR_OS_START_USERERR + 3113) /* lock held for too long */
#define ADM_NO_FLOWS (APR_OS_START_USERERR + 3114)  /* no flow tables left */

/** A segment, as mapped in this process. Private memory, inherited by fork. */
typedef struct adm_segment_t adm_segment_t;

/** The registration of this process in a segment. */
typedef struct adm_child_t adm_child_t;

/** Reference to a zone. A plain value: copy it, store it in configurations. */
typedef struct adm_zone_t {
    uint32_t idx;         /* 0: none */
    uint32_t incarnation; /* which of the zones that had this slot */
} adm_zone_t;

/** @return the current time on the core's clock (CLOCK_MONOTONIC). No system
 *  call if the kernel offers the time without one. */
adm_usec_t adm_now(void);

/** @return the time on a clock that also runs while the system sleeps
 *  (CLOCK_BOOTTIME), for leases from the engine and for process start times. Do
 *  not compare it with adm_now(). Async-signal-safe. */
adm_usec_t adm_clock_since_boot(void);

/**
 * Claim a task that is done once per @a interval. Returns true to only one of
 * concurrent callers, which then does the task. No system call, no lock.
 *
 * @param next  when the task is due, shared by all callers; 0 at first. A time
 *              more than two intervals ahead is corrupt: the task is due.
 */
bool adm_due(_Atomic adm_usec_t *next, adm_usec_t now, adm_usec_t interval);

#endif

/* adm/base.h - handles, what goes wrong, time.
 * Included by adm.h, which is what others include.
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

/** A request waits for the lock of a zone no longer than this. When a lock has
 *  been out of reach for so long, requests wait for it only briefly. */
#define ADM_LOCK_LONG_USEC ADM_USEC_PER_SEC
#define ADM_LOCK_BRIEF_USEC (10 * ADM_USEC_PER_MSEC)

/** What goes wrong, besides the system's errors. */
#define ADM_NO_TICKET (APR_OS_START_USERERR + 3104) /* ticket table is full */
#define ADM_NO_ZONE (APR_OS_START_USERERR + 3105)   /* zone table is full */
#define ADM_NO_CHILD (APR_OS_START_USERERR + 3106)  /* child table is full */
#define ADM_ZONE_RETIRED \
    (APR_OS_START_USERERR + 3107)                   /* no longer configured */
#define ADM_LOCK_LOST (APR_OS_START_USERERR + 3108) /* lock beyond repair */
#define ADM_BAD_SEGMENT \
    (APR_OS_START_USERERR + 3109) /* other version, or torn */
#define ADM_INTERRUPTED (APR_OS_START_USERERR + 3110) /* own critical section */
#define ADM_ZONE_BUSY (APR_OS_START_USERERR + 3113) /* lock held for too long */
#define ADM_NO_FLOWS (APR_OS_START_USERERR + 3114)  /* no more flow tables */

/** A segment, as this process sees it. Private memory, inherited by fork. */
typedef struct adm_segment_t adm_segment_t;

/** This process, registered in a segment. */
typedef struct adm_child_t adm_child_t;

/** Names a zone. Plain value: copy it, keep it in configurations. */
typedef struct adm_zone_t {
    uint32_t idx;         /* 0: none */
    uint32_t incarnation; /* which of the zones that had this place */
} adm_zone_t;

/** @return now on the core's clock (CLOCK_MONOTONIC). No system call where the
 *  kernel offers it without. */
adm_usec_t adm_now(void);

/**
 * Ask whether something that is done once in @a interval is due: true for one
 * of all callers, which then does it. No system call, no lock.
 *
 * @param next  when it is due, shared by all callers; 0 at first. A time further
 *              ahead than any interval is corrupt, and due.
 */
bool adm_due(_Atomic adm_usec_t *next, adm_usec_t now, adm_usec_t interval);

#endif

/* park_ready_alarm.h - wake connections that wait for their clients
 * periodically (event MPM).
 *
 * For connections whose time is limited by a filter (mod_reqtimeout): the
 * filter checks the limit only when a worker reads.
 *
 * Functions lock the alarms' own mutex and do not block.
 */
#ifndef PARK_ALARM_H
#define PARK_ALARM_H

#include <apr_ring.h>

#include "core/adm.h"
#include "park_stand_in.h"

/** Alarm of one connection. Owned by the connection's admission_ready_t. */
typedef struct admission_alarm_t {
    APR_RING_ENTRY(admission_alarm_t) link;
    const admission_stand_in_t *stand_in; /* NULL: not set */
    adm_usec_t at;
    bool is_ringing; /* woken, but no worker has come yet */
} admission_alarm_t;

/** Initialize, before any other function. @param threads  workers of this
 *  child */
void admission_alarm_open(adm_child_t *child, uint32_t threads);

/** Wake the connection after 750 ms. Call when the stand-in has taken the
 *  socket's number. */
void admission_alarm_set(admission_alarm_t *alarm,
                         const admission_stand_in_t *stand_in);

/** Clear the alarm, before the stand-in yields its number. No effect if it is
 *  not set. */
void admission_alarm_clear(admission_alarm_t *alarm);

/** For the dispatcher: wake the connections whose alarm is due. */
void admission_alarm_ring_due(void);

/** @return when the next alarm is due; @a otherwise if that is earlier. */
adm_usec_t admission_alarm_next(adm_usec_t otherwise);

#endif

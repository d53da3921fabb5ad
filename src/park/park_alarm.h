/* park_alarm.h - wakes connections that wait for their clients, every now
 * and then (event MPM).
 *
 * For those of which a filter limits the time: it judges when it is called, and is
 * called when a worker reads.
 */
#ifndef PARK_ALARM_H
#define PARK_ALARM_H

#include <apr_ring.h>

#include "core/adm.h"
#include "park_stand_in.h"

/** An alarm of one connection. */
typedef struct admission_alarm_t {
    APR_RING_ENTRY(admission_alarm_t) link;
    const admission_stand_in_t *stand_in; /* NULL: the alarm is not set */
    adm_usec_t at;
    bool is_ringing; /* no worker has come yet */
} admission_alarm_t;

/** In a child of so many threads, before any other function. */
void admission_alarm_open(adm_child_t *child, uint32_t threads);

/** Let the MPM find the stand-in readable soon. It has taken its number. */
void admission_alarm_set(admission_alarm_t *alarm,
                         const admission_stand_in_t *stand_in);

/** Before the stand-in yields its number. Nothing is done for one that is not set. */
void admission_alarm_clear(admission_alarm_t *alarm);

/** Of the dispatcher: ring those that are due; when the next one is. */
void admission_alarm_ring_due(void);
adm_usec_t admission_alarm_next(adm_usec_t otherwise);

#endif

/* park_ready_alarm.c - wake connections that wait for their clients periodically. */
#include <httpd.h>
#include <pthread.h>

#include "park_ready_alarm.h"

/* All alarms have this interval, so the list is sorted by time. Time limits are
 * enforced to within a second. */
#define INTERVAL_USEC (750 * ADM_USEC_PER_MSEC)

APR_RING_HEAD(alarm_ring_t, admission_alarm_t);

/* The mutex is held for a few system calls at most, and never together with
 * another lock. */
static struct {
    pthread_mutex_t mutex;
    adm_child_t *child;
    struct alarm_ring_t waiting;
    uint32_t ringing; /* woken connections that no worker has taken yet */
    uint32_t ringing_max;
} alarms = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* @return the alarm to ring next, when its time has come; NULL: none. A few connections
 * are awake at a time, as in the lot (docs/dev/decisions/0017); none is woken when
 * the child is being stopped: its workers have exited. */
static admission_alarm_t *next_locked(void)
{
    return APR_RING_EMPTY(&alarms.waiting, admission_alarm_t, link)
                   || alarms.ringing >= alarms.ringing_max
                   || adm_child_is_stopping(alarms.child)
               ? NULL
               : APR_RING_FIRST(&alarms.waiting);
}

static void ring_due_locked(adm_usec_t now)
{
    admission_alarm_t *alarm;

    while ((alarm = next_locked()) && alarm->at <= now) {
        APR_RING_REMOVE(alarm, link);
        alarm->is_ringing = true;
        alarms.ringing++;
        admission_stand_in_wake(alarm->stand_in);
    }
}

void admission_alarm_open(adm_child_t *child, uint32_t threads)
{
    alarms.child = child;
    alarms.ringing_max = threads > 3 ? threads / 2 : 1;
    APR_RING_INIT(&alarms.waiting, admission_alarm_t, link);
}

void admission_alarm_set(admission_alarm_t *alarm,
                         const admission_stand_in_t *stand_in)
{
    bool is_first;

    alarm->stand_in = stand_in;
    alarm->at = adm_now() + INTERVAL_USEC;
    alarm->is_ringing = false;
    pthread_mutex_lock(&alarms.mutex);
    is_first = APR_RING_EMPTY(&alarms.waiting, admission_alarm_t, link);
    APR_RING_INSERT_TAIL(&alarms.waiting, alarm, admission_alarm_t, link);
    pthread_mutex_unlock(&alarms.mutex);
    if (is_first) {
        adm_doorbell_ring(
            alarms.child); /* the dispatcher might sleep for longer */
    }
}

void admission_alarm_clear(admission_alarm_t *alarm)
{
    if (!alarm->stand_in) {
        return;
    }
    pthread_mutex_lock(&alarms.mutex);
    if (!alarm->is_ringing) {
        APR_RING_REMOVE(alarm, link);
    }
    else {
        alarms.ringing--;
        ring_due_locked(adm_now());
    }
    pthread_mutex_unlock(&alarms.mutex);
    alarm->stand_in = NULL;
}

void admission_alarm_ring_due(void)
{
    pthread_mutex_lock(&alarms.mutex);
    ring_due_locked(adm_now());
    pthread_mutex_unlock(&alarms.mutex);
}

/* If ringing_max connections are awake, the next alarm waits for
 * admission_alarm_clear(), not for its time. */
adm_usec_t admission_alarm_next(adm_usec_t otherwise)
{
    const admission_alarm_t *first;
    adm_usec_t next = otherwise;

    pthread_mutex_lock(&alarms.mutex);
    first = next_locked();
    if (first && first->at < next) {
        next = first->at;
    }
    pthread_mutex_unlock(&alarms.mutex);
    return next;
}

/* adm_agent.c - whether the agent is at work, and how to wake it.
 * Called by src/agent, and by files of src/core that have work for the agent.
 */
#include <errno.h>
#include <sys/socket.h>

#include "adm_agent.h"
#include "adm_fault.h"

/* The agent stores its heartbeat at least once per second. */
#define BEAT_LASTS_USEC (3 * ADM_USEC_PER_SEC)

bool adm_agent_is_at_work(const adm_segment_t *segment, adm_usec_t now)
{
    adm_usec_t beat = atomic_load(&segment->header->agent_beat);

    /* The agent might have read the clock later than the caller. */
    return beat != 0 && beat >= now - BEAT_LASTS_USEC
           && beat <= now + BEAT_LASTS_USEC;
}

void adm_agent_beat(adm_segment_t *segment, adm_usec_t now)
{
    atomic_store(&segment->header->agent_beat, now);
    ADM_FAULT(agent_beat);
}

void adm_agent_gone(adm_segment_t *segment)
{
    atomic_store(&segment->header->agent_beat, 0);
}

void adm_agent_wake(adm_segment_t *segment)
{
    atomic_fetch_add(&segment->header->agent_wakes, 1);
    adm_wait_wake(&segment->header->agent_wakes);
    /* The order of the increment and this load matters: see
     * adm_agent_begin_poll(). */
    if (segment->agent_event[1] && atomic_load(&segment->header->agent_polls)) {
        send(segment->agent_event[1], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

/* Sockets, because each call states that it does not block. A child could clear
 * the flag of a pipe or an eventfd, fill it, and block the parent. */
apr_status_t adm_agent_open_event(adm_segment_t *segment)
{
    int event[2];

    if (segment->agent_event[1]) {
        return APR_SUCCESS;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, event) != 0) {
        return errno;
    }
    segment->agent_event[0] = event[0];
    segment->agent_event[1] = event[1];
    return APR_SUCCESS;
}

int adm_agent_begin_poll(adm_segment_t *segment, unsigned wakes)
{
    /* Set before the comparison: otherwise a wake-up between the two would not
     * set the event. */
    atomic_store(&segment->header->agent_polls, 1);
    return atomic_load(&segment->header->agent_wakes) == wakes
               ? segment->agent_event[0]
               : -1;
}

void adm_agent_end_poll(adm_segment_t *segment)
{
    char wakes[256]; /* if there are more, the next poll returns immediately */

    atomic_store(&segment->header->agent_polls, 0);
    recv(segment->agent_event[0], wakes, sizeof(wakes), MSG_DONTWAIT);
}

unsigned adm_agent_wakes(const adm_segment_t *segment)
{
    return atomic_load(&segment->header->agent_wakes);
}

void adm_agent_sleep(adm_segment_t *segment, unsigned wakes, adm_usec_t until)
{
    adm_wait_sleep(&segment->header->agent_wakes, wakes, until);
}

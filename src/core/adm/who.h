/* adm/who.h - show which requests hold a zone's permits, and which wait.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_WHO_H
#define ADM_PUBLIC_WHO_H

#include "base.h"
#include "ticket.h"

/** Description of a request, for people. Longer texts are cut; all end with a
 *  NUL, and can be in any encoding. */
typedef struct adm_who_t {
    char client[48];
    char method[16];
    char host[64];
    char uri[64];
} adm_who_t;

/** Snapshot of one request in a zone. */
typedef struct adm_present_t {
    bool runs;           /* holds a permit, and has started */
    adm_usec_t age_usec; /* running time, or waiting time so far */
    bool is_known;       /* `who` is filled in */
    adm_who_t who;
    bool has_asked; /* the zone uses flows: the next three are set */
    char key[ADM_KEY_NAME + 1]; /* from the client, not trusted */
    uint32_t cost;              /* permits */
    adm_priority_t priority;
    pid_t program;           /* its last program; 0: unknown */
    adm_usec_t program_seen; /* for adm_who_usage() */
} adm_present_t;

/** @return its name: normal, high, low. */
const char *adm_priority_name(adm_priority_t priority);

/** Maximum number of requests per call of adm_who_list(). */
#define ADM_PRESENT_MAX 64

/** Describe a request, for adm_who_list(). Only for the ticket's owner, from
 *  adm_ticket_enter() until it releases the ticket. No lock, no system call. */
void adm_who_note(const adm_ticket_t *ticket, const adm_who_t *who);

/**
 * Note that the request is about to be sent to another program on this machine,
 * and waits for its response. Only for the ticket's owner, while it holds a
 * permit. No lock, no system call.
 *
 * @param by  number of the virtual host; not 0
 */
void adm_who_note_sent(const adm_ticket_t *ticket, uint32_t by);

/** @return whether every permit of the zone is held by a request that a virtual
 *  host other than @a by has sent to a program on this machine. Waits briefly
 *  for the zone's lock; false if that is not enough. */
bool adm_who_all_sent(adm_child_t *child, adm_zone_t zone, uint32_t by,
                      adm_usec_t now);

/**
 * Copy some of the requests that run or wait in a zone, in no order. Repeated
 * calls with the same @a cursor, which starts at 0, return all of them;
 * requests that enter or leave in the meantime can be missing. Waits briefly
 * for the zone's lock.
 *
 * @param present  ADM_PRESENT_MAX elements
 * @param count    number of requests copied; 0: there are no more
 * @return APR_SUCCESS, or an error of adm_view_zone()
 */
apr_status_t adm_who_list(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                          uint32_t *cursor, adm_present_t *present,
                          uint32_t *count);

/** What a process has used: CPU time, and resident memory now. */
typedef struct adm_usage_t {
    adm_usec_t processor_usec;
    uint64_t rss_bytes;
} adm_usage_t;

/**
 * @param seen  a moment at which the process existed; 0: unknown
 * @return whether the system shows what the process uses. It does not if the
 *         process has ended or is hidden. Makes system calls.
 */
bool adm_who_usage(pid_t pid, adm_usec_t seen, adm_usage_t *usage);

#endif

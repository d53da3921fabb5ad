/* adm/who.h - which requests hold the permits of a zone, and which wait.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_WHO_H
#define ADM_PUBLIC_WHO_H

#include "base.h"
#include "ticket.h"

/** What a request says of itself, cut where it is longer: text for people, ended by
 *  a NUL, in whatever encoding it came. */
typedef struct adm_who_t {
    char client[48];
    char method[16];
    char host[64];
    char uri[64];
} adm_who_t;

/** One request of a zone, as it was at one moment. */
typedef struct adm_present_t {
    bool runs;           /* it holds a permit and has begun */
    adm_usec_t age_usec; /* how long it has run, or has waited so far */
    bool is_known;       /* who is filled in */
    adm_who_t who;
    bool has_asked; /* its zone uses flows: the next three are known */
    char key[ADM_KEY_NAME
             + 1]; /* as the request said it: show it, trust it not */
    uint32_t cost; /* permits that it takes */
    adm_priority_t priority;
    pid_t program;           /* that it started last; 0: none is known */
    adm_usec_t program_seen; /* for adm_who_usage() */
} adm_present_t;

/** @return its word: normal, high, low. */
const char *adm_priority_name(adm_priority_t priority);

/** At most so many come of one adm_who_list(). */
#define ADM_PRESENT_MAX 64

/**
 * Say who asks: for whoever looks at the zone. The owner of the ticket, after
 * adm_ticket_enter(), any time until it gives it back. No lock, no system call.
 */
void adm_who_note(const adm_ticket_t *ticket, const adm_who_t *who);

/**
 * The request is about to be sent to another program of this machine, and then waits
 * for that. The owner of the ticket, while it holds a permit. No lock, no system call.
 *
 * @param by  what tells the virtual hosts of a configuration apart; not 0
 */
void adm_who_sent(const adm_ticket_t *ticket, uint32_t by);

/**
 * @return whether each permit of the zone is held by a request that was sent to a
 * program of this machine by another virtual host than @a by. Waits briefly for the
 * zone's lock, else false.
 */
bool adm_who_all_sent(adm_child_t *child, adm_zone_t zone, uint32_t by,
                      adm_usec_t now);

/**
 * Copy some of the requests that run or wait in a zone, in no order. Called again
 * and again with the same @a cursor, which begins at 0, all come; those that come
 * and go meanwhile may, once. Waits briefly for the zone's lock.
 *
 * @param present  room for ADM_PRESENT_MAX
 * @param count    how many came; 0: there are no more.
 * @return APR_SUCCESS, or as adm_view_zone().
 */
apr_status_t adm_who_list(adm_child_t *child, adm_zone_t zone, adm_usec_t now,
                          uint32_t *cursor, adm_present_t *present,
                          uint32_t *count);

/** What a process has used. */
typedef struct adm_usage_t {
    adm_usec_t processor_usec;
    uint64_t rss_bytes;
} adm_usage_t;

/**
 * @param seen  a moment at which the process was there, or 0: not known
 * @return whether the system tells what the process uses; it does not of one that
 *         has ended, or that it hides. Makes system calls.
 */
bool adm_who_usage(pid_t pid, adm_usec_t seen, adm_usage_t *usage);

#endif

/* adm/inherit.h - a permit moves on, for a request that the server has caused itself.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_INHERIT_H
#define ADM_PUBLIC_INHERIT_H

#include "ticket.h"

typedef enum adm_inherit_t {
    ADM_INHERIT_NONE,  /* the name is of no ticket of the zone */
    ADM_INHERIT_ENDED, /* it is, of one that holds no permit any more */
    ADM_INHERIT_KEPT,  /* of one that does, and keeps it */
    ADM_INHERIT_MOVED
} adm_inherit_t;

/** Longest text of adm_inherit_name(), with its end. */
#define ADM_INHERIT_NAME_LENGTH 32

/** Name a ticket for adm_inherit(). The text has no secret in it, and any process can
 *  write one: the caller signs it. */
void adm_inherit_name(const adm_ticket_t *ticket,
                      char text[ADM_INHERIT_NAME_LENGTH]);

/**
 * Take over the permit of another ticket, of any child. That ticket has ended then:
 * giving it back later does nothing. It keeps its permit while a program of it
 * lives. Waits briefly for the zone; system calls only if it had a program.
 *
 * @param name   of adm_inherit_name()
 * @param heir   holds the permit after ADM_INHERIT_MOVED, without a worker of its
 *               own; NULL: only tell
 */
adm_inherit_t adm_inherit(adm_child_t *child, adm_zone_t zone, const char *name,
                          adm_usec_t now, adm_ticket_t *heir);

#endif

/* adm/inherit.h - move a permit to a request that the server sends to itself.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_INHERIT_H
#define ADM_PUBLIC_INHERIT_H

#include "ticket.h"

typedef enum adm_inherit_t {
    ADM_INHERIT_NONE,  /* the name matches no ticket of the zone */
    ADM_INHERIT_ENDED, /* its ticket holds no permit any more */
    ADM_INHERIT_KEPT,  /* its ticket keeps its permit */
    ADM_INHERIT_MOVED
} adm_inherit_t;

/** Size of a name, with its NUL. */
#define ADM_INHERIT_NAME_LENGTH 32

/** Name a ticket, for adm_inherit(). The name is not secret and can be forged:
 *  the caller signs it. */
void adm_inherit_name(const adm_ticket_t *ticket,
                      char text[ADM_INHERIT_NAME_LENGTH]);

/**
 * Take over the permit of another ticket, of any child. That ticket ends: to
 * release it later does nothing. A ticket keeps its permit while its program
 * lives. Waits briefly for the zone; makes system calls only if the ticket had
 * a program.
 *
 * @param name  from adm_inherit_name()
 * @param successor  holds the permit after ADM_INHERIT_MOVED, without a worker of
 *              its own; NULL: only check
 */
adm_inherit_t adm_inherit(adm_child_t *child, adm_zone_t zone, const char *name,
                          adm_usec_t now, adm_ticket_t *successor);

#endif

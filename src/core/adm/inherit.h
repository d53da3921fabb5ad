/* adm/inherit.h - a permit moves on, for a request that the server sends to itself.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_INHERIT_H
#define ADM_PUBLIC_INHERIT_H

#include "adm/ticket.h"

typedef enum adm_inherit_t {
    ADM_INHERIT_NONE, /* the token's ticket holds no permit of the zone */
    ADM_INHERIT_KEPT, /* it does, and keeps it */
    ADM_INHERIT_MOVED
} adm_inherit_t;

/**
 * Take over the permit of another ticket, of any child. That ticket has ended then:
 * giving it back later does nothing. It keeps its permit while a program of it
 * lives. Waits briefly for the zone; system calls only if it had a program.
 *
 * @param token  of adm_program_token(); what is no token is of no ticket
 * @param heir   holds the permit after ADM_INHERIT_MOVED, without a worker of its
 *               own; NULL: only tell
 */
adm_inherit_t adm_inherit(adm_child_t *child, adm_zone_t zone,
                          const char *token, adm_usec_t now,
                          adm_ticket_t *heir);

#endif

/* adm.h - counting semaphores with a queue, shared by the children of a server.
 * Included by all who use the core.
 *
 * The whole interface of the core. A zone has permits; a request enters it,
 * waits in the queue when none is free, and gives the permit back. Everything lives
 * in one shared segment that survives the death of any process at any moment:
 * docs/dev/shared-memory.md has the states, the invariants and the crash table.
 *
 * The core never logs and knows nothing of httpd. Time is a parameter, so that
 * tests can move it. Unless a comment says otherwise a function may be called
 * from any thread of a registered child, does not block but for the short
 * critical section of one zone, and allocates nothing. A process that is stopped
 * inside that section keeps the others out: they wait for ADM_LOCK_LONG_USEC at
 * most, or ADM_LOCK_BRIEF_USEC where the comment says briefly.
 */
#ifndef ADM_H
#define ADM_H

#include "adm/base.h"
#include "adm/segment.h"
#include "auto/auto_view.h"
#include "fleet/fleet_view.h"
#include "adm/child.h"
#include "adm/round.h"
#include "adm/worker.h"
#include "adm/ticket.h"
#include "adm/parking.h"
#include "adm/program.h"
#include "adm/override.h"
#include "adm/inherit.h"
#include "adm/view.h"
#include "adm/who.h"

#endif

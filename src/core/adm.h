/* adm.h - counting semaphores with a queue, shared by the processes of a
 * server.
 * Included by all code that uses the core.
 *
 * The whole interface of the core. A zone has permits; a request enters the
 * zone, waits in its queue if no permit is free, and releases its permit. All
 * state is in one shared segment, which survives the death of any process at
 * any moment: docs/dev/shared-memory.md has the states, the invariants and the
 * crash table.
 *
 * The core never logs and is independent of httpd. Time is a parameter, so that
 * tests can move it. Unless a comment states otherwise, a function can be
 * called from any thread of a registered child, allocates nothing, and blocks
 * only for the short critical section of one zone. If a process is stopped
 * inside that section, the others wait for at most ADM_LOCK_STUCK_USEC; for at
 * most ADM_LOCK_BRIEF_USEC where the comment states "briefly".
 */
#ifndef ADM_H
#define ADM_H

#include "adm/base.h"
#include "adm/segment.h"
#include "adm/child.h"
#include "adm/ticket.h"
#include "adm/view.h"

#endif

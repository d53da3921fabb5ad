/* fleet_engine.h - what is known of the engine of limits over servers, to be shown.
 * Called by fleet_duty; what is shown is in fleet_view.h.
 *
 * Nothing is decided by it. No function takes a lock.
 */
#ifndef FLEET_ENGINE_H
#define FLEET_ENGINE_H

#include "fleet_view.h"

/** An agent begins: is an engine wanted? */
void adm_engine_begin(adm_child_t *self, bool is_wanted);

/** Count it. The agent alone. */
void adm_engine_count(adm_child_t *self, adm_engine_event_t event);

/** Count an answer to a sync, which took so long. The agent alone. */
void adm_engine_count_sync(adm_child_t *self, adm_usec_t took_usec);

/** Note who shares the limit of a zone. The agent alone. */
void adm_engine_note_who(adm_child_t *self, adm_zone_t zone,
                         const law_fleet_who_t *who);

#endif

/* fleet_engine.h - statistics of the engine and the servers that share a limit.
 * Called by the agent's fleet_duty alone; fleet_view.h has the readers.
 *
 * For the outputs only: no decision depends on them. No function takes a lock.
 */
#ifndef FLEET_ENGINE_H
#define FLEET_ENGINE_H

#include "fleet_view.h"

/** Reset the state of the connection. @a is_wanted: the agent needs an engine. */
void fleet_engine_begin(adm_child_t *self, bool is_wanted);

/** Count an event, and set the state that follows from it. */
void fleet_engine_count(adm_child_t *self, fleet_engine_event_t event);

/** Count a reply, and its round trip of @a took_usec. */
void fleet_engine_count_sync(adm_child_t *self, adm_usec_t took_usec);

/** Store the list of the servers that share a zone's limit. */
void fleet_engine_note_servers(adm_child_t *self, adm_zone_t zone,
                               const law_fleet_who_t *who);

#endif

/* auto_view.h - automatic limits: what the outputs show.
 * Included by auto.c and the duty.
 */
#ifndef AUTO_VIEW_H
#define AUTO_VIEW_H

#include <stddef.h>

#include "core/adm/base.h"
#include "law_tune.h"

/** Copy the state of a zone's limit. No lock; the agent's data is checked. */
void auto_view(const adm_segment_t *segment, adm_zone_t zone, adm_usec_t now,
               law_tune_shown_t *shown);

/** Size of the buffer for a sentence. */
#define AUTO_SENTENCE 200

/** Write the reason for the limit as a sentence without a full stop. */
void auto_sentence(const law_tune_shown_t *shown, uint32_t limit,
                   char text[AUTO_SENTENCE]);

#endif

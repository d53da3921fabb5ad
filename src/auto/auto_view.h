/* auto_view.h - automatic limits: what the outputs show.
 * Included by auto.c and the duty.
 */
#ifndef ADM_PUBLIC_AUTO_H
#define ADM_PUBLIC_AUTO_H

#include <stddef.h>

#include "core/adm/base.h"
#include "law_tune_shown.h"

typedef law_tune_shown_t adm_auto_t;

/** Copy the state of a zone's limit. No lock; the agent's data is checked. */
void adm_auto_view(const adm_segment_t *segment, adm_zone_t zone,
                   adm_usec_t now, adm_auto_t *shown);

/** @return the reason for the limit, as a word. */
const char *adm_auto_reason(const adm_auto_t *shown);

/** Size of the buffer for a sentence. */
#define ADM_AUTO_SENTENCE 200

/** Write the reason for the limit as a sentence without a full stop. */
void adm_auto_sentence(const adm_auto_t *shown, uint32_t limit,
                       char text[ADM_AUTO_SENTENCE]);

#endif

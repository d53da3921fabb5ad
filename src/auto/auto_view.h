/* auto_view.h - limits that find themselves: what is shown of them.
 * Included by auto.c and the duty.
 */
#ifndef ADM_PUBLIC_AUTO_H
#define ADM_PUBLIC_AUTO_H

#include <stddef.h>

#include "core/adm/base.h"
#include "law_tune_field.h"

typedef law_tune_shown_t adm_auto_t;

/** Copy it. No lock; reads what the agent writes, and believes none of it. */
void adm_auto_view(const adm_segment_t *segment, adm_zone_t zone,
                   adm_usec_t now, adm_auto_t *shown);

/** @return the word for why the limit is what it is. */
const char *adm_auto_reason(const adm_auto_t *shown);

/** Long enough for every sentence. */
#define ADM_AUTO_SENTENCE 200

/** Say in a sentence why the limit is what it is, without a full stop. */
void adm_auto_sentence(const adm_auto_t *shown, uint32_t limit,
                       char text[ADM_AUTO_SENTENCE]);

#endif

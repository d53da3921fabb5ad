/* fair_key.h - what a request says of itself where keys take turns. */
#ifndef FAIR_KEY_H
#define FAIR_KEY_H

#include "module/conf.h"

/** Add its key, priority and cost to what a request enters with, as its sections
 *  say. Evaluates their expressions. Only where the zone uses_flows. */
void admission_key_ask(request_rec *r, const admission_dir_conf_t *conf,
                       const admission_zone_t *zone, adm_entry_t *entry);

#endif

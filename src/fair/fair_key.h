/* fair_key.h - key, priority and cost of a request in a fair queue. */
#ifndef FAIR_KEY_H
#define FAIR_KEY_H

#include "module/conf.h"

/** Set the key, priority and cost in @a entry, by the directives of the
 *  request's sections. Evaluates their expressions. Only if
 *  zone->uses_flows. */
void admission_key_ask(request_rec *r, const admission_dir_conf_t *conf,
                       const admission_zone_t *zone, adm_entry_t *entry);

#endif

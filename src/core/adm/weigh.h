/* adm/weigh.h - what a request costs, by what its program takes.
 * Included by adm.h, which is what others include.
 */
#ifndef ADM_PUBLIC_WEIGH_H
#define ADM_PUBLIC_WEIGH_H

#include <stdint.h>

#include "adm/base.h"

/**
 * @param kind  a number for the program, the same whenever it runs; not 0
 * @return how many permits of a zone whose limit finds itself a request for this
 *         program should ask for, by what was learnt of it: as many as the program of
 *         the zone that takes least memory fits into it. 1 if nothing is known.
 *         A few atomic loads.
 */
uint32_t adm_weigh_cost(const adm_segment_t *segment, adm_zone_t zone,
                        uint32_t kind);

#endif

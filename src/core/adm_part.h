/* adm_part.h - what a capability adds to the core: records in the segment.
 * Included by adm_layout.h, and by the half of each capability that works in shared
 * memory.
 *
 * A capability, such as recycling, is a folder of src and a row of parts.h. Its
 * constant adm_part_t is called adm_part_NAME. The core reserves space for its records and
 * uses nothing else of the capability. Which process writes a word under which lock stands at the
 * words, in the capability's own folder.
 */
#ifndef ADM_PART_H
#define ADM_PART_H

#include <stddef.h>

#include "parts.h"

/** Numbers of the capabilities of this build, ADM_PART_RECYCLE and so on. */
#define ADM_PART_NUMBER(name, NAME) ADM_PART_##NAME,
typedef enum adm_part_number_t {
    ADM_PARTS_WITH_RECORDS(ADM_PART_NUMBER) ADM_PARTS
} adm_part_number_t;

/** The records of a capability. Their first bytes are zeros, on pages of their own. */
typedef struct adm_part_t {
    size_t of_server; /* bytes of the one that the server has; 0: none */
    size_t
        of_child; /* bytes of the one that each child has, zeros when it starts */
} adm_part_t;

#define ADM_PART_DECLARE(name, NAME) extern const adm_part_t adm_part_##name;
ADM_PARTS_WITH_RECORDS(ADM_PART_DECLARE)

#endif

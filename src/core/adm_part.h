/* adm_part.h - records that a capability adds to the segment.
 * Included by adm_layout.h, and by the half of each capability that works in
 * shared memory.
 *
 * A capability, such as recycling, is a folder of src and a row of parts.h. Its
 * constant adm_part_NAME is an adm_part_t. The core reserves space for its
 * records and uses nothing else of the capability, whose own folder documents
 * the writer and lock of each field.
 *
 * Increment ADM_LAYOUT_VERSION (adm_layout.h) with every change of such a
 * record. After a reload, a new build finds the segment of the old one:
 * adm_segment_version() detects only that the sum of all sizes has changed.
 */
#ifndef ADM_PART_H
#define ADM_PART_H

#include <stddef.h>

#include "parts.h"

/** Numbers of the capabilities in this build: ADM_PART_RECYCLE and so on. */
#define ADM_PART_NUMBER(name, NAME) ADM_PART_##NAME,
typedef enum adm_part_number_t {
    ADM_PARTS_WITH_RECORDS(ADM_PART_NUMBER) ADM_PARTS
} adm_part_number_t;

/** Sizes of a capability's records. They start as zeros, on pages of their
 *  own. */
typedef struct adm_part_t {
    size_t of_server; /* bytes of the server's record; 0: none */
    size_t of_zone;   /* bytes of each zone's record */
    size_t of_child;  /* bytes per child; zeroed when it starts */
} adm_part_t;

#define ADM_PART_DECLARE(name, NAME) extern const adm_part_t adm_part_##name;
ADM_PARTS_WITH_RECORDS(ADM_PART_DECLARE)

#endif

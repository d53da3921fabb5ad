/* parts.h - the capabilities of this build: one row for each.
 * Included by adm_part.h and part.h.
 *
 * part(name, NAME): its folder, and the number of its records in the segment, which are in
 * this order. A row that is added, removed or moved makes another layout, and
 * adm_segment_version() reports it.
 */
#ifndef PARTS_H
#define PARTS_H

/* With records in the segment. */
#define ADM_PARTS_WITH_RECORDS(part)                           \
    part(auto, AUTO) part(fleet, FLEET) part(recycle, RECYCLE) \
        part(spool, SPOOL)

#define ADMISSION_PARTS(part) ADM_PARTS_WITH_RECORDS(part) part(nice, NICE)

#endif

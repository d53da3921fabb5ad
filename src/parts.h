/* parts.h - the capabilities of this build: one row for each.
 * Included by adm_part.h and part.h.
 *
 * part(name, NAME): its folder, and the number of its records in the segment, which are in
 * this order. A row that is added, removed or moved makes another layout, and
 * adm_segment_version() reports it.
 */
#ifndef PARTS_H
#define PARTS_H

#define ADMISSION_PARTS(part) part(recycle, RECYCLE) part(spool, SPOOL)

#endif

/* parts.h - the capabilities of this build: one row for each.
 * Included by adm_part.h and part.h.
 *
 * part(name, NAME): its folder, and the number of its records in the segment, which are in
 * this order. A row that is added, removed or moved makes another layout, and
 * adm_segment_version() reports it. ./configure --without-NAME leaves one out.
 */
#ifndef PARTS_H
#define PARTS_H

#ifdef ADMISSION_WITHOUT_AUTO
#define PARTS_AUTO(part)
#else
#define PARTS_AUTO(part) part(auto, AUTO)
#endif
#ifdef ADMISSION_WITHOUT_EXPLAIN
#define PARTS_EXPLAIN(part)
#else
#define PARTS_EXPLAIN(part) part(explain, EXPLAIN)
#endif
#ifdef ADMISSION_WITHOUT_FLEET
#define PARTS_FLEET(part)
#else
#define PARTS_FLEET(part) part(fleet, FLEET)
#endif
#ifdef ADMISSION_WITHOUT_RECYCLE
#define PARTS_RECYCLE(part)
#else
#define PARTS_RECYCLE(part) part(recycle, RECYCLE)
#endif
#ifdef ADMISSION_WITHOUT_SPOOL
#define PARTS_SPOOL(part)
#else
#define PARTS_SPOOL(part) part(spool, SPOOL)
#endif

/* With records in the segment. */
#define ADM_PARTS_WITH_RECORDS(part) \
    PARTS_AUTO(part) PARTS_FLEET(part) PARTS_RECYCLE(part) PARTS_SPOOL(part)

/* `fair` cannot be left out: the core calls its order of the queue. */
#define ADMISSION_PARTS(part) \
    part(fair, FAIR) PARTS_EXPLAIN(part) ADM_PARTS_WITH_RECORDS(part)

#endif

/* spool_kept.h - bytes in the order in which they came: in memory, then in a
 * file without a name.
 *
 * The file is unlinked before anything is written, or never had a name: whatever
 * kills the process, nothing is left of it. One thread at a time.
 */
#ifndef MOD_ADMISSION_KEPT_H
#define MOD_ADMISSION_KEPT_H

#include <httpd.h>
#include <apr_buckets.h>

#include "core/adm.h"

/** What was kept when it was made, for all kinds. */
typedef enum admission_keep_t {
    ADMISSION_KEEP_QUEUE, /* taken out by us alone: room is used again */
    ADMISSION_KEEP_LOG /* in the file alone, from which others may read later */
} admission_keep_t;

typedef struct admission_kept_t {
    admission_keep_t kind;
    apr_off_t room; /* bytes that it may take */

    char *memory; /* NULL: nothing is in it */
    apr_size_t memory_from;
    apr_size_t memory_to;

    int file; /* -1: none yet */
    apr_off_t file_from;
    apr_off_t file_length; /* bytes in it, from there on; around its end */
    apr_off_t file_size;   /* that were ever in use */

    apr_off_t counted; /* in the shared memory */
} admission_kept_t;

/** AdmissionSpoolLimit is reached. */
#define ADMISSION_SPOOL_FULL (APR_OS_START_USERERR + 3116)

/** Keep nothing yet, and nothing beyond the end of @a p. */
void admission_kept_init(admission_kept_t *kept, apr_pool_t *p,
                         admission_keep_t kind, apr_off_t room);

/**
 * Keep as many of these bytes as there is room for.
 *
 * @param put  filled with how many
 * @return APR_SUCCESS; APR_EAGAIN if there is room for no more: some may have to
 *         be taken out first; ADMISSION_SPOOL_FULL if all children together keep
 *         as much as they may, or the system's reason why no file can be written.
 */
apr_status_t admission_kept_put(admission_kept_t *kept, const char *data,
                                apr_size_t length, apr_size_t *put);

/** Log, at most once a minute for the server, why admission_kept_put() has kept less
 *  than it could for a request.
 *
 *  @param fault  what it returned, other than APR_EAGAIN */
void admission_kept_tell(const request_rec *r, apr_status_t fault);

/** @return how many bytes are kept. */
static inline apr_off_t admission_kept_length(const admission_kept_t *kept)
{
    return (apr_off_t)(kept->memory_to - kept->memory_from) + kept->file_length;
}

/** Take out at most @a size bytes. @return how many; 0 with a reason in @a rv if
 *  the file cannot be read. */
apr_size_t admission_kept_take(admission_kept_t *kept, char *data,
                               apr_size_t size, apr_status_t *rv);

/** Take out everything, as buckets of memory and of files at the end of @a bb.
 *  A file is read later: nothing is put there again. */
void admission_kept_hand_over(admission_kept_t *kept, apr_bucket_brigade *bb,
                              apr_pool_t *p);

/** Where files are made, and how much all children may keep together. The parent,
 *  at each configuration load. */
int admission_kept_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                               apr_pool_t *ptemp, server_rec *s);

/** @return the directory. */
const char *admission_kept_directory(void);

#endif

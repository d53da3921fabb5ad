/* spool_buffer.h - buffer of bytes, first in, first out: in memory, then in a
 * file.
 *
 * The file has no name, or is unlinked before anything is written, so nothing
 * is left of it if the process is killed. One thread at a time; no locks. File
 * operations can block on the disk.
 */
#ifndef SPOOL_BUFFER_H
#define SPOOL_BUFFER_H

#include <httpd.h>
#include <apr_buckets.h>

#include "core/adm.h"

/** How the buffer is emptied. */
typedef enum admission_buffer_kind_t {
    ADMISSION_BUFFER_QUEUE, /* by admission_buffer_take(): file space is reused */
    ADMISSION_BUFFER_LOG    /* by admission_buffer_hand_over(): file only, read
                        * later */
} admission_buffer_kind_t;

typedef struct admission_buffer_t {
    admission_buffer_kind_t kind;
    apr_off_t room; /* maximum size in bytes */

    char *memory; /* NULL: not allocated */
    apr_size_t memory_from;
    apr_size_t memory_to;

    int file; /* -1: not opened yet */
    apr_off_t file_from;
    apr_off_t file_length; /* bytes in the file from file_from on; wraps
                            * around */
    apr_off_t file_size;   /* highest offset ever used */

    apr_off_t counted; /* bytes counted in shared memory */
} admission_buffer_t;

/** Status: AdmissionSpoolLimit is reached. */
#define SPOOL_FULL (APR_OS_START_USERERR + 3116)

/** Initialize an empty buffer: up to 64 KiB in memory, but not more than @a room, then
 *  up to @a room bytes in a file. It is dropped with @a p. */
void admission_buffer_init(admission_buffer_t *buffer, apr_pool_t *p,
                           admission_buffer_kind_t kind, apr_off_t room);

/**
 * Buffer as many of these bytes as fit.
 * @param put  filled with the number of bytes buffered
 * @return APR_SUCCESS; APR_EAGAIN if the buffer is full; SPOOL_FULL
 *         if all children together have reached AdmissionSpoolLimit; or the
 *         system error of the file.
 */
apr_status_t admission_buffer_put(admission_buffer_t *buffer, const char *data,
                                  apr_size_t length, apr_size_t *put);

/**
 * Log why admission_buffer_put() could not buffer all data of a request
 * (ADM0211), at most once per minute for the server.
 * @param fault  its return code, other than APR_EAGAIN
 */
void admission_buffer_log(const request_rec *r, apr_status_t fault);

/** @return the number of buffered bytes. */
static inline apr_off_t
admission_buffer_length(const admission_buffer_t *buffer)
{
    return (apr_off_t)(buffer->memory_to - buffer->memory_from)
           + buffer->file_length;
}

/**
 * Remove at most @a size bytes from the buffer and copy them to @a data.
 * @param rv  filled with an error if the file cannot be read
 * @return the number of bytes; 0 on errors.
 */
apr_size_t admission_buffer_take(admission_buffer_t *buffer, char *data,
                                 apr_size_t size, apr_status_t *rv);

/** Empty the buffer into memory and file buckets at the end of @a bb. The
 *  file is read later, so a buffer of kind QUEUE accepts no more data if it
 *  has one. */
void admission_buffer_hand_over(admission_buffer_t *buffer,
                                apr_bucket_brigade *bb, apr_pool_t *p);

/** Set the directory of files and the limit of all children. The post_config
 *  hook. */
int admission_buffer_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp, server_rec *s);

/** @return the directory of buffer files. */
const char *admission_buffer_directory(void);

#endif

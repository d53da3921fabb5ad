/* spool_buffer.c - a buffer of bytes in memory, then in a file. */
#include <httpd.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <apr_file_io.h>
#include <apr_portable.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "module/conf.h"
#include "spool_buffer.h"
#include "module/process.h"
#include "park/park_room.h"
#include "spool_shm.h"

APLOG_USE_MODULE(admission);

/* Bytes in memory before a file is used. */
#define MEMORY_SIZE ((apr_size_t)64 * 1024)

/* Alignment in the file of the parts that a LOG hands over. */
#define BLOCK ((apr_off_t)4096)

/* A file is counted in units of this size. */
#define COUNTED_PIECE ((apr_off_t)64 * 1024)

#define LOG_INTERVAL_USEC (60 * ADM_USEC_PER_SEC)

#define DEFAULT_LIMIT ((apr_off_t)1024 * 1024 * 1024)

/* Set by the parent at each configuration load; its children inherit them. */
static apr_off_t limit = DEFAULT_LIMIT;
static const char *directory;
static apr_int64_t descriptor_limit; /* no buffer file has this number or a
                                 * higher one */

int admission_buffer_post_config(apr_pool_t *pconf, apr_pool_t *plog,
                                 apr_pool_t *ptemp, server_rec *s)
{
    const admission_server_conf_t *conf =
        ap_get_module_config(s->module_config, &admission_module);

    limit = conf->spool.limit ? conf->spool.limit : DEFAULT_LIMIT;
    directory = conf->spool.directory;
    if (!directory && apr_temp_dir_get(&directory, pconf) != APR_SUCCESS) {
        directory = "/tmp";
    }
    descriptor_limit = admission_room_files_allowed() - ADMISSION_SPARE_FILES;
    return OK;
}

const char *admission_buffer_directory(void)
{
    return directory;
}

/* ---- the limit of all children -------------------------------------------- */

/* Reserve bytes of AdmissionSpoolLimit. @return whether they are available. */
static bool count(admission_buffer_t *buffer, apr_off_t bytes)
{
    adm_child_t *child = admission_process_own_child();

    if (!child || !spool_reserve(child, (uint64_t)bytes, (uint64_t)limit)) {
        return false;
    }
    buffer->counted += bytes;
    return true;
}

static void count_off(admission_buffer_t *buffer, apr_off_t bytes)
{
    adm_child_t *child = admission_process_own_child();

    buffer->counted -= bytes;
    if (child) {
        spool_release(child, (uint64_t)bytes);
    }
}

static void drop_memory(admission_buffer_t *buffer)
{
    if (buffer->memory) {
        free(buffer->memory);
        buffer->memory = NULL;
        buffer->memory_from = buffer->memory_to = 0;
        count_off(buffer, (apr_off_t)MEMORY_SIZE);
    }
}

static apr_status_t drop(void *data)
{
    admission_buffer_t *buffer = data;

    drop_memory(buffer);
    if (buffer->file >= 0) {
        close(buffer->file);
        buffer->file = -1;
    }
    count_off(buffer, buffer->counted);
    return APR_SUCCESS;
}

void admission_buffer_init(admission_buffer_t *buffer, apr_pool_t *p,
                           admission_buffer_kind_t kind, apr_off_t room)
{
    *buffer = (admission_buffer_t){ .kind = kind, .room = room, .file = -1 };
    /* A forked process does not own the buffer, so its cleanup is null. */
    apr_pool_cleanup_register(p, buffer, drop, apr_pool_cleanup_null);
}

/* ---- put ------------------------------------------------------------------ */

/* @return a descriptor of a file without a name; -1 with errno set. */
static int open_without_name(void)
{
    char path[PATH_MAX];
    int file;

    file = open(directory, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC,
                S_IRUSR | S_IWUSR);
    if (file >= 0
        || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT
            && errno != EINVAL)) {
        return file;
    }
    if (snprintf(path, sizeof(path), "%s/admission-XXXXXX", directory)
        >= (int)sizeof(path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) {
        unlink(path);
    }
    return file;
}

static apr_status_t open_file(admission_buffer_t *buffer)
{
    int file = open_without_name();

    /* The kernel assigns the lowest free number, so a low number proves that
     * enough descriptors are left for more important uses. */
    if (file >= 0 && file >= descriptor_limit) {
        close(file);
        return APR_EMFILE;
    }
    buffer->file = file;
    return file >= 0 ? APR_SUCCESS : errno;
}

/* @return how many bytes were stored; 0: use the file, because memory is full, not
 * available, or over AdmissionSpoolLimit. */
static apr_size_t put_into_memory(admission_buffer_t *buffer, const char *data,
                                  apr_size_t length)
{
    apr_size_t size = buffer->room < (apr_off_t)MEMORY_SIZE
                          ? (apr_size_t)buffer->room
                          : MEMORY_SIZE;

    if (buffer->kind == ADMISSION_BUFFER_LOG || buffer->file_length > 0) {
        return 0; /* a log has no memory; behind data in the file, only the file follows */
    }
    if (!buffer->memory) {
        if (!count(buffer, (apr_off_t)MEMORY_SIZE)) {
            return 0;
        }
        buffer->memory = malloc(MEMORY_SIZE);
        if (!buffer->memory) {
            count_off(buffer, (apr_off_t)MEMORY_SIZE);
            return 0;
        }
    }
    if (length > size - buffer->memory_to) {
        length = size - buffer->memory_to;
    }
    memcpy(buffer->memory + buffer->memory_to, data, length);
    buffer->memory_to += length;
    return length;
}

/* @return how many bytes can be written in one piece, and fill @a at with their
 * offset. The file of a QUEUE is used as a ring of `room` bytes. */
static apr_off_t space_in_file(const admission_buffer_t *buffer, apr_off_t *at)
{
    apr_off_t end = buffer->file_from + buffer->file_length;

    if (end >= buffer->room && buffer->kind == ADMISSION_BUFFER_QUEUE) {
        *at = end - buffer->room;
        return buffer->room - buffer->file_length;
    }
    *at = end;
    return buffer->room - end;
}

/* Count the file's growth, before it is written. */
static apr_status_t count_file(admission_buffer_t *buffer, apr_off_t end)
{
    apr_off_t had = (buffer->file_size + COUNTED_PIECE - 1) / COUNTED_PIECE;
    apr_off_t needs = (end + COUNTED_PIECE - 1) / COUNTED_PIECE;

    if (needs > had && !count(buffer, (needs - had) * COUNTED_PIECE)) {
        return SPOOL_FULL;
    }
    if (end > buffer->file_size) {
        buffer->file_size = end;
    }
    return APR_SUCCESS;
}

/* @param put  filled with the bytes written, possibly fewer than @a length.
 * @return see admission_buffer_put() */
static apr_status_t put_into_file(admission_buffer_t *buffer, const char *data,
                                  apr_size_t length, apr_size_t *put)
{
    apr_off_t at, room = space_in_file(buffer, &at);
    apr_status_t rv = buffer->file >= 0 ? APR_SUCCESS : open_file(buffer);
    ssize_t written;

    *put = 0;
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if ((apr_off_t)length > room) {
        length = room > 0 ? (apr_size_t)room : 0;
    }
    if (length == 0) {
        return APR_EAGAIN;
    }
    rv = count_file(buffer, at + (apr_off_t)length);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    do {
        written = pwrite(buffer->file, data, length, at);
    } while (written < 0 && errno == EINTR);
    if (written <= 0) {
        return written < 0 ? errno : APR_ENOSPC;
    }
    buffer->file_length += written;
    *put = (apr_size_t)written;
    return APR_SUCCESS;
}

apr_status_t admission_buffer_put(admission_buffer_t *buffer, const char *data,
                                  apr_size_t length, apr_size_t *put)
{
    apr_size_t done = put_into_memory(buffer, data, length);
    apr_status_t rv = APR_SUCCESS;
    apr_size_t more;

    while (done < length && rv == APR_SUCCESS) {
        rv = put_into_file(buffer, data + done, length - done, &more);
        done += more;
    }
    *put = done;
    return rv;
}

void admission_buffer_log(const request_rec *r, apr_status_t fault)
{
    if (spool_may_log(admission_process_segment(), adm_now(),
                      LOG_INTERVAL_USEC)) {
        ap_log_rerror(
            APLOG_MARK, APLOG_WARNING, fault == SPOOL_FULL ? 0 : fault, r,
            ADMLOGNO(0211)
            "AdmissionSpool: %s %s: requests of slow clients keep their "
            "permits and workers until space is available; %s",
            fault == SPOOL_FULL ? "AdmissionSpoolLimit is reached in"
                                : "cannot write to",
            directory,
            fault == SPOOL_FULL ? "raise it"
                                : "free disk space or name another directory");
    }
}

/* ---- take out ------------------------------------------------------------- */

static apr_size_t take_from_memory(admission_buffer_t *buffer, char *data,
                                   apr_size_t size)
{
    apr_size_t length = buffer->memory_to - buffer->memory_from;

    if (length > size) {
        length = size;
    }
    if (length > 0) {
        memcpy(data, buffer->memory + buffer->memory_from, length);
        buffer->memory_from += length;
    }
    if (buffer->memory_from == buffer->memory_to) {
        drop_memory(buffer);
    }
    return length;
}

/* @return how many bytes can be read in one piece, from file_from on. */
static apr_off_t first_piece(const admission_buffer_t *buffer)
{
    apr_off_t to_end = buffer->room - buffer->file_from;

    return buffer->kind == ADMISSION_BUFFER_LOG || buffer->file_length < to_end
               ? buffer->file_length
               : to_end;
}

static void note_taken(admission_buffer_t *buffer, apr_off_t length)
{
    buffer->file_from += length;
    buffer->file_length -= length;
    if (buffer->kind == ADMISSION_BUFFER_QUEUE
        && (buffer->file_from == buffer->room || buffer->file_length == 0)) {
        buffer->file_from = 0;
    }
}

apr_size_t admission_buffer_take(admission_buffer_t *buffer, char *data,
                                 apr_size_t size, apr_status_t *rv)
{
    apr_size_t length = take_from_memory(buffer, data, size);
    apr_off_t piece = first_piece(buffer);
    ssize_t got;

    *rv = APR_SUCCESS;
    if (length > 0 || piece == 0) {
        return length;
    }
    if (piece < (apr_off_t)size) {
        size = (apr_size_t)piece;
    }
    do {
        got = pread(buffer->file, data, size, buffer->file_from);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        *rv = got < 0 ? errno : APR_EOF;
        return 0;
    }
    note_taken(buffer, got);
    return (apr_size_t)got;
}

/* Append a file bucket. Each bucket has its own apr_file_t, because setting a
 * bucket aside closes its apr_file_t for all buckets that share it. The
 * descriptor stays open as long as the pool. */
static void add_file(const admission_buffer_t *buffer, apr_off_t length,
                     apr_bucket_brigade *bb, apr_pool_t *p)
{
    apr_os_file_t number = buffer->file;
    apr_file_t *file;
    apr_bucket *b;

    apr_os_file_put(&file, &number, APR_FOPEN_READ | APR_FOPEN_BINARY, p);
    b = apr_bucket_file_create(file, buffer->file_from, (apr_size_t)length, p,
                               bb->bucket_alloc);
    /* Mapped data would count as data that the connection holds in memory. */
    apr_bucket_file_enable_mmap(b, 0);
    APR_BRIGADE_INSERT_TAIL(bb, b);
}

void admission_buffer_hand_over(admission_buffer_t *buffer,
                                apr_bucket_brigade *bb, apr_pool_t *p)
{
    if (buffer->memory) {
        apr_brigade_write(bb, NULL, NULL, buffer->memory + buffer->memory_from,
                          buffer->memory_to - buffer->memory_from);
        drop_memory(buffer);
    }
    while (buffer->file_length > 0) {
        apr_off_t piece = first_piece(buffer);

        add_file(buffer, piece, bb, p);
        note_taken(buffer, piece);
    }
    if (buffer->kind == ADMISSION_BUFFER_LOG) {
        /* Each part needs memory until the request ends. The alignment limits
         * the number of small parts. */
        buffer->file_from = (buffer->file_from + BLOCK - 1) / BLOCK * BLOCK;
    }
    else if (buffer->file >= 0) {
        buffer->room = 0;
    }
}

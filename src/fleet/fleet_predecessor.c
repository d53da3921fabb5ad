/* fleet_predecessor.c - whose share of a limit over servers this one takes over.
 *
 * Two files in the runtime directory:
 *
 *   admission.fleet        the server's id, and which FIFO belongs to it
 *   admission.fleet.alive  a FIFO, which every process of the server has open for reading.
 *                          Programs inherit it, because they may outlive httpd.
 *
 * A FIFO without a reader cannot be opened for writing: then no process uses what the id
 * was granted. A program cannot change that except by closing its own descriptor. A file
 * lock would be shared by all who inherit it, and any of them could release it.
 *
 * Each server makes a FIFO of its own, so that a program that never ends delays one
 * successor, not all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <httpd.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_log.h>

#include "fleet_predecessor.h"
#include "module/conf.h"
#include "module/private_file.h"

APLOG_USE_MODULE(admission);

#define FILE_NAME "admission.fleet"
#define FIFO_NAME "admission.fleet.alive"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define ROOM 160
#define SELF_KEY "mod_admission.fleet.%u"

/* ---- the FIFO ------------------------------------------------------------- */

static bool is_private_fifo(const struct stat *is)
{
    return S_ISFIFO(is->st_mode) && is->st_nlink == 1
           && is->st_uid == geteuid();
}

/* The server that has made the FIFO, with its programs. */
typedef enum { NO_PREDECESSOR, ALIVE, ENDED } predecessor_t;

static predecessor_t look_at_fifo(const char *path, struct stat *is)
{
    int fd;

    if (lstat(path, is) != 0 || !is_private_fifo(is)) {
        return NO_PREDECESSOR;
    }
    fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENXIO) {
        return ENDED;
    }
    if (fd >= 0) {
        close(fd);
    }
    return ALIVE;
}

/* @return a descriptor for reading; -1: errno has the reason. */
static int make_fifo(const char *path, struct stat *is)
{
    int fd = -1;

    unlink(path);
    if (mkfifo(path, S_IRUSR | S_IWUSR) == 0) {
        fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd >= 0 && (fstat(fd, is) != 0 || !is_private_fifo(is))) {
        close(fd);
        errno = EPERM;
        fd = -1;
    }
    return fd;
}

/* ---- the file ------------------------------------------------------------- */

/* The FIFO, on this machine since it was booted: a copy that came with a disk image has
 * the id of a server that runs elsewhere. */
static void describe_fifo(const struct stat *is, char text[ROOM])
{
    char boot[64] = "-";
    FILE *file = fopen(BOOT_ID, "re");

    if (file) {
        if (!fgets(boot, sizeof(boot), file)) {
            snprintf(boot, sizeof(boot), "-");
        }
        fclose(file);
    }
    boot[strcspn(boot, "\n")] = '\0';
    snprintf(text, ROOM, " %s %ju\n", boot, (uintmax_t)is->st_ino);
}

/* The id of the server that has made this FIFO, or "". */
static void read_id(int file, const struct stat *fifo,
                    char id[ADM_FLEET_ID_ROOM])
{
    char text[ROOM] = "", of_fifo[ROOM];
    ssize_t length = pread(file, text, sizeof(text) - 1, 0);

    describe_fifo(fifo, of_fifo);
    if (length > 0 && strspn(text, "0123456789abcdef") == ADM_FLEET_ID_ROOM - 1
        && strcmp(text + ADM_FLEET_ID_ROOM - 1, of_fifo) == 0) {
        memcpy(id, text, ADM_FLEET_ID_ROOM - 1);
        id[ADM_FLEET_ID_ROOM - 1] = '\0';
    }
}

static bool write_id(int file, const struct stat *fifo,
                     const adm_segment_t *segment, const adm_fleet_self_t *self)
{
    char id[ADM_FLEET_ID_ROOM], of_fifo[ROOM], text[ADM_FLEET_ID_ROOM + ROOM];
    int length;

    adm_fleet_id(segment, self, id);
    describe_fifo(fifo, of_fifo);
    length = snprintf(text, sizeof(text), "%s%s", id, of_fifo);
    return pwrite(file, text, (size_t)length, 0) == length
           && ftruncate(file, length) == 0;
}

/* ---- the parent ----------------------------------------------------------- */

/* Read whom this server follows, and leave its own id for the next one.
 * @return the descriptor of this server's FIFO; -1: errno has the reason. */
static int take_over(int file, const char *fifo_path, server_rec *s,
                     const adm_segment_t *segment, adm_fleet_self_t *self)
{
    struct stat before, own;
    predecessor_t predecessor = look_at_fifo(fifo_path, &before);
    int fifo;

    if (predecessor == ENDED) {
        read_id(file, &before, self->predecessor);
    }
    if (predecessor == ALIVE) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, ADMLOGNO(0150)
                     "processes or programs of a server before this one live: "
                     "what it had of limits over servers is free when its "
                     "lease and hold are over");
    }
    fifo = make_fifo(fifo_path, &own);
    return fifo >= 0 && write_id(file, &own, segment, self) ? fifo : -1;
}

/* Kept across restarts, as long as the segment is. */
adm_fleet_self_t *admission_predecessor_self(apr_pool_t *p)
{
    const char *key = apr_psprintf(p, SELF_KEY, adm_segment_version());
    adm_fleet_self_t *self = ap_retained_data_get(key);

    if (!self) {
        self = ap_retained_data_create(key, sizeof(*self));
        adm_fleet_begin_self(self);
    }
    return self;
}

void admission_predecessor_find(apr_pool_t *p, server_rec *s,
                                adm_segment_t *segment)
{
    const char *path = ap_runtime_dir_relative(p, FILE_NAME);
    adm_fleet_self_t *self = admission_predecessor_self(p);
    int file, fifo = -1;

    if (self->fd != 0) {
        return;
    }
    file = admission_private_file_open(path);
    /* Two servers that start together must not both follow the same one. */
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) {
        fifo = take_over(file, ap_runtime_dir_relative(p, FIFO_NAME), s,
                         segment, self);
    }
    if (fifo < 0) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s, ADMLOGNO(0149)
                     "%s cannot be used: what this server has of limits over "
                     "servers comes back to it after a restart only when its "
                     "lease and hold are over",
                     path);
    }
    if (file >= 0) {
        close(file);
    }
    if (fifo < 0) {
        *self->predecessor = '\0';
    }
    self->fd = fifo;
}

int admission_predecessor_open(apr_pool_t *p)
{
    return admission_private_file_open(ap_runtime_dir_relative(p, FILE_NAME));
}

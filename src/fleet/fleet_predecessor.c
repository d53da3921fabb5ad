/* fleet_predecessor.c - takes over the share of the server that ran here before.
 *
 * Without this, the permits of a restarted server would be blocked until its old
 * lease and grace period have expired. Two files in the runtime directory:
 *
 *   admission.fleet        the server's id, and the FIFO that belongs to it
 *   admission.fleet.alive  a FIFO that every process of the server has open for reading.
 *                          Programs inherit it, because they can outlive httpd.
 *
 * Opening a FIFO for writing fails if it has no reader: then no process uses the
 * grant of the id. A program can only close its own descriptor. A file lock would be
 * shared by all processes that inherit it, and any of them could release it.
 *
 * Each server creates its own FIFO, so a program that never exits delays one
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

/* State of the server that created the FIFO, including its programs. */
typedef enum { NO_PREDECESSOR, ALIVE, ENDED } predecessor_t;

static predecessor_t check_fifo(const char *path, struct stat *is)
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

/* @return a descriptor for reading, or -1 and errno. */
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

/* Identify the FIFO by boot id and inode: a copy of the files from a disk image must
 * not match, because its id belongs to a server that runs elsewhere. */
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

/* Read the id of the server that created @a fifo; leave @a id unchanged if the file
 * has none. */
static void read_id(int file, const struct stat *fifo, char id[FLEET_ID_ROOM])
{
    char text[ROOM] = "", of_fifo[ROOM];
    ssize_t length = pread(file, text, sizeof(text) - 1, 0);

    describe_fifo(fifo, of_fifo);
    if (length > 0 && strspn(text, "0123456789abcdef") == FLEET_ID_ROOM - 1
        && strcmp(text + FLEET_ID_ROOM - 1, of_fifo) == 0) {
        memcpy(id, text, FLEET_ID_ROOM - 1);
        id[FLEET_ID_ROOM - 1] = '\0';
    }
}

static bool write_id(int file, const struct stat *fifo,
                     const adm_segment_t *segment, const fleet_self_t *self)
{
    char id[FLEET_ID_ROOM], of_fifo[ROOM], text[FLEET_ID_ROOM + ROOM];
    int length;

    fleet_id(segment, self, id);
    describe_fifo(fifo, of_fifo);
    length = snprintf(text, sizeof(text), "%s%s", id, of_fifo);
    return pwrite(file, text, (size_t)length, 0) == length
           && ftruncate(file, length) == 0;
}

/* ---- the parent ----------------------------------------------------------- */

/* Read the predecessor's id, and store this server's id for its successor.
 * @return the descriptor of this server's FIFO, or -1 and errno. */
static int take_over(int file, const char *fifo_path, server_rec *s,
                     const adm_segment_t *segment, fleet_self_t *self)
{
    struct stat before, own;
    predecessor_t predecessor = check_fifo(fifo_path, &before);
    int fifo;

    if (predecessor == ENDED) {
        read_id(file, &before, self->predecessor);
    }
    if (predecessor == ALIVE) {
        ap_log_error(
            APLOG_MARK, APLOG_NOTICE, 0, s, ADMLOGNO(0150)
            "processes or programs of the previous httpd are still running; "
            "this server cannot use the previous httpd's permits before their "
            "lease and grace period have ended; to find them, run lsof | grep "
            "admission.fleet.alive");
    }
    fifo = make_fifo(fifo_path, &own);
    return fifo >= 0 && write_id(file, &own, segment, self) ? fifo : -1;
}

fleet_self_t *admission_predecessor_self(apr_pool_t *p)
{
    const char *key = apr_psprintf(p, SELF_KEY, adm_segment_version());
    fleet_self_t *self = ap_retained_data_get(key);

    if (!self) {
        self = ap_retained_data_create(key, sizeof(*self));
        fleet_begin_self(self);
    }
    return self;
}

void admission_predecessor_find(apr_pool_t *p, server_rec *s,
                                adm_segment_t *segment)
{
    const char *path = ap_runtime_dir_relative(p, FILE_NAME);
    fleet_self_t *self = admission_predecessor_self(p);
    int file, fifo = -1;

    if (self->fd != 0) {
        return;
    }
    file = admission_private_file_open(path);
    /* Two servers that start together must not both take over one share. */
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) {
        fifo = take_over(file, ap_runtime_dir_relative(p, FIFO_NAME), s,
                         segment, self);
    }
    if (fifo < 0) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s, ADMLOGNO(0149)
                     "cannot open and lock %s, or create " FIFO_NAME
                     " there: after a restart, this server waits for its "
                     "share of limits across servers until its old lease and "
                     "grace period have expired; make the user that starts "
                     "httpd the owner of the directory, or delete the files",
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

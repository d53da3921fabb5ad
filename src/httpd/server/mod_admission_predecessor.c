/* mod_admission_predecessor.c - whose share of a limit over servers this one takes over.
 *
 * A file in the runtime directory has the server's id, and is locked for as long as any
 * of its processes lives: children inherit it, and so do programs, which may outlive
 * them. Whoever gets the lock knows that what the id was granted is used by nobody.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <httpd.h>
#include <http_config.h>
#include <http_log.h>

#include "server/mod_admission_predecessor.h"
#include "server/mod_admission_private_file.h"

APLOG_USE_MODULE(admission);

#define FILE_NAME "admission.fleet"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define ROOM 160

/* Of this file, on this machine since it began: a copy that came with an image has the
 * id of a server that lives elsewhere. */
static void describe_file(int fd, char text[ROOM])
{
    char boot[64] = "-";
    struct stat is = { 0 };
    FILE *file = fopen(BOOT_ID, "re");

    if (file) {
        if (!fgets(boot, sizeof(boot), file)) {
            snprintf(boot, sizeof(boot), "-");
        }
        fclose(file);
    }
    boot[strcspn(boot, "\n")] = '\0';
    fstat(fd, &is);
    snprintf(text, ROOM, " %s %ju\n", boot, (uintmax_t)is.st_ino);
}

/* The id that stands there, or "". */
static void read_id(int fd, const char *of_file, char id[ADM_FLEET_ID_ROOM])
{
    char text[ROOM] = "";
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);

    id[0] = '\0';
    if (length > 0 && strspn(text, "0123456789abcdef") == ADM_FLEET_ID_ROOM - 1
        && strcmp(text + ADM_FLEET_ID_ROOM - 1, of_file) == 0) {
        memcpy(id, text, ADM_FLEET_ID_ROOM - 1);
        id[ADM_FLEET_ID_ROOM - 1] = '\0';
    }
}

static int write_id(int fd, const char *of_file, const adm_segment_t *segment)
{
    char id[ADM_FLEET_ID_ROOM], text[ADM_FLEET_ID_ROOM + ROOM];
    int length;

    adm_fleet_id(segment, id);
    length = snprintf(text, sizeof(text), "%s%s", id, of_file);
    return pwrite(fd, text, (size_t)length, 0) == length
           && ftruncate(fd, length) == 0;
}

void admission_predecessor_find(apr_pool_t *p, server_rec *s,
                                adm_segment_t *segment)
{
    const char *path = ap_runtime_dir_relative(p, FILE_NAME);
    char id[ADM_FLEET_ID_ROOM] = "", of_file[ROOM];
    int fd;

    if (adm_fleet_has_followed(segment)) {
        return;
    }
    fd = admission_private_file_open(path);
    if (fd < 0) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, errno, s, ADMLOGNO(0149)
                     "%s cannot be used: what this server has of limits over "
                     "servers comes back to it after a restart only when its "
                     "lease and hold are over",
                     path);
        adm_fleet_follow(segment, -1, "");
        return;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd); /* another httpd, or programs of the one before */
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, ADMLOGNO(0150)
                     "processes or programs of a server before this one live: "
                     "what it had of limits over servers is free when its "
                     "lease and hold are over");
        adm_fleet_follow(segment, -1, "");
        return;
    }
    describe_file(fd, of_file);
    read_id(fd, of_file, id);
    if (!write_id(fd, of_file, segment)) {
        id[0] = '\0';
    }
    adm_fleet_follow(segment, fd, id);
}

/* private_file.c - files that the parent keeps over stop and start. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "private_file.h"

/* As root, in a directory that may be anybody's: no link, no device, and no file
 * that has another name. */
int admission_private_file_open(const char *path)
{
    int fd = open(path,
                  O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
                      | O_CLOEXEC,
                  S_IRUSR | S_IWUSR);
    struct stat is;

    if (fd >= 0
        && (fstat(fd, &is) != 0 || !S_ISREG(is.st_mode) || is.st_nlink != 1
            || is.st_uid != geteuid())) {
        close(fd);
        errno = EPERM;
        fd = -1;
    }
    return fd;
}

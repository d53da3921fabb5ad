/* private_file.c - files that survive a stop and start, opened with the
 * parent's privileges. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "private_file.h"

/* Opened as root, maybe in a directory that others can write to. So links,
 * devices, files with a second name and other users' files are refused. */
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

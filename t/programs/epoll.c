/* epoll.c - an epoll_ctl() that fails: LD_PRELOAD.
 *
 * While the file EPOLL_FAILS (environment) exists, nothing that is to be writable can be
 * added to a set of this module, as when there are too many watches; EPOLL_FAILS.failed
 * gets a byte each time. APR stores a pointer with each descriptor, the module
 * nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static void leave_note(const char *path)
{
    char note[4096];
    FILE *file;

    snprintf(note, sizeof(note), "%s.failed", path);
    file = fopen(note, "a");
    if (file) {
        fputc('.', file);
        fclose(file);
    }
}

int epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event)
{
    const char *path = getenv("EPOLL_FAILS");

    if (operation == EPOLL_CTL_ADD && event->data.u64 == 0 && (event->events & EPOLLOUT) && path
        && access(path, F_OK) == 0) {
        leave_note(path);
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, set, operation, descriptor, event);
}

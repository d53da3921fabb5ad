/* test_private_file.c - which files the parent keeps across stop and start. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module/private_file.h"
#include "test_support.h"

/* The lowest descriptor that is not open. */
static int next_descriptor(void)
{
    int fd = dup(STDERR_FILENO);

    close(fd);
    return fd;
}

TEST(a_file_of_this_user_is_opened_and_made)
{
    int next, fd;
    struct stat is;

    make_folder();
    next = next_descriptor();
    fd = admission_private_file_open(path_in_folder("file"));
    ck_assert_int_eq(fd, next);
    ck_assert_int_eq(fstat(fd, &is), 0);
    ck_assert_uint_eq(is.st_mode & 07777, 0600);
    ck_assert_int_eq(write(fd, "x", 1), 1);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    fd = admission_private_file_open(path_in_folder("file"));
    ck_assert_int_eq(fstat(fd, &is), 0);
    ck_assert_int_eq(is.st_size, 1);
    close(fd);
}

/* In place of the file. @return 0, if it could be made. */
static int make_another(int n)
{
    const char *file = path_in_folder("file"), *other = path_in_folder("other");

    write_file("other", "x");
    switch (n) {
    case 0:
        return symlink(other, file);
    case 1: /* two names */
        return link(other, file);
    case 2:
        return mkfifo(file, 0600);
    default:
        return rename(other, file) || chown(file, 1, 1);
    }
}

/* A link, a file with two names, a FIFO, a file of another user. */
TESTS(another_file_is_refused, 0, geteuid() == 0 ? 4 : 3)
{
    int next;

    make_folder();
    ck_assert_int_eq(make_another(_i), 0);
    next = next_descriptor();
    errno = 0;
    ck_assert_int_eq(admission_private_file_open(path_in_folder("file")), -1);
    ck_assert_int_eq(errno, _i == 0 ? ELOOP : EPERM);
    ck_assert_int_eq(next_descriptor(), next);
}

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

static void assert_refused(int reason)
{
    int next = next_descriptor();

    errno = 0;
    ck_assert_int_eq(admission_private_file_open(path_in_folder("file")), -1);
    ck_assert_int_eq(errno, reason);
    ck_assert_int_eq(next_descriptor(), next);
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

TEST(a_file_with_two_names_is_refused)
{
    make_folder();
    write_file("file", "x");
    ck_assert_int_eq(link(path_in_folder("file"), path_in_folder("other")), 0);
    assert_refused(EPERM);
}

TEST(a_link_is_refused)
{
    make_folder();
    write_file("other", "x");
    ck_assert_int_eq(symlink(path_in_folder("other"), path_in_folder("file")), 0);
    assert_refused(ELOOP);
}

TEST(a_fifo_is_refused)
{
    make_folder();
    ck_assert_int_eq(mkfifo(path_in_folder("file"), 0600), 0);
    assert_refused(EPERM);
}

TEST(a_file_of_another_user_is_refused)
{
    if (geteuid() != 0) {
        return; /* no file can be given to another user */
    }
    make_folder();
    write_file("file", "x");
    ck_assert_int_eq(chown(path_in_folder("file"), 1, 1), 0);
    assert_refused(EPERM);
}

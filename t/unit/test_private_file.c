/* test_private_file.c - which files the parent keeps across stop and start. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <apr_strings.h>

#include "module/private_file.h"
#include "test_support.h"

static const char *directory;

static const char *path_of(const char *name)
{
    return apr_pstrcat(pool, directory, "/", name, NULL);
}

static void make_directory(void)
{
    char *template = apr_pstrdup(pool, "/tmp/admission-XXXXXX");

    directory = mkdtemp(template);
    ck_assert_ptr_nonnull(directory);
}

static void remove_all(void)
{
    unlink(path_of("file"));
    unlink(path_of("other"));
    ck_assert_int_eq(rmdir(directory), 0);
}

static void make_file(const char *name)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

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
    ck_assert_int_eq(admission_private_file_open(path_of("file")), -1);
    ck_assert_int_eq(errno, reason);
    ck_assert_int_eq(next_descriptor(), next);
}

TEST(a_file_of_this_user_is_opened_and_made)
{
    int next, fd;
    struct stat is;

    make_directory();
    next = next_descriptor();
    fd = admission_private_file_open(path_of("file"));
    ck_assert_int_eq(fd, next);
    ck_assert_int_eq(fstat(fd, &is), 0);
    ck_assert_uint_eq(is.st_mode & 07777, 0600);
    ck_assert_int_eq(write(fd, "x", 1), 1);
    ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    fd = admission_private_file_open(path_of("file"));
    ck_assert_int_eq(fstat(fd, &is), 0);
    ck_assert_int_eq(is.st_size, 1);
    close(fd);
    remove_all();
}

TEST(a_file_with_two_names_is_refused)
{
    make_directory();
    make_file("file");
    ck_assert_int_eq(link(path_of("file"), path_of("other")), 0);
    assert_refused(EPERM);
    remove_all();
}

TEST(a_link_is_refused)
{
    make_directory();
    make_file("other");
    ck_assert_int_eq(symlink(path_of("other"), path_of("file")), 0);
    assert_refused(ELOOP);
    remove_all();
}

TEST(a_fifo_is_refused)
{
    make_directory();
    ck_assert_int_eq(mkfifo(path_of("file"), 0600), 0);
    assert_refused(EPERM);
    remove_all();
}

TEST(a_file_of_another_user_is_refused)
{
    if (geteuid() != 0) {
        return; /* no file can be given to another user */
    }
    make_directory();
    make_file("file");
    ck_assert_int_eq(chown(path_of("file"), 1, 1), 0);
    assert_refused(EPERM);
    remove_all();
}

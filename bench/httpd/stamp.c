/* stamp.c - a program that says when it began and when it ended.
 *
 * Told by its name, such as stamp-20: it works for 20 milliseconds. Appends to
 * the file `stamps` in the directory that STAMP_DIR names the lines "start NSEC"
 * and "end NSEC", of the monotonic clock, the last thing that it does. A CGI
 * program; a FastCGI program where its standard input is a socket that listens.
 * It never outlives LIFETIME_SEC.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LIFETIME_SEC 300
#define ANSWER "Content-Type: text/plain\r\n\r\nstamped\n"

/* FastCGI: the records that matter here, and the length of their head. */
enum { END_REQUEST = 3, STDIN = 5, STDOUT = 6, HEAD = 8 };

static int stamps;
static long work_ms;

static void stamp(const char *event)
{
    struct timespec now;
    char line[64];
    int length;

    clock_gettime(CLOCK_MONOTONIC, &now);
    length = snprintf(line, sizeof(line), "%s %lld%09ld\n", event,
                      (long long)now.tv_sec, now.tv_nsec);
    /* One write of a short line: lines of several programs never mix. */
    if (write(stamps, line, (size_t)length) != length) {
        _exit(1);
    }
}

static void work(void)
{
    struct timespec left = { work_ms / 1000, work_ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static void send_all(int fd, const void *bytes, size_t length)
{
    if (write(fd, bytes, length) != (ssize_t)length) {
        _exit(1);
    }
}

/* ---- FastCGI ----------------------------------------------------------------- */

/* @return 0 when the connection has ended. */
static int receive(int fd, unsigned char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t got = read(fd, bytes, length);

        if (got <= 0) {
            return 0;
        }
        bytes += got;
        length -= (size_t)got;
    }
    return 1;
}

static void send_record(int fd, const unsigned char *request, int type,
                        const char *content, size_t length)
{
    unsigned char head[HEAD] = {
        1,          (unsigned char)type,          request[2],
        request[3], (unsigned char)(length >> 8), (unsigned char)length
    };

    send_all(fd, head, sizeof(head));
    send_all(fd, content, length);
}

/* The end of its standard input is the end of a request, an empty record. */
static int receive_request(int fd, unsigned char *head)
{
    static unsigned char content[65535 + 255];

    do {
        if (!receive(fd, head, HEAD)
            || !receive(fd, content,
                        (size_t)(head[4] << 8) + head[5] + head[6])) {
            return 0;
        }
    } while (head[1] != STDIN || head[4] || head[5]);
    return 1;
}

static void serve(int fd)
{
    static const char end[8];
    unsigned char head[HEAD];

    while (receive_request(fd, head)) {
        stamp("start");
        work();
        send_record(fd, head, STDOUT, ANSWER, strlen(ANSWER));
        send_record(fd, head, STDOUT, "", 0);
        stamp("end");
        send_record(fd, head, END_REQUEST, end, sizeof(end));
    }
    close(fd);
}

static int is_fastcgi(void)
{
    int listens = 0;
    socklen_t size = sizeof(listens);

    return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size)
               == 0
           && listens;
}

int main(int argc, char **argv)
{
    const char *dir = getenv("STAMP_DIR");
    const char *name = argc > 0 ? strrchr(argv[0], '-') : NULL;
    char path[4096];
    int fd;

    alarm(LIFETIME_SEC);
    work_ms = name ? atol(name + 1) : 0;
    snprintf(path, sizeof(path), "%s/stamps", dir ? dir : ".");
    stamps = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (stamps < 0) {
        return EXIT_FAILURE;
    }
    if (is_fastcgi()) {
        while ((fd = accept4(STDIN_FILENO, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
            serve(fd);
        }
        return EXIT_FAILURE;
    }
    stamp("start");
    work();
    send_all(STDOUT_FILENO, ANSWER, strlen(ANSWER));
    stamp("end");
    return EXIT_SUCCESS;
}

/* clients.c - many clients that ask for one URL, again and again.
 *
 *     clients PORT PATH NUMBER SECONDS
 *
 * Each keeps its connection, and asks for the next as soon as it has its
 * answer: NUMBER requests are always under way. For each line on standard
 * input it prints how many have been answered with 200, with another status,
 * and how many connections it had to make; at the end of its input, or after
 * SECONDS, it leaves. Talks to 127.0.0.1 only.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CLIENTS 20000
#define MAX_SECONDS 600
#define MAX_ANSWER 2048
#define EVENTS_AT_ONCE 256
/* Not more at a time than a backlog of listen() holds. */
#define CONNECTS_A_TICK 20
#define TICK_MSEC 10

typedef struct client_t {
    int socket; /* -1: not connected */
    size_t length;
    char answer[MAX_ANSWER];
} client_t;

static struct {
    client_t *clients;
    int number;
    int epoll;
    struct sockaddr_in address;
    char request[512];
    unsigned long answered, failed, connects;
    int next_to_connect;
} run;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- one client ------------------------------------------------------------ */

static void disconnect(client_t *client)
{
    if (client->socket >= 0) {
        close(client->socket);
        client->socket = -1;
    }
}

static void ask(client_t *client)
{
    size_t length = strlen(run.request);

    client->length = 0;
    if (send(client->socket, run.request, length, MSG_NOSIGNAL)
        != (ssize_t)length) {
        disconnect(client);
    }
}

static void connect_client(client_t *client)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };

    client->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->socket < 0) {
        die("socket");
    }
    /* The kernel answers on the loopback at once. */
    if (connect(client->socket, (struct sockaddr *)&run.address,
                sizeof(run.address))
        != 0) {
        die("connect");
    }
    if (epoll_ctl(run.epoll, EPOLL_CTL_ADD, client->socket, &event) != 0) {
        die("epoll_ctl");
    }
    run.connects++;
    ask(client);
}

/* The answers are short: the whole of one fits. */
static int is_complete(const client_t *client)
{
    const char *body = strstr(client->answer, "\r\n\r\n");
    const char *length = strcasestr(client->answer, "\r\nContent-Length:");

    if (!body) {
        return 0;
    }
    if (length && length < body) {
        return client->answer + client->length
               >= body + 4 + atol(length + strlen("\r\nContent-Length:"));
    }
    return strstr(body, "\r\n0\r\n\r\n") != NULL;
}

static void count_answer(const client_t *client)
{
    if (strncmp(client->answer, "HTTP/1.1 200 ", 13) == 0) {
        run.answered++;
    }
    else {
        run.failed++;
    }
}

static void receive(client_t *client)
{
    ssize_t got = recv(client->socket, client->answer + client->length,
                       MAX_ANSWER - 1 - client->length, 0);

    if (got <= 0) {
        /* Also between two requests: the server need not keep us. */
        if (client->length > 0) {
            run.failed++;
        }
        disconnect(client);
        return;
    }
    client->length += (size_t)got;
    client->answer[client->length] = '\0';
    if (is_complete(client)) {
        count_answer(client);
        ask(client);
    }
    else if (client->length == MAX_ANSWER - 1) {
        run.failed++;
        disconnect(client);
    }
}

/* ---- all of them ------------------------------------------------------------- */

static void connect_some(void)
{
    int looked, connected = 0;

    for (looked = 0; looked < run.number && connected < CONNECTS_A_TICK;
         looked++) {
        client_t *client = &run.clients[run.next_to_connect];

        run.next_to_connect = (run.next_to_connect + 1) % run.number;
        if (client->socket < 0) {
            connect_client(client);
            connected++;
        }
    }
}

/* @return 0 at the end of the input. */
static int report(void)
{
    char line[64];

    if (read(STDIN_FILENO, line, sizeof(line)) <= 0) {
        return 0;
    }
    printf("%lu %lu %lu\n", run.answered, run.failed, run.connects);
    fflush(stdout);
    return 1;
}

static void serve_until(double end)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    double next_tick = now();

    while (now() < end) {
        int i, count = epoll_wait(run.epoll, events, EVENTS_AT_ONCE, TICK_MSEC);

        for (i = 0; i < count; i++) {
            if (!events[i].data.ptr) {
                if (!report()) {
                    return;
                }
            }
            else {
                receive(events[i].data.ptr);
            }
        }
        if (now() >= next_tick) {
            next_tick = now() + TICK_MSEC / 1000.0;
            connect_some();
        }
    }
}

static void raise_limit_of_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    struct epoll_event input = { .events = EPOLLIN, .data.ptr = NULL };
    int i, seconds = argc == 5 ? atoi(argv[4]) : 0;

    run.number = argc == 5 ? atoi(argv[3]) : 0;
    if (run.number < 1 || run.number > MAX_CLIENTS || seconds < 1
        || seconds > MAX_SECONDS) {
        fprintf(stderr, "usage: clients PORT PATH NUMBER SECONDS\n");
        return 2;
    }
    raise_limit_of_files();
    run.address.sin_family = AF_INET;
    run.address.sin_port = htons((unsigned short)atoi(argv[1]));
    run.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(run.request, sizeof(run.request),
             "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", argv[2]);
    run.clients = calloc((size_t)run.number, sizeof(*run.clients));
    run.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!run.clients || run.epoll < 0
        || epoll_ctl(run.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0) {
        die("start");
    }
    for (i = 0; i < run.number; i++) {
        run.clients[i].socket = -1;
    }
    serve_until(now() + seconds);
    return 0;
}

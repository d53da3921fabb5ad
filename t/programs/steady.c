/* steady.c - requests at a steady rate, each on a connection of its own.
 *
 *     steady [-a ADDRESSES] [-n NUMBER] [-p PERCENT] [-r] [-s]
 *            PORT PATH RATE CLIENTS SECONDS
 *
 * Asks RATE times a second, whether those before have been answered or not, and
 * counts the time from when a request was due: a server that makes everybody
 * wait cannot hide it by being asked less. At most CLIENTS requests are under
 * way; what is due beyond that goes out late, and its time runs. With RATE 0
 * there are always CLIENTS under way. Prints a line a request,
 *
 *     WHEN TIME OK STATUS
 *
 * the first two in microseconds, WHEN of the day's clock, OK 1 for an answer with
 * status 200, STATUS 0 where there was no answer. After SECONDS, or at SIGTERM, it
 * asks no more and waits for the answers. Talks to 127.0.0.1 only.
 *
 *   -a ADDRESSES  requests come from so many addresses in turn, 127.0.1.1 and on
 *   -n NUMBER     no more requests than that
 *   -p PERCENT    clients are people: each has a patience of 1 s and of a
 *                 lognormal time with a median of 8 s. Who has no answer by then
 *                 leaves; PERCENT of those who do close their connection, the
 *                 connections of the others stay, as behind a proxy
 *   -r            requests come at random, RATE a second in the mean
 *   -s            what is due while CLIENTS requests are under way is skipped: they are
 *                 no line of their own where all requests stand in one
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CLIENTS 10000
#define MAX_SECONDS 600
#define MAX_RATE 100000
#define MAX_REQUESTS 1000000
#define EVENTS_AT_ONCE 256
#define ANSWER_BEGINS "HTTP/1.1 200"
#define ANSWER_BEGINS_SIZE (sizeof(ANSWER_BEGINS) - 1)
/* Who has no answer by then has failed. */
#define PATIENCE_USEC 60000000
#define SHOW_USEC 50000
#define FIRST_ADDRESS 0x7f000101u
#define MAX_ADDRESSES 250

typedef struct client_t {
    int socket; /* -1: nothing under way */
    int64_t due;
    int64_t leaves; /* as due; INT64_MAX: never */
    int is_unseen;  /* and its connection stays when it leaves */
    int has_left;
    size_t received;
    char begin[ANSWER_BEGINS_SIZE];
} client_t;

static struct {
    client_t *clients;
    client_t **idle; /* a stack */
    int idle_count, number, epoll;
    struct sockaddr_in address;
    char request[512];
    int request_size;
    uint32_t addresses, next_address;
    int64_t left;     /* requests that may still be asked */
    int64_t shown_at; /* when what was said went out */
    int seen_percent; /* -1: everybody waits for ever */
    int is_random, is_skipping;
} run;

static volatile sig_atomic_t is_told;

static void on_term(int signal)
{
    (void)signal;
    is_told = 1;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* ---- one request ----------------------------------------------------------- */

static int status_of(const client_t *client)
{
    char begin[ANSWER_BEGINS_SIZE + 1] = { 0 };
    int status = 0;

    if (client->received >= ANSWER_BEGINS_SIZE) {
        memcpy(begin, client->begin, ANSWER_BEGINS_SIZE);
        sscanf(begin, "HTTP/1.1 %d", &status);
    }
    return status;
}

static void say(const client_t *client, int status)
{
    printf("%lld %lld %d %d\n", (long long)client->due,
           (long long)(now() - client->due), status == 200, status);
}

static void finish(client_t *client)
{
    close(client->socket);
    client->socket = -1;
    run.idle[run.idle_count++] = client;
    if (!client->has_left) {
        say(client, status_of(client));
    }
}

static void leave(client_t *client)
{
    client->received = 0;
    if (!client->is_unseen) {
        finish(client);
        return;
    }
    say(client, 0);
    client->has_left = 1;
}

/* From another address of the machine itself. */
static int bind_next(int fd)
{
    struct sockaddr_in from = { .sin_family = AF_INET };
    uint32_t number = run.next_address++ % run.addresses;

    from.sin_addr.s_addr = htonl(FIRST_ADDRESS + number);
    return bind(fd, (struct sockaddr *)&from, sizeof(from));
}

static double normal(void)
{
    return sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48());
}

/* People's patience in microseconds. */
static int64_t patience(void)
{
    return (int64_t)(1e6 * (1 + 8 * exp(0.6 * normal())));
}

/* Writes as soon as it is connected: the request fits the socket's buffer. */
static void ask(int64_t due)
{
    client_t *client = run.idle[--run.idle_count];
    struct epoll_event event = { .events = EPOLLOUT, .data.ptr = client };

    run.left--;
    client->due = due;
    client->received = 0;
    client->has_left = 0;
    client->leaves = run.seen_percent < 0 ? INT64_MAX : due + patience();
    client->is_unseen = 100 * drand48() >= run.seen_percent;
    client->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                            0);
    if (client->socket < 0) {
        die("socket");
    }
    if (run.addresses && bind_next(client->socket) != 0) {
        die("bind");
    }
    if ((connect(client->socket, (struct sockaddr *)&run.address,
                 sizeof(run.address))
             != 0
         && errno != EINPROGRESS)
        || epoll_ctl(run.epoll, EPOLL_CTL_ADD, client->socket, &event) != 0) {
        finish(client);
    }
}

static void write_request(client_t *client)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };

    if (send(client->socket, run.request, (size_t)run.request_size,
             MSG_NOSIGNAL)
            != run.request_size
        || epoll_ctl(run.epoll, EPOLL_CTL_MOD, client->socket, &event) != 0) {
        finish(client);
    }
}

static void keep_begin(client_t *client, const char *text, size_t size)
{
    size_t at = client->received;
    size_t room = at < ANSWER_BEGINS_SIZE ? ANSWER_BEGINS_SIZE - at : 0;

    memcpy(client->begin + at, text, size < room ? size : room);
    client->received += size < room ? size : room;
}

/* The answer is complete when the server closes. */
static void read_answer(client_t *client)
{
    char text[4096];
    ssize_t size = recv(client->socket, text, sizeof(text), 0);

    if (size > 0) {
        keep_begin(client, text, (size_t)size);
    }
    else if (size == 0 || errno != EAGAIN) {
        if (size < 0) {
            client->received = 0;
        }
        finish(client);
    }
}

/* ---- all of them ------------------------------------------------------------- */

static void let_them_leave(void)
{
    int64_t time = now();
    int n;

    for (n = 0; n < run.number; n++) {
        client_t *client = &run.clients[n];

        if (client->socket >= 0 && !client->has_left
            && client->leaves <= time) {
            leave(client);
        }
    }
}

static void handle_events(int timeout_msec)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(run.epoll, events, EVENTS_AT_ONCE, timeout_msec);
    int n;

    for (n = 0; n < count; n++) {
        client_t *client = events[n].data.ptr;

        if (events[n].events & EPOLLOUT) {
            write_request(client);
        }
        else {
            read_answer(client);
        }
    }
    if (run.seen_percent >= 0) {
        let_them_leave();
    }
    /* For whoever reads along. */
    if (now() > run.shown_at + SHOW_USEC) {
        fflush(stdout);
        run.shown_at = now();
    }
}

static int is_over(int64_t end)
{
    return is_told || run.left <= 0 || now() >= end;
}

static int64_t gap(int rate)
{
    double mean = 1e6 / rate;

    return (int64_t)(run.is_random ? -mean * log(1 - drand48()) : mean);
}

static void ask_steadily(int rate, int64_t end)
{
    int64_t next = now();

    while (next < end && !is_over(end)) {
        while (run.idle_count && next <= now() && next < end && run.left > 0) {
            ask(next);
            next += gap(rate);
        }
        while (run.is_skipping && !run.idle_count && next <= now()) {
            next += gap(rate);
        }
        handle_events(run.idle_count ? 1 : 10);
    }
}

static void ask_all_the_time(int64_t end)
{
    while (!is_over(end)) {
        while (run.idle_count && run.left > 0) {
            ask(now());
        }
        handle_events(10);
    }
}

static void wait_for_the_rest(void)
{
    int64_t deadline = now() + PATIENCE_USEC;
    int n;

    while (run.idle_count < run.number && now() < deadline) {
        handle_events(10);
    }
    for (n = 0; n < run.number; n++) {
        if (run.clients[n].socket >= 0) {
            run.clients[n].received = 0;
            finish(&run.clients[n]);
        }
    }
}

/* ---- setting up -------------------------------------------------------------- */

static int number_between(const char *text, int min, int max)
{
    int number = atoi(text);

    if (number < min || number > max) {
        fprintf(stderr, "steady: '%s' is not from %d to %d\n", text, min, max);
        exit(2);
    }
    return number;
}

static void allow_many_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void set_up(int port, const char *path, int clients)
{
    int n;

    allow_many_files();
    run.number = clients;
    run.clients = calloc((size_t)clients, sizeof(*run.clients));
    run.idle = calloc((size_t)clients, sizeof(*run.idle));
    run.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!run.clients || !run.idle || run.epoll < 0) {
        die("steady");
    }
    for (n = 0; n < clients; n++) {
        run.clients[n].socket = -1;
        run.idle[run.idle_count++] = &run.clients[n];
    }
    run.address.sin_family = AF_INET;
    run.address.sin_port = htons((uint16_t)port);
    run.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    run.request_size = snprintf(run.request, sizeof(run.request),
                                "GET %s HTTP/1.1\r\nHost: test.example\r\n"
                                "Connection: close\r\n\r\n",
                                path);
    if (run.request_size >= (int)sizeof(run.request)) {
        fprintf(stderr, "steady: the path is too long\n");
        exit(2);
    }
}

static void usage(void)
{
    fprintf(stderr, "usage: steady [-a ADDRESSES] [-n NUMBER] [-p PERCENT] "
                    "[-r] [-s] PORT PATH RATE CLIENTS SECONDS\n");
    exit(2);
}

static void read_options(int argc, char **argv)
{
    int option;

    run.seen_percent = -1;
    run.left = INT64_MAX;
    while ((option = getopt(argc, argv, "a:n:p:rs")) != -1) {
        switch (option) {
        case 'a':
            run.addresses = (uint32_t)number_between(optarg, 1, MAX_ADDRESSES);
            break;
        case 'n':
            run.left = number_between(optarg, 1, MAX_REQUESTS);
            break;
        case 'p':
            run.seen_percent = number_between(optarg, 0, 100);
            break;
        case 'r':
            run.is_random = 1;
            break;
        case 's':
            run.is_skipping = 1;
            break;
        default:
            usage();
        }
    }
    if (argc - optind != 5) {
        usage();
    }
}

int main(int argc, char **argv)
{
    int rate;
    int64_t end;

    read_options(argc, argv);
    signal(SIGTERM, on_term);
    /* No longer than whoever asked for it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    argv += optind;
    rate = number_between(argv[2], 0, MAX_RATE);
    set_up(number_between(argv[0], 1, 65535), argv[1],
           number_between(argv[3], 1, MAX_CLIENTS));
    end = now() + (int64_t)number_between(argv[4], 1, MAX_SECONDS) * 1000000;
    if (rate) {
        ask_steadily(rate, end);
    }
    else {
        ask_all_the_time(end);
    }
    wait_for_the_rest();
    return 0;
}

/* load.c - clients of one httpd: at a steady rate, or always so many, who may be
 * impatient and may keep their connections.
 *
 *     load [OPTION...] PORT RATE CLIENTS SECONDS PATH...
 *
 * Asks RATE times a second, whether those before have been answered or not, and
 * counts the time from when a request was due: a server that makes everybody wait
 * cannot hide it by being asked less. At most CLIENTS requests are under way; what
 * is due beyond that goes out late, and its time runs. With RATE 0 there are always
 * CLIENTS under way. Of several paths each request draws one. Prints a line a request,
 *
 *     WHEN TIME OK STATUS CONNECTIONS
 *
 * the first two in microseconds, WHEN of the day's clock; OK is 1 for a status of
 * 200; STATUS 0 is no answer, -1 the client left, -2 it was not let in; CONNECTIONS
 * were made so far. After SECONDS, or at SIGTERM, it asks no more and waits for the
 * answers; at SIGINT all leave. Talks to 127.0.0.1 only.
 *
 *   -a ADDRESSES  requests come from so many addresses in turn, 127.0.1.1 and on
 *   -k NUMBER     clients keep their connections, for so many requests at most
 *   -n NUMBER     no more requests than that
 *   -p PERCENT    clients are people: each has a patience of 1 s and of a
 *                 lognormal time with a median of 8 s. Who has no answer by then
 *                 leaves; PERCENT of those who do close their connection, the
 *                 connections of the others stay, as behind a proxy
 *   -q MS         clients quit after 0.5 to 1.5 of that; half of them leave by a reset
 *   -r            requests come at random, RATE a second in the mean
 *   -s            what is due while CLIENTS requests are under way is skipped
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strcasestr */
#endif
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
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

#define MAX_CLIENTS 20000
#define MAX_SECONDS 3600
#define MAX_RATE 100000
#define MAX_MS 600000
#define MAX_PATHS 20
#define MAX_REQUEST 512
#define MAX_HEAD 2048
#define LENGTH "\r\nContent-Length:"
#define EVENTS_AT_ONCE 256
/* Of those who keep theirs, not more at a time than a backlog of listen() holds. */
#define CONNECTS_A_TICK 20
#define TICK_USEC 10000
/* Who has no answer by then has failed. */
#define PATIENCE_USEC 60000000
#define SHOW_USEC 50000
#define FIRST_ADDRESS 0x7f000101u
#define MAX_ADDRESSES 250

enum { NO_ANSWER = 0, HAS_LEFT = -1, NOT_LET_IN = -2 };

typedef struct answer_t {
    size_t head_size; /* as far as it has come; MAX_HEAD: all */
    char head[MAX_HEAD];
    int is_chunked, is_last_chunk;
    int64_t body_left; /* of the body, or of the chunk; -1: until the end */
    int64_t chunk;     /* its size, as far as it has come */
} answer_t;

typedef struct client_t {
    int socket; /* -1: there is none */
    int is_asking, has_left;
    int is_unseen;  /* its connection stays when it leaves */
    int asked_here; /* requests on this connection */
    int64_t due, leaves;
    answer_t answer;
} client_t;

static struct {
    client_t *clients, **idle;
    int number, idle_count, epoll, connects_left, paths;
    struct sockaddr_in address;
    char requests[MAX_PATHS + 1][MAX_REQUEST];
    int64_t shown_at, next_tick;
    unsigned connections;
    int left, addresses, quit_ms, kept, is_random, is_skipping;
    int seen_percent; /* -1: they are no people */
} run;

static volatile sig_atomic_t is_told; /* the signal */

static void on_signal(int signal)
{
    is_told = signal;
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

/* ---- an answer over HTTP/1.1 as it comes ------------------------------------- */

static void answer_begin(answer_t *answer)
{
    answer->head_size = 0;
    answer->head[0] = '\0';
    answer->chunk = 0;
    answer->is_last_chunk = 0;
}

/* NO_ANSWER: it has not come that far. */
static int answer_status(const answer_t *answer)
{
    int status = NO_ANSWER;

    sscanf(answer->head, "HTTP/1.1 %3d", &status);
    return status < 100 ? NO_ANSWER : status;
}

/* What the head says of the body. */
static void read_head(answer_t *answer)
{
    const char *length = strcasestr(answer->head, LENGTH);
    int status = answer_status(answer);

    answer->is_chunked = strcasestr(answer->head, "\r\nTransfer-Encoding: chunked") != NULL;
    if (answer->is_chunked || status == 204 || status == 304) {
        answer->body_left = 0;
    }
    else {
        answer->body_left = length ? atoll(length + strlen(LENGTH)) : -1;
    }
}

/* @return how much of the text belongs to the head. */
static size_t take_head(answer_t *answer, const char *text, size_t size)
{
    size_t before = answer->head_size;
    size_t room = MAX_HEAD - 1 - before;
    char *end;

    memcpy(answer->head + before, text, size < room ? size : room);
    answer->head_size += size < room ? size : room;
    answer->head[answer->head_size] = '\0';
    end = strstr(answer->head, "\r\n\r\n");
    if (!end) {
        return size;
    }
    end[2] = '\0';
    read_head(answer);
    answer->head_size = MAX_HEAD;
    return (size_t)(end + 4 - answer->head) - before;
}

static int hex_value(char digit)
{
    return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

/* @return whether that was the end of the chunks. */
static int take_chunks(answer_t *answer, const char *text, size_t size)
{
    for (; size > 0; text++, size--) {
        if (answer->body_left > 0) {
            if (--answer->body_left == 0 && answer->is_last_chunk) {
                return 1;
            }
        }
        else if (*text == '\n') {
            answer->is_last_chunk = answer->chunk == 0;
            answer->body_left = answer->chunk + 2; /* and the end of the line */
            answer->chunk = 0;
        }
        else if (isxdigit((unsigned char)*text)) {
            answer->chunk = answer->chunk * 16 + hex_value(*text);
        }
    }
    return 0;
}

/* More has come. @return whether that was the end, but for an answer that ends with the
 * connection. */
static int answer_take(answer_t *answer, const char *text, size_t size)
{
    if (answer->head_size < MAX_HEAD) {
        size_t of_head = take_head(answer, text, size);

        if (answer->head_size < MAX_HEAD) {
            return 0;
        }
        text += of_head;
        size -= of_head;
    }
    if (answer->is_chunked) {
        return take_chunks(answer, text, size);
    }
    if (answer->body_left > 0) {
        answer->body_left -= (int64_t)size < answer->body_left ? (int64_t)size : answer->body_left;
    }
    return answer->body_left == 0;
}

/* Whether something is missing if the connection ends now. */
static int answer_is_cut(const answer_t *answer)
{
    return answer->head_size < MAX_HEAD || answer->body_left >= 0;
}

/* ---- one request ----------------------------------------------------------- */

static void say(const client_t *client, int status)
{
    printf("%lld %lld %d %d %u\n", (long long)client->due, (long long)(now() - client->due),
           status == 200, status, run.connections);
}

static void disconnect(client_t *client)
{
    close(client->socket);
    client->socket = -1;
}

static void become_idle(client_t *client)
{
    client->is_asking = 0;
    run.idle[run.idle_count++] = client;
}

/* The connection has ended, or will not be kept. */
static void finish(client_t *client, int status)
{
    disconnect(client);
    if (client->is_asking) {
        if (!client->has_left) {
            say(client, status);
        }
        become_idle(client);
    }
}

/* The whole answer of a connection that is kept. */
static void finish_kept(client_t *client)
{
    if (client->asked_here >= run.kept || client->has_left) {
        finish(client, answer_status(&client->answer));
        return;
    }
    say(client, answer_status(&client->answer));
    become_idle(client);
}

static void leave(client_t *client)
{
    if (client->is_unseen) {
        say(client, HAS_LEFT);
        client->has_left = 1;
        return;
    }
    finish(client, HAS_LEFT);
}

/* Microseconds. */
static int64_t patience(void)
{
    double normal = sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48());

    return run.quit_ms ? (int64_t)(1000 * run.quit_ms * (0.5 + drand48()))
                       : (int64_t)(1e6 * (1 + 8 * exp(0.6 * normal)));
}

/* Is connected when it can write. */
static void connect_client(client_t *client)
{
    struct epoll_event event = { .events = EPOLLOUT, .data.ptr = client };
    struct sockaddr_in from = { .sin_family = AF_INET };
    struct linger reset = { .l_onoff = 1, .l_linger = 0 };

    run.connections++;
    run.connects_left--;
    client->asked_here = 0;
    client->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->socket < 0) {
        die("socket");
    }
    if (run.quit_ms && drand48() < 0.5) {
        setsockopt(client->socket, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    }
    if (run.addresses) {
        from.sin_addr.s_addr = htonl(FIRST_ADDRESS + run.connections % (unsigned)run.addresses);
        if (bind(client->socket, (struct sockaddr *)&from, sizeof(from)) != 0) {
            die("bind");
        }
    }
    if ((connect(client->socket, (struct sockaddr *)&run.address, sizeof(run.address)) != 0
         && errno != EINPROGRESS)
        || epoll_ctl(run.epoll, EPOLL_CTL_ADD, client->socket, &event) != 0) {
        finish(client, NOT_LET_IN);
    }
}

/* The request fits the socket's buffer. */
static void write_request(client_t *client)
{
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };
    const char *request = run.requests[run.paths > 1 ? lrand48() % run.paths : 0];
    ssize_t size = (ssize_t)strlen(request);

    client->asked_here++;
    /* Where it was kept, what is read next tells that it has ended. */
    if ((send(client->socket, request, (size_t)size, MSG_NOSIGNAL) != size
         && client->asked_here == 1)
        || epoll_ctl(run.epoll, EPOLL_CTL_MOD, client->socket, &event) != 0) {
        finish(client, NOT_LET_IN);
    }
}

static void ask(client_t *client, int64_t due)
{
    run.left--;
    client->due = due;
    answer_begin(&client->answer);
    client->is_asking = 1;
    client->has_left = 0;
    client->leaves = INT64_MAX;
    client->is_unseen = 0;
    if (run.quit_ms || run.seen_percent >= 0) {
        client->leaves = due + patience();
        client->is_unseen = !run.quit_ms && 100 * drand48() >= run.seen_percent;
    }
    if (client->socket < 0) {
        connect_client(client);
    }
    else {
        write_request(client);
    }
}

/* A server need not keep a connection between two requests. */
static void be_hung_up_on(client_t *client, int is_reset)
{
    const answer_t *answer = &client->answer;

    if (client->is_asking && client->asked_here > 1 && answer->head_size == 0) {
        disconnect(client);
        connect_client(client);
        return;
    }
    finish(client,
           is_reset || (run.kept && answer_is_cut(answer)) ? NO_ANSWER : answer_status(answer));
}

static void read_answer(client_t *client)
{
    char text[4096];
    ssize_t size = recv(client->socket, text, sizeof(text), 0);

    if (size > 0) {
        if (answer_take(&client->answer, text, (size_t)size) && run.kept) {
            finish_kept(client);
        }
    }
    else if (size == 0 || errno != EAGAIN) {
        be_hung_up_on(client, size < 0);
    }
}

/* ---- all of them ------------------------------------------------------------- */

static void let_them_leave(int64_t latest)
{
    int n;

    for (n = 0; n < run.number; n++) {
        client_t *client = &run.clients[n];

        if (client->is_asking && !client->has_left && client->leaves <= latest) {
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
    if (run.quit_ms || run.seen_percent >= 0) {
        let_them_leave(now());
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
            ask(run.idle[--run.idle_count], next);
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
        int64_t time = now();
        int n, idle = run.idle_count;

        if (time >= run.next_tick) {
            run.next_tick = time + TICK_USEC;
            run.connects_left = CONNECTS_A_TICK;
        }
        /* Who cannot be connected is idle again, at the end. */
        for (n = run.idle_count = 0; n < idle; n++) {
            client_t *client = run.idle[n];

            if (run.left > 0 && (client->socket >= 0 || !run.kept || run.connects_left > 0)) {
                ask(client, time);
            }
            else {
                run.idle[run.idle_count++] = client;
            }
        }
        handle_events(10);
    }
}

static void wait_for_the_rest(void)
{
    int64_t deadline = now() + PATIENCE_USEC;
    int n;

    while (is_told != SIGINT && run.idle_count < run.number && now() < deadline) {
        handle_events(10);
    }
    for (n = 0; n < run.number && is_told != SIGINT; n++) {
        if (run.clients[n].is_asking) {
            finish(&run.clients[n], NO_ANSWER);
        }
    }
}

/* ---- setting up -------------------------------------------------------------- */

static int number_between(const char *text, int min, int max)
{
    int number = atoi(text);

    if (number < min || number > max) {
        fprintf(stderr, "load: '%s' is not from %d to %d\n", text, min, max);
        exit(2);
    }
    return number;
}

static void set_up(int port, int clients)
{
    struct rlimit files;
    int n;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    run.number = clients;
    run.clients = calloc((size_t)clients, sizeof(*run.clients));
    run.idle = calloc((size_t)clients, sizeof(*run.idle));
    run.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!run.clients || !run.idle || run.epoll < 0) {
        die("load");
    }
    for (n = 0; n < clients; n++) {
        run.clients[n].socket = -1;
        run.idle[run.idle_count++] = &run.clients[n];
    }
    run.address.sin_family = AF_INET;
    run.address.sin_port = htons((uint16_t)port);
    run.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static void add_path(const char *path)
{
    char *request = run.requests[run.paths++];

    if (run.paths > MAX_PATHS
        || snprintf(request, MAX_REQUEST, "GET %s HTTP/1.1\r\nHost: test.example\r\n%s\r\n", path,
                    run.kept ? "" : "Connection: close\r\n")
               >= MAX_REQUEST) {
        fprintf(stderr, "load: too many paths, or too long\n");
        exit(2);
    }
}

static const struct {
    int name, *to, min, max;
} options[] = {
    { 'a', &run.addresses, 1, MAX_ADDRESSES },
    { 'k', &run.kept, 1, INT_MAX },
    { 'n', &run.left, 1, INT_MAX },
    { 'p', &run.seen_percent, 0, 100 },
    { 'q', &run.quit_ms, 1, MAX_MS },
    { 'r', &run.is_random, 1, 1 },
    { 's', &run.is_skipping, 1, 1 },
};

static void read_option(int option)
{
    size_t n;

    for (n = 0; n < sizeof(options) / sizeof(options[0]); n++) {
        if (options[n].name == option) {
            *options[n].to = optarg ? number_between(optarg, options[n].min, options[n].max) : 1;
            return;
        }
    }
    exit(2);
}

int main(int argc, char **argv)
{
    sigset_t none;
    int option, rate;
    int64_t end;

    run.seen_percent = -1;
    run.left = INT_MAX;
    while ((option = getopt(argc, argv, "a:k:n:p:q:rs")) != -1) {
        read_option(option);
    }
    if (argc - optind < 5) {
        fputs("usage: load [OPTION...] PORT RATE CLIENTS SECONDS PATH...\n", stderr);
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    sigemptyset(&none); /* whoever starts it may have blocked them until now */
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* No longer than whoever asked for it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    argv += optind;
    rate = number_between(argv[1], 0, MAX_RATE);
    set_up(number_between(argv[0], 1, 65535), number_between(argv[2], 1, MAX_CLIENTS));
    end = now() + (int64_t)number_between(argv[3], 1, MAX_SECONDS) * 1000000;
    for (argv += 4; *argv; argv++) {
        add_path(*argv);
    }
    rate ? ask_steadily(rate, end) : ask_all_the_time(end);
    wait_for_the_rest();
    return 0;
}

/* heavy.c - the heavy CGI program of tests, benchmarks and demonstrations: it takes
 * what it is told of the machine, says what it did, and misbehaves on request.
 *
 * Told by QUERY_STRING, for example "id=7&ms=50&early=1":
 *   id=NAME       its name in the record of starts and ends
 *   ms=N          work for N milliseconds (default 0)
 *   lock=1        first of all wait for a lock that all copies share
 *   mb=N          have N MiB of memory meanwhile
 *   cpu=N         first keep the processor busy for N milliseconds of its time
 *   nap=N         then do nothing for a random time, N milliseconds in the mean
 *   wait=N        then ask a backend that takes N milliseconds
 *   slots=N       which answers so many at once (default: all)
 *   until=NAME    then go on until the file NAME exists in HEAVY_DIR
 *   early=1       send the header and a first line before the work, not after
 *   stream=N      send the header first and N bytes spread over the work
 *   bulk=N        end the answer with about N bytes of lines that count up
 *   close=1       answer, close stdin, stdout and stderr, then work
 *   loc=URL       answer with a local redirect to URL, then work
 *   ignore=1      ignore SIGTERM and SIGPIPE, as stubborn programs do
 *   ignore=pipe   ignore SIGPIPE only; a SIGTERM is the line "term NAME" of the record
 *   kill=1        first of all kill -9 the process that started it
 *
 * HEAVY_DIR (environment, optional) is the directory for the file "record",
 * which gets the lines "start NAME" and "end NAME", and for `until`. While it
 * has a file "looks", that of an observer who appends a byte after each look at
 * all programs, none ends by itself before one whole look has seen it.
 *
 * It never outlives LIFETIME_SEC, whatever it is told to ignore.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIFETIME_SEC 300
#define STEP_MS 5
#define LOOK_SEC 5 /* no look takes longer */

extern char **environ;

/* Value of an option in QUERY_STRING, or NULL. The buffer is the caller's. */
static const char *option(const char *name, char *buf, size_t size)
{
    const char *at = getenv("QUERY_STRING");
    size_t name_len = strlen(name);

    while (at && *at) {
        size_t len = strcspn(at, "&");

        if (len > name_len && !strncmp(at, name, name_len) && at[name_len] == '=') {
            snprintf(buf, size, "%.*s", (int)(len - name_len - 1), at + name_len + 1);
            return buf;
        }
        at += len + (at[len] == '&');
    }
    return NULL;
}

static long number(const char *name)
{
    char buf[32];
    const char *value = option(name, buf, sizeof(buf));

    return value ? atol(value) : 0;
}

static void nap(long ms)
{
    struct timespec left = { ms / 1000, ms % 1000 * 1000000L };

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static void record(const char *event)
{
    const char *dir = getenv("HEAVY_DIR");
    char id[64] = "-", path[4096], line[128];
    int fd, len;

    if (!dir) {
        return;
    }
    option("id", id, sizeof(id));
    snprintf(path, sizeof(path), "%s/record", dir);
    len = snprintf(line, sizeof(line), "%s %s\n", event, id);
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    /* One write of a short line: lines of several programs never mix. */
    if (fd < 0 || write(fd, line, (size_t)len) != len) {
        _exit(1);
    }
    close(fd);
}

/* -1: nobody looks. */
static long looks(void)
{
    const char *dir = getenv("HEAVY_DIR");
    char path[4096];
    struct stat status;

    snprintf(path, sizeof(path), "%s/looks", dir ? dir : "");
    return dir && stat(path, &status) == 0 ? (long)status.st_size : -1;
}

/* The look that was under way at the start may have missed it. Some stay for more
 * than one: where each place is seen in every other look, no look sees all. */
static void be_seen(long looks_at_start)
{
    int steps = LOOK_SEC * 1000 / STEP_MS;
    long enough = looks_at_start + 2 + getpid() % 3;

    while (looks_at_start >= 0 && steps-- > 0) {
        long now = looks();

        if (now < 0 || now >= enough) {
            return;
        }
        nap(STEP_MS);
    }
}

static void send_some(long bytes)
{
    while (bytes-- > 0) {
        putchar('.');
    }
    fflush(stdout);
}

/* ---- what it takes of the machine ------------------------------------------ */

/* On the program's own file: it is there, and nobody else locks it. Ends with the
 * process. */
static void take_lock(const char *path)
{
    int fd = open(path, O_RDONLY);

    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        _exit(1);
    }
}

/* Touched, so that it is there; it ends with the process. */
static void take_memory(void)
{
    size_t bytes = (size_t)number("mb") * 1024 * 1024;
    char *memory = bytes > 0 ? malloc(bytes) : NULL;

    if (bytes > 0 && !memory) {
        _exit(1);
    }
    if (memory) {
        memset(memory, 1, bytes);
        __asm__ volatile("" : : "r"(memory) : "memory");
    }
}

static void keep_busy(long ms)
{
    struct timespec used = { 0, 0 };
    volatile unsigned long i;

    while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms) {
        /* A look at the clock is a system call: not the work itself. */
        for (i = 0; i < 100000; i++) {
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    }
}

/* Many short ones and a few long ones, as programs take. */
static long random_ms(long mean)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    srand48(now.tv_nsec ^ getpid());
    return (long)(-(double)mean * log(1 - drand48()));
}

/* A byte of a file stands for a place at the backend. */
static int take_place(int fd, long slots)
{
    struct flock place = { .l_type = F_WRLCK, .l_len = 1 };

    for (place.l_start = 0; place.l_start < slots; place.l_start++) {
        if (fcntl(fd, F_SETLK, &place) == 0) {
            return 1;
        }
    }
    return 0;
}

static void ask_backend(long ms, long slots)
{
    const char *dir = getenv("HEAVY_DIR");
    char path[4096];
    int fd;

    if (slots > 0) {
        snprintf(path, sizeof(path), "%s/backend", dir ? dir : "/tmp");
        fd = open(path, O_RDWR | O_CREAT, 0666);
        if (fd < 0) {
            _exit(1);
        }
        while (!take_place(fd, slots)) {
            nap(2);
        }
    }
    nap(ms);
}

/* ---- what it does ------------------------------------------------------------ */

/* The work itself: what it takes, `ms` milliseconds, then until somebody opens the
 * gate. Streams while it lasts. */
static void work(void)
{
    const char *dir = getenv("HEAVY_DIR");
    char gate[64], path[4096];
    long bytes = number("stream");
    long steps = number("ms") / STEP_MS;
    long i;

    keep_busy(number("cpu"));
    nap(random_ms(number("nap")));
    ask_backend(number("wait"), number("slots"));
    for (i = 0; i < steps; i++) {
        send_some(bytes / steps);
        nap(STEP_MS);
    }
    nap(number("ms") % STEP_MS);
    send_some(steps ? bytes % steps : bytes);

    if (dir && option("until", gate, sizeof(gate))) {
        snprintf(path, sizeof(path), "%s/%s", dir, gate);
        while (access(path, F_OK) != 0) {
            send_some(bytes ? 1 : 0);
            nap(STEP_MS);
        }
    }
}

static long read_body(void)
{
    char buf[4096];
    long total = 0;
    size_t got;

    if (!getenv("CONTENT_LENGTH") && !getenv("HTTP_TRANSFER_ENCODING")) {
        return 0;
    }
    while ((got = fread(buf, 1, sizeof(buf), stdin)) > 0) {
        total += (long)got;
    }
    return total;
}

static void send_header(void)
{
    printf("Content-Type: text/plain\n\n");
}

static void send_body(long body_length)
{
    char id[64] = "-";
    char **var;

    option("id", id, sizeof(id));
    printf("heavy %s\nbody %ld\n", id, body_length);
    for (var = environ; *var; var++) {
        if (strstr(*var, "ADMISSION_")) {
            puts(*var);
        }
    }
    fflush(stdout);
}

static void send_bulk(void)
{
    long line, lines = number("bulk") / 10;

    for (line = 1; line <= lines; line++) {
        printf("%09ld\n", line);
    }
    fflush(stdout);
}

static void end_by_term(int signum)
{
    (void)signum;
    record("term");
    _exit(0);
}

int main(int argc, char **argv)
{
    char url[1024];
    sigset_t none;
    long body_length, looks_at_start;

    (void)argc;
    if (number("kill")) {
        kill(getppid(), SIGKILL);
    }
    /* Threaded httpd leaves most signals blocked in what it starts. */
    sigemptyset(&none);
    sigaddset(&none, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &none, NULL);
    signal(SIGALRM, SIG_DFL);
    alarm(LIFETIME_SEC);
    if (option("ignore", url, sizeof(url))) {
        signal(SIGPIPE, SIG_IGN);
        signal(SIGTERM, end_by_term);
    }
    if (number("ignore")) {
        signal(SIGTERM, SIG_IGN);
    }

    if (number("lock")) {
        take_lock(argv[0]);
    }
    take_memory();
    record("start");
    looks_at_start = looks();
    body_length = read_body();
    if (option("loc", url, sizeof(url))) {
        printf("Location: %s\n\n", url);
        fflush(stdout);
        work();
    }
    else if (number("close")) {
        send_header();
        send_body(body_length);
        fclose(stdin); /* mod_cgid gives it the socket that is stdout, too */
        fclose(stdout);
        fclose(stderr);
        work();
    }
    else if (number("early") || number("stream")) {
        send_header();
        send_body(body_length);
        work();
    }
    else {
        work();
        send_header();
        send_body(body_length);
    }
    send_bulk();
    be_seen(looks_at_start);
    record("end");
    return 0;
}

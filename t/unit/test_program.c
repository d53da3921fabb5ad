/* test_program.c - programs that requests start, and permits that outlive their child with one.
 *
 * Each program is cat: it lives until its standard input, the write end of which the test holds,
 * is closed. Some are started by the child, as mod_cgi does, some by a daemon, as mod_cgid does.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <apr_strings.h>

#include "core/adm_environ.h"
#include "test_support.h"

WITH_FLOWS_TOO;

/* ---- programs ------------------------------------------------------------- */

/* A request that is about to start a program. */
static adm_ticket_t ticket;

/* The other end of each program's standard input. */
static int life_line[2];

/* Before the first program, and before a process that is to start some. */
static void make_life_line(void)
{
    ck_assert_int_eq(pipe2(life_line, O_CLOEXEC), 0);
}

/* Let all programs end. Each process that could start some holds the line as well, until it is
 * killed or does this. */
static void end_program(void)
{
    close(life_line[1]);
}

/* In a new process: become a program with this environment. */
static void become_cat(char *const environment[])
{
    char *const arguments[] = { "cat", NULL };

    dup2(life_line[0], 0);
    execve("/bin/cat", arguments, environment);
    _exit(99);
}

static char *const nothing[] = { "PATH=/usr/bin:/bin", NULL };

/* As mod_cgi does: announce in the child, and fork there. */
static pid_t start_program(void)
{
    pid_t pid;

    adm_program_announce(&ticket, ADM_START_HERE);
    pid = fork();
    if (pid == 0) {
        become_cat(nothing);
    }
    return pid;
}

/* @return its state, 'Z' when it has ended; 0 without such a process. */
static char state_of(pid_t pid, char name[17])
{
    char path[64], state = 0;
    FILE *file;

    name[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file) {
        state = fscanf(file, "%*d (%16[^)]) %c", name, &state) == 2 ? state : 0;
        fclose(file);
    }
    return state;
}

/* @return whether the process is a cat that has not ended. */
static bool is_cat(pid_t pid)
{
    char name[17], state = state_of(pid, name);

    return strcmp(name, "cat") == 0 && state != 'Z';
}

static void make_zone(void)
{
    make_life_line();
    stage(1, 10);
}

/* It has the only permit. */
static void admit(void)
{
    make_zone();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
}

static pid_t noted(const adm_ticket_t *ticket)
{
    return (pid_t)adm_program_pid(atomic_load(&rec_of_ticket(ticket)->program));
}

static void see_program_end(pid_t program)
{
    end_program();
    WAIT_FOR(!is_cat(program));
}

static void wait_for_zombie(pid_t pid)
{
    siginfo_t info;

    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* ---- in the child -------------------------------------------------------- */

static pid_t run_another(void)
{
    pid_t pid = start_program();

    WAIT_FOR(is_cat(pid));
    return pid;
}

static pid_t admit_and_run(void)
{
    admit();
    return run_another();
}

static void end_of_program(pid_t pid)
{
    end_program();
    ck_assert_int_eq(end_of(pid), 0);
}

/* @return the exit code of a process that ends at once, unless it has ended before. */
static int code_of_fork(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        _exit(99);
    }
    return end_of(pid);
}

TEST(the_fork_of_an_announced_program_is_noted_and_no_other)
{
    pid_t announced = admit_and_run();

    ck_assert(adm_program_was_announced(&ticket));
    ck_assert_int_eq(code_of_fork(), 99);
    ck_assert_int_eq(noted(&ticket), announced);
    end_of_program(announced);
}

static void *has_ended_in_thread(void *ticket)
{
    return (void *)(intptr_t)adm_program_has_ended(ticket);
}

TEST(a_program_has_not_ended_while_it_lives)
{
    pid_t pid = admit_and_run();
    pthread_t thread;
    void *has_ended;

    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert_int_eq(pthread_create(&thread, NULL, has_ended_in_thread, &ticket), 0);
    pthread_join(thread, &has_ended);
    ck_assert_ptr_null(has_ended);
    end_program();
    wait_for_zombie(pid);
    ck_assert(adm_program_has_ended(&ticket)); /* a zombie */
    ck_assert(adm_program_has_ended(&ticket)); /* and asking does not reap it */
    ck_assert_int_eq(end_of(pid), 0);
    ck_assert(adm_program_has_ended(&ticket)); /* reaped */
}

TEST(what_a_program_took_is_counted_when_its_request_leaves)
{
    pid_t pid = admit_and_run();

    end_program();
    wait_for_zombie(pid);
    leave(&ticket);
    ck_assert_uint_eq(stats_of(child, zone).figures.account.count, 1);
    ck_assert_uint_gt(stats_of(child, zone).figures.account.peak_kb.max, 0);
    ck_assert_int_eq(end_of(pid), 0);
}

/* hidepid and another user's program look the same from here: no /proc/PID. */
static bool can_hide_processes(void)
{
    int own = CLONE_NEWNS | (getuid() == 0 ? 0 : CLONE_NEWUSER);

    return unshare(own) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0
           && mount("none", "/proc", "tmpfs", 0, NULL) == 0;
}

/* Linux 5.3 tells of an end without /proc. */
static bool can_be_told_without_proc(void)
{
    pid_t pid = fork();
    int status = 1;

    if (pid == 0) {
        _exit(syscall(SYS_pidfd_open, getpid(), 0) >= 0 && can_hide_processes() ? 0 : 1);
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static int sees_it_run(void *runs)
{
    NEED(can_hide_processes());
    NEED(adm_program_outlives_request(&ticket) == *(bool *)runs);
    return 0;
}

/* In a container a zombie can stay indefinitely: no process reaps it. */
TEST(a_zombie_has_ended_where_processes_are_hidden)
{
    bool runs = true;
    pid_t pid;

    if (!can_be_told_without_proc()) {
        return;
    }
    pid = admit_and_run();
    ck_assert_int_eq(play(sees_it_run, &runs), 0);
    end_program();
    wait_for_zombie(pid);
    runs = false;
    ck_assert_int_eq(play(sees_it_run, &runs), 0);
    ck_assert_int_eq(end_of(pid), 0);
}

static void *stay_in_thread(void *nothing)
{
    stay();
    return nothing;
}

TEST(a_program_whose_first_thread_has_ended_still_runs)
{
    char name[17];
    pthread_t thread;
    pid_t pid;

    admit();
    adm_program_announce(&ticket, ADM_START_HERE);
    pid = fork();
    if (pid == 0) {
        pthread_create(&thread, NULL, stay_in_thread, NULL);
        syscall(SYS_exit, 0); /* of this thread */
    }
    WAIT_FOR(state_of(pid, name) == 'Z'); /* so /proc reports */
    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert(adm_program_outlives_request(&ticket));
    kill(pid, SIGKILL);
    wait_for_zombie(pid);
    ck_assert(adm_program_has_ended(&ticket));
    ck_assert_int_eq(end_of(pid), -SIGKILL);
}

TEST(with_two_programs_the_end_is_unknown)
{
    pid_t first = admit_and_run(), second = start_program();

    end_of_program(first);
    ck_assert_int_eq(end_of(second), 0);
    ck_assert(!adm_program_has_ended(&ticket));
}

TEST(a_program_after_another_is_known)
{
    pid_t next;

    kill_unnoticed(admit_and_run());
    next = run_another();
    ck_assert(!adm_program_has_ended(&ticket));
    end_of_program(next);
    ck_assert(adm_program_has_ended(&ticket));
}

TEST(a_program_that_notes_no_pid_is_not_known)
{
    admit();
    adm_program_announce(&ticket, ADM_START_UNSEEN);
    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert(!adm_program_outlives_request(&ticket)); /* httpd has ended it */
}

/* A process that started after the program was seen is another one. */
TEST(a_pid_that_is_used_again_is_not_the_program)
{
    pid_t pid = admit_and_run();

    ck_assert(adm_program_outlives_request(&ticket));
    atomic_fetch_sub(&rec_of_ticket(&ticket)->program_seen, ADM_USEC_PER_SEC);
    ck_assert(!adm_program_outlives_request(&ticket));
    ck_assert(adm_program_has_ended(&ticket));
    end_of_program(pid);
}

/* A process found no program and released the permit. */
TEST(no_program_starts_once_it_was_found_missing)
{
    admit();
    adm_program_announce(&ticket, ADM_START_HERE);
    ck_assert(adm_program_has_ended(&ticket));
    ck_assert_int_eq(code_of_fork(), 0);
}

TEST(the_next_owner_of_a_ticket_has_no_program)
{
    adm_ticket_t next;
    pid_t pid = admit_and_run();

    leave(&ticket);
    adm_program_announce(&ticket, ADM_START_HERE);
    ck_assert_uint_eq(atomic_load(&rec_of_ticket(&ticket)->programs), ADM_PROGRAMS_ONE);
    ck_assert_int_eq(enter(child, zone, &next), ADM_ADMITTED);
    ck_assert_uint_eq(next.idx, ticket.idx);
    ck_assert(!adm_program_was_announced(&next));
    ck_assert(adm_program_has_ended(&next));
    end_of_program(pid);
}

/* What a daemon starts is not forked here; another module's filter may be. */
TEST(a_process_forked_here_is_not_the_program_of_a_daemon)
{
    admit();
    adm_program_announce(&ticket, ADM_START_BY_TOKEN);
    ck_assert_int_eq(code_of_fork(), 99);
    ck_assert_int_eq(noted(&ticket), 0);
}

TEST(the_token_is_found_in_the_environment_that_apr_passes)
{
    ck_assert(adm_program_try_token(pool));
    ck_assert(adm_program_try_token(pool)); /* at each load */
}

TEST(an_environment_in_the_frames_searched_does_not_count)
{
    static char ours[] = "OURS=1", *in_pool[] = { ours, NULL };
    char *in_frame[] = { ours, NULL };
    char **volatile env = in_frame;

    ck_assert_ptr_null(adm_environ_entry("OURS="));
    env = in_pool;
    ck_assert_ptr_eq(adm_environ_entry("OURS="), env);
}

static int signals_stay_blocked(void *unused)
{
    sigset_t mask;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    NEED(sigismember(&mask, SIGTERM));
    return 0;
}

TEST(a_program_starts_with_no_signal_blocked_and_no_other_fork_does)
{
    sigset_t most;
    pid_t pid;

    admit();
    sigfillset(&most);
    pthread_sigmask(SIG_SETMASK, &most, NULL);
    ck_assert_int_eq(play(signals_stay_blocked, NULL), 0);
    pid = run_another();
    kill(pid, SIGTERM);
    ck_assert_int_eq(end_of(pid), -SIGTERM);
    pthread_sigmask(SIG_SETMASK, NULL, &most);
    ck_assert(sigismember(&most, SIGTERM)); /* the mask here is restored */
}

/* Pipes that another thread has just made, for a program of its own. */
TEST(a_program_inherits_no_pipe_of_another_one)
{
    int others_output[2];
    pid_t pid;
    char byte;

    if (syscall(SYS_close_range, 1000U, 1000U, 1U << 2) != 0) {
        return; /* Linux 5.11 has it */
    }
    admit();
    ck_assert_int_eq(pipe(others_output), 0);
    pid = run_another();
    close(others_output[1]);
    ck_assert_int_eq(fcntl(others_output[0], F_SETFL, O_NONBLOCK), 0);
    ck_assert_int_eq(read(others_output[0], &byte, 1), 0);
    ck_assert(is_cat(pid));
    end_of_program(pid);
}

/* ---- the child is dead, its program lives -------------------------------- */

/* The program, in the shared words. */
enum { STARTED };

static int start_and_stay(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    atomic_store(&shared[STARTED], (unsigned)start_program());
    return stay();
}

/* Loop test: the bound is an hour, or 0. */
TESTS(a_program_keeps_the_permit_no_longer_than_the_bound, 0, 2)
{
    const adm_usec_t second = ADM_USEC_PER_SEC, bound = _i ? 0 : 3600 * second;
    adm_usec_t before = adm_now();
    pid_t victim, program;

    make_zone();
    adm_segment_begin_load(segment);
    adm_segment_end_load(segment, 1000, bound);
    victim = start_to_stay(start_and_stay, NULL);
    program = (pid_t)atomic_load(&shared[STARTED]);
    WAIT_FOR(is_cat(program));
    kill_noticed(victim);
    adm_round(child, adm_now(), false);
    if (bound) {
        adm_round(child, before + bound - second, true);
        ck_assert_uint_eq(active_in(zone), 1);
    }
    adm_round(child, adm_now() + bound, true);
    ck_assert_uint_eq(active_in(zone), 0);
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert(is_cat(program));
    see_program_end(program);
}

static int announce_too_early(void *unused)
{
    adm_ticket_t waiting;

    NEED(enter(join(), zone, &waiting) == ADM_WAITING);
    adm_program_announce(&waiting, ADM_START_HERE);
    return stay();
}

TEST(a_waiting_ticket_is_never_orphaned)
{
    adm_ticket_t inside;

    make_zone();
    ck_assert_int_eq(enter(child, zone, &inside), ADM_ADMITTED);
    kill_noticed(start_to_stay(announce_too_early, NULL));
    adm_round(child, adm_now(), false);
    ck_assert_uint_eq(queued_in(zone), 0);
    ck_assert_uint_eq(orphans_in(zone), 0);
}

/* ---- a daemon starts the programs, as mod_cgid does ---------------------- */

enum { TO_START = 1, TOKEN_AT = 16 };

static char *token_for_daemon(void)
{
    return (char *)&shared[TOKEN_AT];
}

/* Fork with the token in the environment of what is started. */
static pid_t start_with_token(const char *token)
{
    char **environment = apr_pcalloc(pool, 4 * sizeof(*environment));
    pid_t pid;

    environment[0] = "PATH=/usr/bin:/bin";
    environment[1] = "=of no name"; /* .htaccess may have it */
    environment[2] = apr_pstrcat(pool, ADM_TOKEN_VARIABLE "=", token, NULL);
    pid = fork();
    if (pid == 0) {
        become_cat(environment);
    }
    return pid;
}

/* The first fork of the parent; never a child of the segment. Starts a program
 * with the token given whenever told. */
static int be_daemon(void *unused)
{
    pid_t parent = getppid();
    unsigned started = 0;

    end_program(); /* this process's copy of that end */
    signal(SIGCHLD, SIG_IGN);
    while (getppid() == parent) {
        if (atomic_load(&shared[TO_START]) > started) {
            started++;
            atomic_store(&shared[STARTED], (unsigned)start_with_token(token_for_daemon()));
        }
        pause_briefly();
    }
    return 0;
}

/* @return the new process, which may not be a program yet. */
static pid_t tell_daemon(void)
{
    atomic_store(&shared[STARTED], 0);
    atomic_fetch_add(&shared[TO_START], 1);
    WAIT_FOR(atomic_load(&shared[STARTED]) != 0);
    return (pid_t)atomic_load(&shared[STARTED]);
}

static pid_t start_by_daemon(void)
{
    pid_t pid = tell_daemon();

    WAIT_FOR(is_cat(pid));
    return pid;
}

static pid_t daemon_pid;

static void stage_with_daemon(uint32_t limit)
{
    make_life_line();
    daemon_pid = start(be_daemon, NULL);
    stage(limit, 1);
}

static void announce(adm_start_t how)
{
    adm_program_token(&ticket, token_for_daemon());
    adm_program_announce(&ticket, how);
}

static void announce_a_program(void)
{
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
    announce(ADM_START_BY_TOKEN);
}

static bool has_token(pid_t pid)
{
    const char *path = apr_psprintf(pool, "/proc/%d/environ", (int)pid);
    char text[1024];
    size_t length = 0;

    /* In exec a process has its new name before its environment. */
    while (length == 0) {
        FILE *file = fopen(path, "r");

        ck_assert_ptr_nonnull(file);
        length = fread(text, 1, sizeof(text), file);
        fclose(file);
    }
    return memmem(text, length, ADM_TOKEN_VARIABLE, strlen(ADM_TOKEN_VARIABLE));
}

/* Loop test: its daemon lives; is dead; or the program has another user than the child, as with
 * suEXEC. Here the program keeps its user, and the child changes. */
TESTS(a_program_of_the_daemon_is_known_and_keeps_no_token, 0, 3)
{
    pid_t program;

    if (_i == 2 && getuid() != 0) {
        return; /* and cannot become another user */
    }
    stage_with_daemon(1);
    announce_a_program();
    program = start_by_daemon();
    ck_assert_int_eq(noted(&ticket), program);
    ck_assert(!has_token(program));
    if (_i == 1) {
        kill_unnoticed(daemon_pid);
    }
    if (_i == 2) {
        ck_assert(setuid(65534) == 0); /* as children of httpd are */
    }
    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert(adm_program_outlives_request(&ticket));
    see_program_end(program);
    ck_assert(adm_program_has_ended(&ticket));
    ck_assert(!adm_program_outlives_request(&ticket));
}

static int announce_and_stay_only(void *how)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    announce(*(adm_start_t *)how);
    return stay();
}

/* Loop test: the ticket was found without a program; another request has it; its child is
 * dead, and the daemon has the request. */
TESTS(a_token_of_no_open_ticket_starts_nothing, 0, 3)
{
    adm_start_t how = ADM_START_BY_TOKEN;
    adm_ticket_t next;
    pid_t program;

    stage_with_daemon(1);
    if (_i == 2) {
        kill_noticed(start_to_stay(announce_and_stay_only, &how));
        adm_round(child, adm_now(), true);
        ck_assert_uint_eq(active_in(zone), 0);
    }
    else {
        announce_a_program();
        ck_assert(adm_program_has_ended(&ticket)); /* none has started */
    }
    if (_i == 1) {
        leave(&ticket);
        ck_assert_int_eq(enter(child, zone, &next), ADM_ADMITTED);
        ck_assert_uint_eq(next.idx, ticket.idx);
    }
    program = tell_daemon();
    WAIT_FOR(kill(program, 0) != 0);
    ck_assert(_i != 1 || noted(&next) == 0);
}

TEST(the_program_of_another_request_is_not_taken_for_ours)
{
    adm_ticket_t other;

    stage_with_daemon(2);
    announce_a_program();
    other = ticket;
    announce_a_program();
    start_by_daemon();
    ck_assert(adm_program_has_ended(&other));
    ck_assert(!adm_program_has_ended(&ticket));
    end_program();
}

static int announce_and_stay(void *unused)
{
    child = join();
    NEED(enter(child, zone, &ticket) == ADM_ADMITTED);
    announce(ADM_START_BY_TOKEN);
    start_by_daemon();
    return stay();
}

/* Loop test: the child has started the program; a daemon has, which lives; or is dead, too. */
TESTS(a_permit_outlives_its_child_with_the_program, 0, 3)
{
    adm_ticket_t waiting;
    pid_t victim, program;
    int round;

    stage_with_daemon(1);
    victim = start_to_stay(_i ? announce_and_stay : start_and_stay, NULL);
    program = (pid_t)atomic_load(&shared[STARTED]);
    WAIT_FOR(is_cat(program));
    kill_noticed(victim);
    if (_i == 2) {
        kill_unnoticed(daemon_pid);
    }
    ck_assert_int_eq(enter(child, zone, &waiting), ADM_WAITING);
    for (round = 0; round < 5; round++) {
        adm_round(child, adm_now() + round * ADM_USEC_PER_SEC, true);
    }
    ck_assert_uint_eq(active_in(zone), 1);
    ck_assert_uint_eq(orphans_in(zone), 1);
    ck_assert(!adm_ticket_is_granted(&waiting));
    assert_segment_consistent();
    see_program_end(program);
    adm_round(child, adm_now() + 5 * ADM_USEC_PER_SEC, true);
    ck_assert(adm_ticket_is_granted(&waiting));
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 1);
}

TEST(a_program_without_a_pid_keeps_the_permit_for_ten_seconds)
{
    adm_start_t how = ADM_START_UNSEEN;
    adm_usec_t before = adm_now();

    make_zone();
    kill_noticed(start_to_stay(announce_and_stay_only, &how));
    adm_round(child, before + 9 * ADM_USEC_PER_SEC, true);
    ck_assert_uint_eq(orphans_in(zone), 1);
    adm_round(child, before + 19 * ADM_USEC_PER_SEC, true);
    ck_assert_uint_eq(orphans_in(zone), 0);
}

/* No child died, so no permit was reclaimed. */
TEST(an_abandoned_permit_is_not_counted_as_reclaimed)
{
    pid_t program = admit_and_run();

    adm_ticket_abandon(&ticket, adm_now());
    ck_assert_uint_eq(orphans_in(zone), 1);
    end_program();
    ck_assert_int_eq(end_of(program), 0);
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 0);
}

/* test_program.c - programs that requests start, while their child lives.
 *
 * The programs are cats (test_cat.h).
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cat.h"
#include "test_support.h"

static adm_ticket_t ticket;

/* It has the only permit. */
static void admit(void)
{
    make_life_line();
    stage(1, 10);
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
}

static pid_t noted(void)
{
    return (pid_t)adm_program_pid(atomic_load(&rec_of_ticket(&ticket)->program));
}

static void wait_for_zombie(pid_t pid)
{
    siginfo_t info;

    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* ---- in the child -------------------------------------------------------- */

static pid_t run_another(void)
{
    pid_t pid = start_program(&ticket);

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

TEST(a_ticket_without_program_has_none_that_lives)
{
    admit();
    ck_assert(!adm_program_was_announced(&ticket));
    ck_assert(adm_program_has_ended(&ticket));
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
    ck_assert_int_eq(noted(), announced);
    end_of_program(announced);
}

TEST(a_program_has_not_ended_while_it_lives)
{
    pid_t pid = admit_and_run();

    ck_assert(!adm_program_has_ended(&ticket));
    end_program();
    wait_for_zombie(pid);
    ck_assert(adm_program_has_ended(&ticket)); /* a zombie */
    ck_assert(adm_program_has_ended(&ticket)); /* and asking does not reap it */
    ck_assert_int_eq(end_of(pid), 0);
    ck_assert(adm_program_has_ended(&ticket)); /* reaped */
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

TEST(a_program_whose_first_thread_has_ended_still_runs)
{
    pid_t pid;

    admit();
    adm_program_announce(&ticket, ADM_START_HERE);
    pid = fork();
    if (pid == 0) {
        leave_to_a_thread();
    }
    WAIT_FOR(looks_like_zombie(pid));
    ck_assert(!adm_program_has_ended(&ticket));
    ck_assert(adm_program_outlives_request(&ticket));
    kill(pid, SIGKILL);
    wait_for_zombie(pid);
    ck_assert(adm_program_has_ended(&ticket));
    ck_assert_int_eq(end_of(pid), -SIGKILL);
}

static void *has_ended_in_thread(void *ticket)
{
    return (void *)(intptr_t)adm_program_has_ended(ticket);
}

TEST(another_thread_may_check_whether_the_program_runs)
{
    pid_t pid = admit_and_run();
    pthread_t thread;
    void *has_ended;

    ck_assert_int_eq(pthread_create(&thread, NULL, has_ended_in_thread, &ticket), 0);
    pthread_join(thread, &has_ended);
    ck_assert_ptr_null(has_ended);
    end_of_program(pid);
}

TEST(with_two_programs_the_end_is_unknown)
{
    pid_t first = admit_and_run(), second = start_program(&ticket);

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
    ck_assert_int_eq(enter(child, zone, &next), ADM_ADMITTED);
    ck_assert_uint_eq(next.idx, ticket.idx);
    ck_assert(!adm_program_was_announced(&next));
    end_of_program(pid);
}

/* What a daemon starts is not forked here; another module's filter may be. */
TEST(a_process_forked_here_is_not_the_program_of_a_daemon)
{
    admit();
    adm_program_announce(&ticket, ADM_START_BY_TOKEN);
    ck_assert_int_eq(code_of_fork(), 99);
    ck_assert_int_eq(noted(), 0);
}

TEST(the_token_is_found_in_the_environment_that_apr_passes)
{
    ck_assert(adm_program_try_token(pool));
    ck_assert(adm_program_try_token(pool)); /* at each load */
}

TEST(a_released_ticket_announces_nothing)
{
    admit();
    leave(&ticket);
    adm_program_announce(&ticket, ADM_START_HERE);
    ck_assert(!adm_program_was_announced(&ticket));
}

TEST(a_program_starts_with_no_signal_blocked)
{
    sigset_t most;
    pid_t pid;

    admit();
    sigfillset(&most);
    pthread_sigmask(SIG_SETMASK, &most, NULL);
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

static int signals_stay_blocked(void *unused)
{
    sigset_t mask;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    NEED(sigismember(&mask, SIGTERM));
    return 0;
}

TEST(another_fork_keeps_its_signals_blocked)
{
    sigset_t term;

    stage(1, 10);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    ck_assert_int_eq(play(signals_stay_blocked, NULL), 0);
}

/* test_program.c - programs that requests of a living child start, as mod_cgi does. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/adm_environ.h"
#include "test_programs.h"

WITH_FLOWS_TOO;

/* It has the only permit. */
static void admit(void)
{
    make_zone();
    ck_assert_int_eq(enter(child, zone, &ticket), ADM_ADMITTED);
}

static void wait_for_zombie(pid_t pid)
{
    siginfo_t info;

    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

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
    ck_assert(adm_program_is_seen(&ticket));
    adm_program_announce(&ticket, ADM_START_UNSEEN);
    ck_assert(!adm_program_is_seen(&ticket));
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
    ck_assert(!adm_program_is_seen(&ticket));
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

static void exit_with_7(int signal)
{
    _exit(7);
}

static const adm_fault_t points_before_exec[] = { ADM_FAULT_program_forked,
                                                  ADM_FAULT_program_noted };

TESTS(no_handler_of_httpd_runs_in_a_program, 0, COUNT(points_before_exec))
{
    pid_t pid;

    admit();
    ck_assert_ptr_ne(signal(SIGTERM, exit_with_7), SIG_ERR);
    adm_fault_arm_stop(points_before_exec[_i], 1);
    pid = wait_until_stopped(start_program());
    kill(pid, SIGTERM);
    kill(pid, SIGCONT);
    ck_assert_int_eq(end_of(pid), -SIGTERM);
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

/* It may live longer than any Timeout. No child died, so no permit was reclaimed. */
TEST(an_abandoned_permit_is_held_until_its_program_ends)
{
    pid_t program = admit_and_run();

    adm_ticket_abandon(&ticket, false, adm_now());
    adm_round(child, adm_now() + 86400 * ADM_USEC_PER_SEC, true);
    ck_assert_uint_eq(orphans_in(zone), 1);
    end_program();
    ck_assert_int_eq(end_of(program), 0);
    adm_round(child, adm_now(), true);
    ck_assert_uint_eq(orphans_in(zone), 0);
    ck_assert_uint_eq(stats_of(child, zone).figures.reclaimed, 0);
}

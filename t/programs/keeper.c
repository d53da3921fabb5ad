/* keeper.c - starts httpd, ends it with whoever wanted it, and buries its orphans.
 *
 * keeper DESCRIPTOR DIRECTORY PROGRAM ARGUMENT...
 *
 * mod_cgid waits until a program is buried. Where the daemon that started it is
 * dead, init has to do that: in a container it may take seconds, or never do it.
 *
 * PROGRAM leads a process group of its own. Its pid is written to DESCRIPTOR, as a
 * line; the end of the file there is its end. When whoever started the keeper dies,
 * PROGRAM is told to end, some seconds later its group is made to, and DIRECTORY, unless
 * it is empty, is removed. The keeper itself ends when nobody is left to be buried.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_START 127
#define PATIENCE_SEC 3

static volatile pid_t program;
static volatile sig_atomic_t is_orphan;

static void end_program(int signal)
{
    is_orphan = 1;
    if (signal == SIGTERM) {
        kill(program, SIGTERM);
        alarm(PATIENCE_SEC);
    }
    else {
        kill(-program, SIGKILL);
    }
}

static int fails(const char *what)
{
    perror(what);
    return CANNOT_START;
}

static int start(char **command)
{
    /* Its father does the same: whoever of the two is first. */
    signal(SIGTERM, SIG_DFL);
    setpgid(0, 0);
    execvp(command[0], command);
    return fails(command[0]);
}

int main(int argc, char **argv)
{
    int fd = argc > 3 ? atoi(argv[1]) : -1;
    pid_t ended;

    if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        return fails("keeper DESCRIPTOR DIRECTORY PROGRAM ARGUMENT...");
    }
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        return fails("PR_SET_CHILD_SUBREAPER");
    }
    program = fork();
    if (program == 0) {
        _exit(start(argv + 3));
    }
    if (program < 0) {
        return fails("fork");
    }
    setpgid(program, program);
    /* Of a terminal they come to all: whoever started us says what becomes of it. */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, end_program);
    signal(SIGALRM, end_program);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    /* No reader is left: the parent died before it could be watched. */
    if (dprintf(fd, "%ld\n", (long)program) < 0) {
        end_program(SIGTERM);
    }

    while ((ended = waitpid(-1, NULL, 0)) > 0 || errno == EINTR) {
        if (ended == program) {
            close(fd);
        }
    }
    return is_orphan && argv[2][0] != '\0' ? execlp("rm", "rm", "-rf", "--", argv[2], NULL) : 0;
}

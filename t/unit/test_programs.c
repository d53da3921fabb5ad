/* test_programs.c - programs that a test starts, and the request that starts them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test_programs.h"

adm_ticket_t ticket;

/* The other end of each program's standard input. */
static int life_line[2];

void make_life_line(void)
{
    ck_assert_int_eq(pipe2(life_line, O_CLOEXEC), 0);
}

void end_program(void)
{
    close(life_line[1]);
}

void become_cat(char *const environment[])
{
    char *const arguments[] = { "cat", NULL };

    dup2(life_line[0], 0);
    execve("/bin/cat", arguments, environment);
    _exit(99);
}

static char *const nothing[] = { "PATH=/usr/bin:/bin", NULL };

pid_t start_program(void)
{
    pid_t pid;

    adm_program_announce(&ticket, ADM_START_HERE);
    pid = fork();
    if (pid == 0) {
        become_cat(nothing);
    }
    return pid;
}

char state_of(pid_t pid, char name[17])
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

bool is_cat(pid_t pid)
{
    char name[17], state = state_of(pid, name);

    return strcmp(name, "cat") == 0 && state != 'Z';
}

void make_zone(void)
{
    make_life_line();
    stage(1, 10);
}

pid_t noted(const adm_ticket_t *ticket)
{
    return (pid_t)adm_program_pid(atomic_load(&rec_of_ticket(ticket)->program));
}

void see_program_end(pid_t program)
{
    end_program();
    WAIT_FOR(!is_cat(program));
}

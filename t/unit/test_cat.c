/* test_cat.c - programs that live as long as a test wants. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test_cat.h"

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

pid_t start_program(adm_ticket_t *ticket)
{
    pid_t pid;

    adm_program_announce(ticket, ADM_START_HERE);
    pid = fork();
    if (pid == 0) {
        become_cat(nothing);
    }
    return pid;
}

pid_t start_with_token(const char *token)
{
    char **environment = calloc(4, sizeof(*environment));
    char *variable = malloc(ADM_TOKEN_LENGTH + 32);
    pid_t pid;

    snprintf(variable, ADM_TOKEN_LENGTH + 32, ADM_TOKEN_VARIABLE "=%s", token);
    environment[0] = "PATH=/usr/bin:/bin";
    environment[1] = "=of no name"; /* .htaccess may have it */
    environment[2] = variable;
    pid = fork();
    if (pid == 0) {
        become_cat(environment);
    }
    free(variable);
    free(environment);
    return pid;
}

/* "cat S" while it runs, "cat Z" when it ended; "" without such a process. */
static void look_at(pid_t pid, char seen[32])
{
    char path[64], name[17], state;
    FILE *file;

    seen[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%*d (%16[^)]) %c", name, &state) == 2) {
            snprintf(seen, 32, "%s %c", name, state);
        }
        fclose(file);
    }
}

bool is_cat(pid_t pid)
{
    char seen[32];

    look_at(pid, seen);
    return strncmp(seen, "cat ", 4) == 0 && seen[4] != 'Z';
}

bool looks_like_zombie(pid_t pid)
{
    char seen[32];
    size_t length;

    look_at(pid, seen);
    length = strlen(seen);
    return length > 0 && seen[length - 1] == 'Z';
}

static void *stay_in_thread(void *nothing)
{
    stay();
    return nothing;
}

void leave_to_a_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, stay_in_thread, NULL) != 0) {
        _exit(1);
    }
    syscall(SYS_exit, 0);
}

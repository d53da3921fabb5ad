/* agent_file.h - files of the system that are read over and over.
 * Called by agent_group, agent_sense and agent_programs.
 *
 * They stay open: to open one costs more than to read it, and may fail when
 * memory is short. None of this allocates.
 */
#ifndef AGENT_FILE_H
#define AGENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A longer text is cut. */
#define AGENT_FILE_ROOM 65536

typedef struct agent_file_t {
    int fd; /* -1: it cannot be read */
} agent_file_t;

/** Open a file for reading. @a root stands in front of the path: "" is the
 *  system's. @return whether it can be read. */
bool agent_file_open(agent_file_t *file, const char *root, const char *path);

void agent_file_close(agent_file_t *file);

/** Read it from its beginning. @return its text, until the next call; "" if it
 *  cannot be read. */
const char *agent_file_text(const agent_file_t *file);

/** The same of a file of one or two short lines, which the system gives at once: one
 *  system call. */
const char *agent_file_line(const agent_file_t *file);

/** @return whether @a text has a line that begins with @a key and a number, which
 *  is then in @a number. A colon and spaces may stand between. */
bool agent_file_number(const char *text, const char *key, uint64_t *number);

/** @return the number that is all of the file, or begins it; @a otherwise if it
 *  begins with no digit. */
uint64_t agent_file_whole(const agent_file_t *file, uint64_t otherwise);

#endif

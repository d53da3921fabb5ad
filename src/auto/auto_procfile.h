/* agent_file.h - system files that are read repeatedly.
 * Called by agent_group, agent_sense and agent_programs.
 *
 * The files stay open: opening one costs more than reading it, and can fail
 * when memory is short. No function allocates memory. One thread only: the text
 * is in a static buffer.
 */
#ifndef AGENT_FILE_H
#define AGENT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Size of the buffer; longer texts are truncated. */
#define AGENT_FILE_ROOM 65536

typedef struct agent_file_t {
    int fd; /* -1: cannot be read */
} agent_file_t;

/** Open a file for reading. @param root  prefix of the path; "" except in
 *  tests. @return whether it can be read. */
bool agent_file_open(agent_file_t *file, const char *root, const char *path);

void agent_file_close(agent_file_t *file);

/** Read the file from the start. @return its text, valid until the next call;
 *  "" if it cannot be read. */
const char *agent_file_text(const agent_file_t *file);

/** As agent_file_text(), with one system call, for a file of one or two short
 *  lines. */
const char *agent_file_line(const agent_file_t *file);

/** Find a line that starts with @a key and a number, optionally with a colon
 *  and spaces between them. @return whether there is one; @a number is filled
 *  then. */
bool agent_file_number(const char *text, const char *key, uint64_t *number);

/** @return the number at the start of the file; @a otherwise if there is
 *  none. */
uint64_t agent_file_leading_number(const agent_file_t *file,
                                   uint64_t otherwise);

#endif

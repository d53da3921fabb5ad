/* auto_procfile.h - system files that are read repeatedly.
 * Called by auto_group, auto_sense and auto_programs.
 *
 * The files stay open: opening one costs more than reading it, and can fail
 * when memory is short. No function allocates memory. One thread only: the text
 * is in a static buffer.
 */
#ifndef AUTO_PROCFILE_H
#define AUTO_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Size of the buffer; longer texts are truncated. */
#define AUTO_PROCFILE_ROOM 65536

typedef struct auto_procfile_t {
    int fd; /* -1: cannot be read */
} auto_procfile_t;

/** Open a file for reading. @param root  prefix of the path; "" except in
 *  tests. @return whether it can be read. */
bool auto_procfile_open(auto_procfile_t *file, const char *root,
                        const char *path);

void auto_procfile_close(auto_procfile_t *file);

/** Read the file from the start. @return its text, valid until the next call;
 *  "" if it cannot be read. */
const char *auto_procfile_text(const auto_procfile_t *file);

/** As auto_procfile_text(), with one system call, for a file of one or two short
 *  lines. */
const char *auto_procfile_line(const auto_procfile_t *file);

/** Find a line that starts with @a key and a number, optionally with a colon
 *  and spaces between them. @return whether there is one; @a number is filled
 *  then. */
bool auto_procfile_number(const char *text, const char *key, uint64_t *number);

/** @return the number at the start of the file; @a otherwise if there is
 *  none. */
uint64_t auto_procfile_leading_number(const auto_procfile_t *file,
                                      uint64_t otherwise);

#endif

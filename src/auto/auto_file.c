/* auto_file.c - the state file of automatic limits. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auto_file.h"
#include "core/adm_number.h"

/* "zone CHECK LIMIT NEED LARGEST AT MEMORY CORES NAME" */
#define WORD "zone "
#define CHECK_DIGITS 16

/* Maximum age of a line: load and programs change. */
#define KEPT_SEC (7 * 24 * 3600)
#define CLOCKS_DIFFER_SEC 60

/* FNV-1a: detects truncated and edited lines. Not against forgery: a forger
 * could compute it, too. */
static uint64_t check_of(const char *text, size_t length)
{
    uint64_t check = UINT64_C(0xcbf29ce484222325);

    while (length-- > 0) {
        check = (check ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
    }
    return check;
}

void auto_file_read(int fd, char *text)
{
    size_t length = 0;
    ssize_t got = 1;

    while (fd >= 0 && got > 0 && length < AUTO_FILE_ROOM - 1) {
        got = pread(fd, text + length, AUTO_FILE_ROOM - 1 - length,
                    (off_t)length);
        length += got > 0 ? (size_t)got : 0;
    }
    /* A file that does not end here is too large to be ours. */
    text[got == 0 ? length : 0] = '\0';
}

/* Read a number up to @a most and a space, and move @a text behind them.
 * @return whether they were there. */
static bool take_number(const char **text, uint64_t most, uint64_t *number)
{
    char *rest;

    errno = 0;
    if (!adm_is_digit(**text)) {
        return false;
    }
    *number = strtoull(*text, &rest, 10);
    if (errno != 0 || *number > most || *rest != ' ') {
        return false;
    }
    *text = rest + 1;
    return true;
}

/* Read a line without its newline. @return whether it is valid and of this zone. */
static bool read_line(const char *line, size_t length, const char *name,
                      auto_saved_t *kept)
{
    const char *end = line + length;
    const char *fields = line + sizeof(WORD) - 1 + CHECK_DIGITS + 1;
    uint64_t numbers[6];
    static const uint64_t most[6] = { UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                      INT64_MAX,  UINT64_MAX, UINT32_MAX };
    char *rest;
    int n;

    if (length < sizeof(WORD) + CHECK_DIGITS || fields >= end
        || strncmp(line, WORD, sizeof(WORD) - 1) != 0
        || strtoull(line + sizeof(WORD) - 1, &rest, 16)
               != check_of(fields, (size_t)(end - fields))
        || rest != fields - 1) {
        return false;
    }
    for (n = 0; n < 6; n++) {
        if (!take_number(&fields, most[n], &numbers[n]) || fields > end) {
            return false;
        }
    }
    *kept = (auto_saved_t){ (uint32_t)numbers[0], (uint32_t)numbers[1],
                            (uint32_t)numbers[2], (int64_t)numbers[3],
                            numbers[4],           (uint32_t)numbers[5] };
    return strlen(name) == (size_t)(end - fields)
           && memcmp(fields, name, (size_t)(end - fields)) == 0;
}

bool auto_file_find(const char *text, const char *name, auto_saved_t *kept)
{
    auto_saved_t found;
    bool is_found = false;

    while (*text) {
        size_t length = strcspn(text, "\n");

        /* A last line without a newline is incomplete. */
        if (text[length] == '\n' && read_line(text, length, name, &found)) {
            *kept = found;
            is_found = true;
        }
        text += length + (text[length] == '\n');
    }
    return is_found;
}

bool auto_file_discard_useless(auto_saved_t *kept, int64_t now,
                               uint64_t memory_kb, uint32_t cores)
{
    if (kept->at - CLOCKS_DIFFER_SEC > now || now - kept->at > KEPT_SEC) {
        return false;
    }
    if (kept->memory_kb != memory_kb || kept->cores != cores) {
        kept->limit = 0;
    }
    if (kept->need_kb > memory_kb || kept->largest_kb > memory_kb) {
        kept->need_kb = kept->largest_kb = 0;
    }
    return kept->limit > 0 || kept->need_kb > 0;
}

size_t auto_file_line(char line[AUTO_FILE_LINE], const char *name,
                      const auto_saved_t *kept)
{
    char fields[AUTO_FILE_LINE];
    int length = snprintf(fields, sizeof(fields),
                          "%u %u %u %" PRId64 " %" PRIu64 " %u %s", kept->limit,
                          kept->need_kb, kept->largest_kb, kept->at,
                          kept->memory_kb, kept->cores, name);

    if (length <= 0 || (size_t)length + 32 > AUTO_FILE_LINE
        || strchr(name, '\n')) {
        return 0;
    }
    length = snprintf(line, AUTO_FILE_LINE, WORD "%016" PRIx64 " %s\n",
                      check_of(fields, (size_t)length), fields);
    return (size_t)length;
}

bool auto_file_write(int fd, const char *text, size_t length)
{
    size_t written = 0;
    ssize_t put;

    while (written < length) {
        put = pwrite(fd, text + written, length - written, (off_t)written);
        if (put <= 0 && errno != EINTR) {
            return false;
        }
        written += put > 0 ? (size_t)put : 0;
    }
    return ftruncate(fd, (off_t)length) == 0;
}

/* auto_file.c - the state file of automatic limits. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auto_file.h"

/* "zone CHECK LIMIT NEED LARGEST AT MEMORY CORES NAME" */
#define WORD "zone "

/* Maximum age of a line: load and programs change. */
#define KEPT_SEC (7 * 24 * 3600)
#define CLOCKS_DIFFER_SEC 60

/* FNV-1a: detects truncated and edited lines, but no forgery. */
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
    /* If the file does not end here, this module has not written it. */
    text[got == 0 ? length : 0] = '\0';
}

/* Read a line with its newline. @return whether it is of this zone, and exactly as
 * auto_file_line() writes it. */
static bool read_line(const char *line, size_t length, const char *name,
                      auto_saved_t *kept)
{
    char copy[AUTO_FILE_LINE], ours[AUTO_FILE_LINE];
    size_t end = strlen(name) + 1;

    /* Fast check first, because most lines are of other zones. */
    if (length >= sizeof(copy) || length < end
        || memcmp(line + length - end, name, end - 1) != 0) {
        return false;
    }
    memcpy(copy, line, length);
    copy[length] = '\0';
    /* NOLINTNEXTLINE(cert-err34-c): a number out of range is written otherwise. */
    return sscanf(copy, WORD "%*s %u %u %u %" SCNd64 " %" SCNu64 " %u",
                  &kept->limit, &kept->need_kb, &kept->largest_kb, &kept->at,
                  &kept->memory_kb, &kept->cores)
               == 6
           && kept->at >= 0 && auto_file_line(ours, name, kept) == length
           && memcmp(ours, line, length) == 0;
}

bool auto_file_find(const char *text, const char *name, auto_saved_t *kept)
{
    auto_saved_t found;
    bool is_found = false;

    while (*text) {
        size_t length = strcspn(text, "\n");

        /* A last line without a newline is incomplete. */
        if (text[length] == '\n' && read_line(text, length + 1, name, &found)) {
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

/* auto_procfile.c - system files that are read repeatedly. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auto_procfile.h"
#include "core/adm_number.h"

/* Shared by all files: the agent has one thread. */
static char text[AUTO_PROCFILE_ROOM];

bool auto_procfile_open(auto_procfile_t *file, const char *root,
                        const char *path)
{
    char whole[PATH_MAX];
    int length = snprintf(whole, sizeof(whole), "%s%s", root, path);

    file->fd = length > 0 && (size_t)length < sizeof(whole)
                   ? open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY)
                   : -1;
    return file->fd >= 0;
}

void auto_procfile_close(auto_procfile_t *file)
{
    if (file->fd >= 0) {
        close(file->fd);
    }
    file->fd = -1;
}

/* Append to the first @a length bytes of the text. @return the new length. */
static size_t read_on(const auto_procfile_t *file, size_t length)
{
    ssize_t got;

    do {
        got = pread(file->fd, text + length, sizeof(text) - 1 - length,
                    (off_t)length);
    } while (got < 0 && errno == EINTR);
    return got > 0 ? length + (size_t)got : length;
}

const char *auto_procfile_text(const auto_procfile_t *file)
{
    size_t length = 0, before;

    if (file->fd >= 0) {
        do {
            before = length;
            length = read_on(file, before);
        } while (length > before && length < sizeof(text) - 1);
    }
    text[length] = '\0';
    return text;
}

const char *auto_procfile_line(const auto_procfile_t *file)
{
    text[file->fd >= 0 ? read_on(file, 0) : 0] = '\0';
    return text;
}

bool auto_procfile_number(const char *from, const char *key, uint64_t *number)
{
    size_t length = strlen(key);
    const char *line = from;

    while (line && *line) {
        if (strncmp(line, key, length) == 0) {
            const char *value = line + length;

            value += strspn(value, ": \t");
            if (value > line + length && adm_is_digit(*value)) {
                *number = strtoull(value, NULL, 10);
                return true;
            }
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

uint64_t auto_procfile_leading_number(const auto_procfile_t *file,
                                      uint64_t otherwise)
{
    const char *whole = auto_procfile_line(file);

    return adm_is_digit(*whole) ? strtoull(whole, NULL, 10) : otherwise;
}

/* auto_file.h - the state file, which preserves automatic limits across stop and
 * start. Called by auto_duty.
 *
 * One line per zone, with a checksum. The file can contain anything: invalid lines are
 * ignored.
 */
#ifndef AUTO_FILE_H
#define AUTO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A zone's line. */
typedef struct auto_saved_t {
    uint32_t limit;      /* 0: unknown */
    uint32_t need_kb;    /* of the next program; 0: unknown */
    uint32_t largest_kb; /* of the largest program */
    int64_t at;          /* seconds since 1970 */
    /* Machine on which these were measured. */
    uint64_t memory_kb;
    uint32_t cores;
} auto_saved_t;

/** Size of the buffer for the file; a larger file counts as empty. */
#define AUTO_FILE_ROOM (1 << 20)

/** Maximum length of a line; a zone whose name is too long gets none. */
#define AUTO_FILE_LINE 1024

/** Read the file into @a text of AUTO_FILE_ROOM bytes; "" on failure. */
void auto_file_read(int fd, char *text);

/** @return whether the text has a valid line of this zone; the last one applies. */
bool auto_file_find(const char *text, const char *name, auto_saved_t *kept);

/** Discard what cannot be used on this machine: the limit, if memory or cores differ; the
 *  sizes, if they exceed the memory. @a now: seconds since 1970.
 *  @return whether anything can be used; false, with nothing discarded, if the line is
 *  older than a week or from the future. */
bool auto_file_discard_useless(auto_saved_t *kept, int64_t now,
                               uint64_t memory_kb, uint32_t cores);

/** Write a zone's line, with its newline. @return its length; 0: it would be too long. */
size_t auto_file_line(char line[AUTO_FILE_LINE], const char *name,
                      const auto_saved_t *kept);

/** Replace the file's content. Blocks for the disk. @return whether it worked. */
bool auto_file_write(int fd, const char *text, size_t length);

#endif

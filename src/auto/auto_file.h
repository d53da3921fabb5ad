/* auto_file.h - the state file, which preserves automatic limits across stop and
 * start. Called by auto_duty.
 *
 * One line per zone, with a checksum. The file can contain anything: invalid lines are
 * ignored.
 */
#ifndef AGENT_STATE_H
#define AGENT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A zone's line. */
typedef struct agent_saved_t {
    uint32_t limit;      /* 0: unknown */
    uint32_t need_kb;    /* of the next program; 0: unknown */
    uint32_t largest_kb; /* of the largest program */
    int64_t at;          /* seconds since 1970 */
    /* Machine on which these were measured. */
    uint64_t memory_kb;
    uint32_t cores;
} agent_saved_t;

/** Size of the buffer for the file; a larger file counts as empty. */
#define AGENT_STATE_ROOM (1 << 20)

/** Maximum length of a line; a zone whose name is too long gets none. */
#define AGENT_STATE_LINE 1024

/** Read the file into @a text of AGENT_STATE_ROOM bytes; "" on failure. */
void agent_state_read(int fd, char *text);

/** @return whether the text has a valid line of this zone; the last one applies. */
bool agent_state_find(const char *text, const char *name, agent_saved_t *kept);

/** Discard what cannot be used on this machine: everything, if the line is older than a
 *  week or from the future; the limit, if memory or cores differ; the sizes, if they
 *  exceed the memory. @a now: seconds since 1970.
 *  @return whether anything is left. */
bool agent_state_discard_useless(agent_saved_t *kept, int64_t now,
                                 uint64_t memory_kb, uint32_t cores);

/** Write a zone's line, with its newline. @return its length; 0: it would be too long. */
size_t agent_state_line(char line[AGENT_STATE_LINE], const char *name,
                        const agent_saved_t *kept);

/** Replace the file's content. Blocks for the disk. @return whether it worked. */
bool agent_state_write(int fd, const char *text, size_t length);

#endif

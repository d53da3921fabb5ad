/* auto_state.h - what is kept of zones over stop and start, in a file.
 * Called by auto_duty.
 *
 * A line a zone, each with a checksum: one that was written half, or is of
 * somebody else, is left out. The file may contain anything.
 */
#ifndef AGENT_STATE_H
#define AGENT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is kept of a zone. */
typedef struct agent_kept_t {
    uint32_t limit; /* 0: none was found */
    uint32_t need_kb;
    uint32_t largest_kb;
    int64_t at; /* seconds since 1970 */
    /* Of the machine it was found on. */
    uint64_t memory_kb;
    uint32_t cores;
} agent_kept_t;

/** A larger file is not read. */
#define AGENT_STATE_ROOM (1 << 20)

/** No line is longer; the name of a zone that is too long is not kept. */
#define AGENT_STATE_LINE 1024

/** Read the file into @a text, of AGENT_STATE_ROOM bytes; "" if it cannot be. */
void agent_state_read(int fd, char *text);

/** @return whether the text has a line of this zone; the last one counts. */
bool agent_state_find(const char *text, const char *name, agent_kept_t *kept);

/** Take out of @a kept what is not true here: of another machine that is the limit, of
 *  a time long ago or to come all of it, and what programs need if that is more than
 *  the memory here. @a now: seconds since 1970.
 *  @return whether anything is left. */
bool agent_state_is_of_use(agent_kept_t *kept, int64_t now, uint64_t memory_kb,
                           uint32_t cores);

/** Write the line of a zone into @a line. @return its length; 0: it is too long. */
size_t agent_state_line(char line[AGENT_STATE_LINE], const char *name,
                        const agent_kept_t *kept);

/** Replace what is in the file. @return whether it could be. */
bool agent_state_write(int fd, const char *text, size_t length);

#endif

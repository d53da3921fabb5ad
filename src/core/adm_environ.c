/* adm_environ.c - the environment that a program is about to get.
 * Called by adm_program. Knows nothing of the segment.
 *
 * mod_cgid's daemon is told the environment of a program by the child that asks
 * for it, and passes it to apr_proc_create(). No hook and no argument of a fork
 * handler shows it. But it is needed after the fork, for execve(): so while
 * fork() runs it is in the frame of its caller, or in a register that a frame
 * further down has saved. The frames are searched for it, as a garbage collector
 * searches them for what is still in use. What is found is certain: all of it is
 * an environment, with an entry that begins with a secret. Whether it is found
 * is tried when httpd starts.
 */
#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "adm_environ.h"

#define SEARCHED_BYTES 2048 /* fork() and its caller take less than 1,000 */
#define PLACES (SEARCHED_BYTES / sizeof(char **))
#define MOST_ENTRIES 10000
#define PAGE_BYTES 4096 /* no system has smaller ones */

/* What this search has asked about: the same pages come again and again, of code
 * and of text as well. */
#define PAGES_KNOWN 64

typedef struct pages_t {
    uintptr_t page[PAGES_KNOWN];
    bool is_readable[PAGES_KNOWN];
    unsigned asked;
} pages_t;

/* The kernel reads a signal mask from there, then refuses to use it. */
static bool ask_kernel(uintptr_t page)
{
    return syscall(SYS_rt_sigprocmask, ~0, page, NULL, 8) != 0
           && errno == EINVAL;
}

static bool is_page_readable(pages_t *pages, uintptr_t address)
{
    uintptr_t page = address / PAGE_BYTES * PAGE_BYTES;
    unsigned n;

    for (n = 0; n < PAGES_KNOWN && pages->page[n] != page; n++) {
    }
    if (n == PAGES_KNOWN) {
        n = pages->asked++ % PAGES_KNOWN;
        pages->page[n] = page;
        pages->is_readable[n] = ask_kernel(page);
    }
    return pages->is_readable[n];
}

/* @return whether all bytes of the object can be read; it is no bigger than a
 * page. */
static bool is_readable(pages_t *pages, const void *from, size_t length)
{
    uintptr_t first = (uintptr_t)from;
    uintptr_t last = first + length - 1;

    return last >= first && is_page_readable(pages, first)
           && (last / PAGE_BYTES == first / PAGE_BYTES
               || is_page_readable(pages, last));
}

/* What is looked at belongs to others, and may be theirs no longer. */
#define UNCHECKED __attribute__((noinline, no_sanitize("address")))

/* @return whether this begins as "NAME=" does, in the letters of httpd's. No name is
 * one, too: RewriteRule sets such a variable with [E=:VALUE]. */
UNCHECKED static bool is_variable(pages_t *pages, const char *text)
{
    const char *c = text;

    while (is_readable(pages, c, 1)
           && (isalnum((unsigned char)*c) || *c == '_')) {
        c++;
    }
    return is_readable(pages, c, 1) && *c == '=';
}

UNCHECKED static bool begins_so(pages_t *pages, const char *text,
                                const char *beginning)
{
    while (*beginning && is_readable(pages, text, 1) && *text == *beginning) {
        text++;
        beginning++;
    }
    return *beginning == '\0';
}

/* @return the entry's place, if this is an environment that has it: variables
 * from the first to the last, and a NULL. */
UNCHECKED static char **search_array(pages_t *pages, char **array,
                                     const char *beginning)
{
    char **found = NULL;
    unsigned n;

    for (n = 0; n < MOST_ENTRIES; n++) {
        if (!is_readable(pages, &array[n], sizeof(*array))) {
            return NULL;
        }
        if (!array[n]) {
            return found;
        }
        if (!is_variable(pages, array[n])) {
            return NULL;
        }
        if (!found && begins_so(pages, array[n], beginning)) {
            found = &array[n];
        }
    }
    return NULL;
}

/* In the frames, from the caller's on: where the environment lay last. Whoever
 * starts programs starts all in the same way, and the trial does as well. */
static atomic_uint last_place;

/* @return the entry's place, if this one leads to an environment that has it.
 * What lies in the frames themselves is none: httpd's are in a pool. */
UNCHECKED static char **search_place(pages_t *pages, char **volatile *from,
                                     unsigned place, const char *beginning)
{
    char **array = from[place];

    return (uintptr_t)array % sizeof(*array) == 0
                   && (uintptr_t)array >= PAGE_BYTES
                   && ((uintptr_t)array < (uintptr_t)from
                       || (uintptr_t)array >= (uintptr_t)(from + PLACES))
               ? search_array(pages, array, beginning)
               : NULL;
}

UNCHECKED static char **search_frames(const char *beginning)
{
    char **volatile *from = __builtin_frame_address(0);
    unsigned place = atomic_load(&last_place);
    pages_t pages = { 0 };
    char **entry = NULL;

    if (is_readable(&pages, (const void *)&from[place], sizeof(*from))) {
        entry = search_place(&pages, from, place, beginning);
    }
    for (place = 0;
         place < PLACES && !entry
         && is_readable(&pages, (const void *)&from[place], sizeof(*from));
         place++) {
        entry = search_place(&pages, from, place, beginning);
        if (entry) {
            atomic_store(&last_place, place);
        }
    }
    return entry;
}

__attribute__((noinline)) char **adm_environ_entry(const char *beginning)
{
    int before = errno;
    char **entry;

    __builtin_unwind_init(); /* saves all registers that callers may use */
    entry = search_frames(beginning);
    errno = before;
    return entry;
}

void adm_environ_remove(char **entry)
{
    do {
        entry[0] = entry[1];
    } while (*entry++);
}

/* adm_environ.c - find the environment of a program that is about to start.
 * Called by adm_program. Independent of the segment.
 *
 * mod_cgid's daemon gets a program's environment from the child that requests
 * the program, and passes it to apr_proc_create(). No hook and no argument of a
 * fork handler shows it. But execve() needs it after the fork, so during fork()
 * a pointer to it is in the caller's stack frame, or in a register that a
 * deeper frame has saved. These frames are searched, as a garbage collector
 * searches them for live pointers.
 *
 * A match is certain: the whole array has the form of an environment, and one
 * entry starts with a secret. Whether the search succeeds is tested when httpd
 * starts.
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
#define SLOTS (SEARCHED_BYTES / sizeof(char **))
#define MAX_ENTRIES 10000
#define PAGE_BYTES 4096 /* the smallest page size of all systems */

/* Cache of the pages checked in one search: it meets the same pages
 * repeatedly. */
#define PAGES_CACHED 64

typedef struct page_t {
    uintptr_t address; /* 0: none, and never readable */
    bool is_readable;
} page_t;

typedef struct pages_t {
    page_t cached[PAGES_CACHED];
} pages_t;

/* Whether a page is readable: the kernel reads a signal mask from it, then
 * fails with EINVAL because the operation is invalid. */
static bool ask_kernel(uintptr_t page)
{
    return syscall(SYS_rt_sigprocmask, ~0, page, NULL, 8) != 0
           && errno == EINVAL;
}

static bool is_page_readable(pages_t *pages, uintptr_t address)
{
    uintptr_t number = address / PAGE_BYTES;
    page_t *page = &pages->cached[number % PAGES_CACHED];

    if (page->address != number * PAGE_BYTES) {
        page->address = number * PAGE_BYTES;
        page->is_readable = ask_kernel(page->address);
    }
    return page->is_readable;
}

/* @return whether all bytes of the object can be read; it must not be larger
 * than a page. */
static bool is_readable(pages_t *pages, const void *from, size_t length)
{
    uintptr_t first = (uintptr_t)from;
    uintptr_t last = first + length - 1;

    return last >= first && is_page_readable(pages, first)
           && (last / PAGE_BYTES == first / PAGE_BYTES
               || is_page_readable(pages, last));
}

/* For sanitizers: the memory searched belongs to other code, and might be freed
 * already. */
#define UNCHECKED \
    __attribute__((noinline, no_sanitize("address"), no_sanitize("thread")))

/* @return whether the text starts with "NAME=", in the characters that httpd
 * permits. NAME can be empty: RewriteRule sets such a variable with
 * [E=:VALUE]. */
UNCHECKED static bool is_variable(pages_t *pages, const char *text)
{
    const char *c = text;

    while (is_readable(pages, c, 1)
           && (isalnum((unsigned char)*c) || *c == '_')) {
        c++;
    }
    return is_readable(pages, c, 1) && *c == '=';
}

UNCHECKED static bool has_prefix(pages_t *pages, const char *text,
                                 const char *prefix)
{
    while (*prefix && is_readable(pages, text, 1) && *text == *prefix) {
        text++;
        prefix++;
    }
    return *prefix == '\0';
}

/* @return the entry's address, if @a array is an environment that contains it:
 * only variables, and a NULL at the end. */
UNCHECKED static char **search_array(pages_t *pages, char **array,
                                     const char *prefix)
{
    char **found = NULL;
    unsigned n;

    for (n = 0; n < MAX_ENTRIES; n++) {
        if (!is_readable(pages, &array[n], sizeof(*array))) {
            return NULL;
        }
        if (!array[n]) {
            return found;
        }
        if (!is_variable(pages, array[n])) {
            return NULL;
        }
        if (!found && has_prefix(pages, array[n], prefix)) {
            found = &array[n];
        }
    }
    return NULL;
}

/* Index of the last match, counted from the frame. Checked first: all programs,
 * including the self-test's, are started in the same way. */
static atomic_uint last_slot;

/* @return the entry's address, if @a slot points to an environment that
 * contains it. An array inside the frames does not count: httpd's is in a
 * pool. */
UNCHECKED static char **search_slot(pages_t *pages, char **volatile *from,
                                    unsigned slot, const char *prefix)
{
    char **array = from[slot];

    return (uintptr_t)array % sizeof(*array) == 0
                   && (uintptr_t)array >= PAGE_BYTES
                   && ((uintptr_t)array < (uintptr_t)from
                       || (uintptr_t)array >= (uintptr_t)(from + SLOTS))
               ? search_array(pages, array, prefix)
               : NULL;
}

/* Search the frames above this one for the environment. @return the address of
 * the entry that starts with @a prefix; NULL: none. */
UNCHECKED static char **search_frames(const char *prefix)
{
    char **volatile *from = __builtin_frame_address(0);
    unsigned last = atomic_load(&last_slot), slot = last, n;
    pages_t pages = { 0 };
    char **entry = NULL;

    for (n = 0; n <= SLOTS && !entry; n++) {
        slot = n == 0 ? last : n - 1;
        if (is_readable(&pages, (const void *)&from[slot], sizeof(*from))) {
            entry = search_slot(&pages, from, slot, prefix);
        }
    }
    if (entry) {
        atomic_store(&last_slot, slot);
    }
    return entry;
}

__attribute__((noinline)) char **adm_environ_entry(const char *prefix)
{
    int before = errno;
    char **entry;

    /* Save all registers on the stack, where the search finds them. */
    __builtin_unwind_init();
    entry = search_frames(prefix);
    errno = before;
    return entry;
}

void adm_environ_remove(char **entry)
{
    do {
        entry[0] = entry[1];
    } while (*entry++);
}

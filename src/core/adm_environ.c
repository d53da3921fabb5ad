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
#define PLACES (SEARCHED_BYTES / sizeof(char **))
#define MOST_ENTRIES 10000
#define PAGE_BYTES 4096 /* the smallest page size of all systems */

/* Cache of the pages checked in one search: it meets the same pages
 * repeatedly. */
#define PAGES_KNOWN 64

typedef struct pages_t {
    uintptr_t page[PAGES_KNOWN];
    bool is_readable[PAGES_KNOWN];
    unsigned asked;
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

/* The memory searched belongs to other code and may already be freed. */
#define UNCHECKED __attribute__((noinline, no_sanitize("address")))

/* @return whether the text starts with "NAME=", in the characters that httpd
 * permits. NAME may be empty: RewriteRule sets such a variable with
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

UNCHECKED static bool begins_so(pages_t *pages, const char *text,
                                const char *beginning)
{
    while (*beginning && is_readable(pages, text, 1) && *text == *beginning) {
        text++;
        beginning++;
    }
    return *beginning == '\0';
}

/* @return the entry's address, if @a array is an environment that contains it:
 * only variables, and a NULL at the end. */
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

/* Index, from the frame on, where the environment was found last. Checked
 * first: every program is started in the same way, and so is the
 * self-test's. */
static atomic_uint last_place;

/* @return the entry's address, if @a place points to an environment that
 * contains it. An array inside the frames does not count: httpd's is in a
 * pool. */
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

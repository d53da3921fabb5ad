/* test_support.h - what every test of the core starts from.
 *
 * The test's own process is the httpd parent; it becomes a child as well when
 * it calls join(). Other children are real processes: they run a story and end
 * with an exit code, 0 for "went as it should". A failed ck_assert in them
 * would be lost, so they say NEED() instead.
 *
 * No test sleeps for a time: it waits for a state, with a deadline.
 */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

#include <stdio.h>
#include <sys/types.h>

#include "adm_check.h"
#include "core/adm_fault.h"
#include "core/adm_layout.h"
#include "core/adm_system.h"
#include "test_case.h"

/** Of the running test; new for each. */
extern apr_pool_t *pool;
extern adm_segment_t *segment;

/** Of its tests, for those with one zone and one child: stage() makes both. */
extern adm_zone_t zone;
extern adm_child_t *child;

/** Words that all processes of a test share; zero at its beginning. */
#define SHARED_WORDS 256
extern atomic_uint *shared;

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/** A time on the core's clock that no test reaches. */
#define NEVER (adm_now() + 3600 * ADM_USEC_PER_SEC)

/** For adm_doorbell_wait(): do not sleep. */
adm_usec_t at_once(void);

/** In a story: end it with a failure unless it is so. */
#define NEED(condition)                                                               \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "# %s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            return 1;                                                                 \
        }                                                                             \
    } while (0)

/** Wait for a state; fails the test, if it never comes. */
#define WAIT_FOR(condition)                                                \
    do {                                                                   \
        adm_usec_t give_up = deadline();                                   \
        while (!(condition)) {                                             \
            ck_assert_msg(adm_now() < give_up, "never came: " #condition); \
            pause_briefly();                                               \
        }                                                                  \
    } while (0)

/** The same in a story. */
#define NEED_SOON(condition)                          \
    do {                                              \
        adm_usec_t give_up = deadline();              \
        while (!(condition) && adm_now() < give_up) { \
            pause_briefly();                          \
        }                                             \
        NEED(condition);                              \
    } while (0)

adm_usec_t deadline(void);
void pause_briefly(void);

/** A folder of the test, which is removed at its end. */
extern char folder[];
void make_folder(void);

/** @return the path of a file in it. */
const char *path_in_folder(const char *name);

/** Write a file in it; folders on the way are made. */
void write_file(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Write the files below /proc of a process of this size. */
void write_process(uint32_t pid, int mb, int peak_mb);

/** @return how many of the whole pages from here to there are in memory. */
size_t resident_pages(const void *from, const void *to);

/** Zones that are made from now on use flows; each test begins with its own. */
extern bool uses_flows;

/** Each process enters with a key of its own, not without one. */
extern bool has_keys;

/** For a test that spoils its segment: it is not checked at the end. */
extern bool is_spoilt;

/** Have a segment of another size than the usual one (8 zones, 8 children,
 *  256 tickets). */
void make_segment(uint32_t zones, uint32_t children, uint32_t tickets);

/** Load a configuration with this zone. */
adm_zone_t zone_called(const char *name, uint32_t limit, uint32_t queue_length);

/** A zone of its own, whose requests ask for so many places in line. */
adm_zone_t zone_with(uint32_t limit, uint32_t queue_length);

/** Load a configuration that changes nothing but how many workers zones may
 *  occupy. */
void set_worker_cap(uint32_t cap);

/** Register the calling process; a story that cannot ends with a failure. */
adm_child_t *join(void);
adm_child_t *try_to_join(void); /* or NULL */

/** The zone, with these limits, and the child. */
void stage(uint32_t limit, uint32_t queue_length);

/** Ask for a permit, ready to wait. */
adm_outcome_t enter(adm_child_t *child, adm_zone_t zone, adm_ticket_t *ticket);

/* How a request enters: these take a worker while they run. */
#define RUNS ((adm_entry_t){ .worker = ADM_WORKER_ONE })
#define PARKS ((adm_entry_t){ .worker = ADM_WORKER_ONE, .wait = ADM_WAIT_PARKED })
#define BLOCKS ((adm_entry_t){ .worker = ADM_WORKER_ONE, .wait = ADM_WAIT_BLOCKED })
/* And these take none. */
#define HURRIES ((adm_entry_t){ .wait = ADM_WAIT_NEVER })
#define WAITS ((adm_entry_t){ .wait = ADM_WAIT_PARKED })

/** Ask for a permit in this way, at this time, with the places of the zone. */
adm_outcome_t enter_as(adm_child_t *child, adm_zone_t zone, adm_entry_t entry, adm_usec_t now,
                       adm_ticket_t *ticket);

/** Enter @a count times and expect the same answer each time. */
void enter_many(adm_child_t *child, adm_zone_t zone, adm_ticket_t *tickets, uint32_t count,
                adm_outcome_t expected);

/** Wait as a request with a worker does. @return ADM_WAITED; or how the wait ends, and
 *  the ticket is to be cancelled, ADM_TIMEOUT at @a until. */
adm_outcome_t wait_until(adm_ticket_t *ticket, adm_usec_t until);

void leave(adm_ticket_t *ticket);

uint32_t active_in(adm_zone_t zone);
uint32_t queued_in(adm_zone_t zone);
uint32_t orphans_in(adm_zone_t zone);
adm_zone_rec_t *rec_of_zone(adm_zone_t zone);
adm_ticket_rec_t *rec_of_ticket(const adm_ticket_t *ticket);

/** Derive the zone's queue, lists and counters from its tickets again. */
void rebuild_zone(adm_zone_t zone);

/** @return the SEED of the environment, or the usual one. Prints it. */
unsigned seed_or(unsigned usual);

/** A zone's figures. */
adm_zone_stats_t stats_of(adm_child_t *child, adm_zone_t zone);

/** In a function of n that causes the n-th damage and returns the expected complaint. */
#define DAMAGE(complaint, damage) \
    if (n-- == 0) {               \
        damage;                   \
        return complaint;         \
    }

/** Each test ends with this, by itself. */
#define assert_segment_consistent()                              \
    do {                                                         \
        const char *wrong = adm_check(segment);                  \
        ck_assert_msg(wrong == NULL, "inconsistent: %s", wrong); \
    } while (0)

/* ---- other processes ----------------------------------------------------- */

/** What a process does. @return its exit code. */
typedef int (*story_t)(void *context);

pid_t start(story_t story, void *context);

/** Wait for the end of a process. @return its exit code, or minus the signal
 *  that killed it. */
int end_of(pid_t pid);

/** Both. */
int play(story_t story, void *context);

/** Kill and wait, without a word to the segment. */
void kill_unnoticed(pid_t pid);

/** Kill, and tell the segment as the parent does. */
void kill_noticed(pid_t pid);

/** For the end of a story: stay until killed. */
int stay(void);

/** Start a story that ends so, and wait until it does. */
pid_t start_to_stay(story_t story, void *context);

/** Wait until this process has stopped at a fault point. @return the process. */
pid_t wait_until_stopped(pid_t pid);

/** A child that enters the zone so often, and stays with what it got. */
pid_t start_holder(unsigned count);

/** Start a child that has a permit. Once shared[0] is 1, it leaves, stores the grant of the
 * next request and dies before it wakes the request. */
pid_t start_to_die_in_hand_over(void);

/** Play it in so many processes at once, each of which gets its number, from 0. All
 *  have to end well. */
void play_together(unsigned count, story_t story);

#endif

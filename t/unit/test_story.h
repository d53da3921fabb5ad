/* test_story.h - a story of requests in one zone, in words.
 *
 * A semicolon ends each step. A request is a capital letter. Time passes only by the steps
 * "wait" and "clock". A duration is a number with us, ms, s, or L, which is a lease.
 *
 *   zone 1 20           the zone: limit, length of the queue; "flows" before: with keys
 *   children 2          there are two; the first is there from the beginning
 *   cap 10              zones may occupy so many workers
 *   ABC in              requests that enter and are admitted; or wait (waits, parked: and
 *                       are parked), or get an outcome: full, late, dry-full; comes: any
 *   key 1 cost 3 A in   how they enter, in this step: key, max, cost, target, queue, child,
 *                       high, low, dry; hurries, runs, parks, blocks; elsewhere: blocks a
 *                       thread that is no worker; denied, roomless: has none. "all" before:
 *                       those of later steps, too
 *   A leaves            or: begins; lost, cannot begin; parks, unparks; blocks a worker, or
 *                       cannot; ends its wait; an outcome: it is cancelled with that, or
 *                       kept, as its timeout comes after the grant
 *   A>B>C               A leaves, B has its permit, begins and leaves, ...
 *   serve 3 1s          three requests, one after the other, of a second each
 *   has AB              these hold a permit, and no others; "-": none
 *   limit 3, length 3   a load of the configuration, with this limit or queue; keys on, off
 *   order limit 3       an administrator overrides limit, queue or mode; "none": no longer
 *   wait 5s, clock 5s   look 2: child 2 checks leases; round
 *   no-room 2, room 2   child 2 can run no more requests, can again
 *   rings 2 A           the bell of child 2 tells of A, and of nothing else; "-": of nothing
 *   tells A 5s          A is told when to come again
 *   was active 0:3 9:2  the history has this, 0 and 9 seconds ago; or queued, limit, rejected
 *   active 3            and other numbers, see shown(); an outcome: so many are counted
 *   may-block 1         lacks 1, budget 4 4 3, occupies none, vacates, accepts-no-more:
 *                       see core/adm/worker.h
 */
#ifndef TEST_STORY_H
#define TEST_STORY_H

#include "test_support.h"

/** After each step the segment is consistent. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A test that is one story. */
#define STORY(name, story) \
    TEST(name)             \
    {                      \
        tell("%s", story); \
    }                      \
    struct semicolon

/** For what has no words: a request, the time, a number. */
adm_ticket_t *request(char letter);
extern adm_usec_t story_now;
uint64_t shown(const char *what);

#endif

/* test_expect.c - a request that would wait beyond its target is rejected on entry. */
#include "test_story.h"

/* Requests of a second each have ended; the target of each request is three. */
#define SECONDS "all target 3s; serve 2 1s; "
#define ONE "flows; zone 1 20; " SECONDS
#define FOUR "flows; zone 4 20; " SECONDS
#define TWENTY "BCDEFGHIJKLMNOPQRSTU"

STORY(a_new_key_is_not_late_behind_a_busy_one,
      ONE "key 9 A in; key 9 BCD waits; key 9 E late; key 1 F waits; key 2 G waits; key 3 H late");

STORY(a_key_at_its_maximum_is_late_though_permits_are_free,
      FOUR "all key 9 max 1; A in; BCD waits; E late; key 1 max 0 F in");

STORY(costs_count_as_they_are, FOUR "all cost 4; A in; BCD waits; E late");

STORY(a_high_one_is_not_late_behind_low_ones,
      ONE "low A in; low BCD waits; low E late; F waits; high GHI waits; high J late");

STORY(a_low_one_is_late_behind_high_ones, ONE "high A in; high BCD waits; low E late");

/* Permits that wait and the one that comes: 4 + 4 + 1 + 1 + 4, of 4. */
STORY(one_that_runs_alone_counts_as_the_limit,
      FOUR "A in; cost 65535 BC waits; DE waits; cost 65535 F late; tells F 500ms");

STORY(the_retry_time_depends_on_permits,
      FOUR "all target 0s cost 4; A in; " TWENTY " waits; V full; tells V 20250ms");

/* The end of the pause is unknown, so requests wait. */
STORY(no_request_is_late_while_the_zone_is_paused,
      ONE "order pause; ABCDEF waits; order open; G late");

/* ---- dry runs ------------------------------------------------------------------ */

STORY(a_dry_run_counts_no_late_request_while_the_zone_is_paused,
      ONE "order pause; dry ABCDEF dry-queued");

STORY(a_dry_run_counts_requests_that_would_wait_or_be_late,
      ONE "all dry; A in; BCD dry-queued; EF dry-late; dry-late 2; dry-wait-usec 6000000;"
          "rejected 2");

/* All of them take all permits, whatever they ask for. */
STORY(a_dry_run_counts_the_requests_of_its_queue_not_their_permits,
      "flows; zone 4 20; all dry cost 4; A in; BCDEFGHIJK dry-queued; all cost 65535;"
      "LMNOPQRSTU dry-queued; V dry-full; queued-max 20");

/* Two a second come in a dry run where one a second is served. Two of them run at
 * once, at most. */
static void come_twice_a_second(uint32_t queue_length)
{
    unsigned n;

    tell(ONE "all target 0s dry queue %u", queue_length);
    for (n = 'A'; n < 'U'; n++) {
        if (n >= 'C') {
            tell("%c leaves", n - 2);
        }
        tell("%c comes; wait 500ms", n);
    }
    tell("S leaves; wait 500ms; T leaves");
}

/* In a dry run no request waits, so the running requests do not show the queue. */
TEST(a_dry_run_lets_its_queue_grow_and_shrink)
{
    come_twice_a_second(5);
    /* Ten are served, five wait, and perhaps one begins. */
    ck_assert_uint_ge(shown("dry-full"), 4);
    ck_assert_uint_le(shown("dry-full"), 5);
    ck_assert_uint_ge(shown("dry-wait-usec"), 3 * shown("dry-queued") * ADM_USEC_PER_SEC);
    /* Once all requests that would have waited are served, the queue is empty. */
    tell("queued-max 5; wait 1s; A dry-queued; A leaves; wait 6s; A in");
}

/* A request that would have been rejected runs, and causes no other rejection. */
TEST(a_dry_run_without_a_queue_rejects_every_other_one)
{
    come_twice_a_second(0);
    tell("dry-full 10");
}

/* ---- what holds whatever the numbers -------------------------------------------- */

/* A request that is not late waits no longer than its target, if requests take as long as those
 * before. test_properties.c has when a request is late. */
TESTS(no_request_waits_beyond_the_target, 1, 6)
{
    const unsigned limit = (unsigned)_i, service = 400 * limit;
    adm_usec_t entered[26];
    unsigned n, let_in = 0, served = limit;

    tell("flows; zone %u 20; all target 1500ms; serve 3 %ums; wait 10s", limit, service);
    for (n = 0; n < 26; n++) {
        tell("%c comes", 'A' + n);
        if (!atomic_load(&request('A' + n)->held)) {
            break;
        }
        let_in++;
        entered[n] = story_now;
    }
    ck_assert_uint_gt(let_in, limit);
    /* Those that run end one after the other, evenly. */
    for (n = 0; n < let_in; n++) {
        tell("wait %ums; %c leaves", service / limit, 'A' + n);
        for (; served < let_in && adm_ticket_is_granted(request('A' + served)); served++) {
            ck_assert_int_le(story_now - entered[served], 1500000);
        }
    }
    ck_assert_uint_eq(served, let_in);
}

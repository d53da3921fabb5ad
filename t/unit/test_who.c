/* test_who.c - which requests run and wait. */
#include <string.h>
#include <unistd.h>

#include "core/adm_proc.h"
#include "test_support.h"

static adm_present_t present[ADM_PRESENT_MAX];

static void come(adm_ticket_t *ticket, const char *uri)
{
    adm_who_t who = { .client = "192.0.2.7", .method = "GET", .host = "www.example.org" };

    snprintf(who.uri, sizeof(who.uri), "%s", uri);
    enter(child, zone, ticket);
    adm_who_note(ticket, &who);
}

static uint32_t calls; /* until all were listed */

/* All that are there; what is present is what the last call has found. */
static uint32_t list(adm_usec_t now)
{
    uint32_t cursor = 0, count, all = 0;

    for (calls = 1;; calls++) {
        ck_assert_int_eq(adm_who_list(child, zone, now, &cursor, present, &count), APR_SUCCESS);
        ck_assert_uint_le(count, ADM_PRESENT_MAX);
        all += count;
        if (!count) {
            return all;
        }
    }
}

TEST(running_and_waiting_requests_are_listed)
{
    adm_ticket_t first, second;
    adm_usec_t later;
    adm_zone_t here;

    stage(1, 100);
    come(&first, "/first");
    come(&second, "/second");
    later = adm_now() + 5 * ADM_USEC_PER_SEC;
    ck_assert_uint_eq(list(later), 2);
    ck_assert(present[0].is_known && present[0].runs);
    ck_assert_str_eq(present[0].who.uri, "/first");
    ck_assert_str_eq(present[0].who.client, "192.0.2.7");
    ck_assert_str_eq(present[0].who.method, "GET");
    ck_assert_str_eq(present[0].who.host, "www.example.org");
    ck_assert_int_ge(present[0].age_usec, 5 * ADM_USEC_PER_SEC);
    ck_assert_int_lt(present[0].age_usec, 60 * ADM_USEC_PER_SEC);
    ck_assert(present[1].is_known && !present[1].runs);
    ck_assert_str_eq(present[1].who.uri, "/second");
    here = zone;
    zone = zone_with(1, 100); /* another zone does not show them */
    ck_assert_uint_eq(list(later), 0);
    zone = here;
    leave(&first);
    leave(&second);
    ck_assert_uint_eq(list(later), 0);
}

TEST(a_request_shows_no_description_of_another)
{
    adm_ticket_t ticket;

    stage(1, 100);
    come(&ticket, "/first");
    leave(&ticket);
    enter(child, zone, &ticket);
    ck_assert_uint_eq(list(adm_now()), 1);
    ck_assert(!present[0].is_known);
}

/* The first arrival is 0. */
TEST(a_description_that_is_being_written_is_not_shown)
{
    adm_ticket_t ticket;

    stage(1, 100);
    come(&ticket, "/first");
    atomic_store(&adm_who_at(segment, ticket.idx)->mark, 0);
    ck_assert_uint_eq(list(adm_now()), 1);
    ck_assert(!present[0].is_known);
}

TEST(more_than_a_chunk_of_them_come_in_parts)
{
    static adm_ticket_t tickets[100];
    uint32_t i;

    stage(2, 100);
    for (i = 0; i < 100; i++) {
        come(&tickets[i], "/many");
    }
    ck_assert_uint_eq(list(adm_now()), 100);
    ck_assert_uint_eq(calls, 3);
}

TEST(a_text_without_an_end_is_ended)
{
    adm_ticket_t ticket;
    adm_who_t who;

    stage(1, 100);
    come(&ticket, "/first");
    memset(&who, 'x', sizeof(who));
    adm_who_note(&ticket, &who);
    ck_assert_uint_eq(list(adm_now()), 1);
    ck_assert_uint_eq(strlen(present[0].who.uri), sizeof(who.uri) - 1);
    ck_assert_uint_eq(strlen(present[0].who.client), sizeof(who.client) - 1);
    ck_assert_uint_eq(strlen(present[0].who.host), sizeof(who.host) - 1);
    ck_assert_uint_eq(strlen(present[0].who.method), sizeof(who.method) - 1);
}

TEST(a_process_uses_memory_and_time)
{
    adm_usec_t seen = adm_clock_since_boot();
    adm_proc_usage_t usage;

    ck_assert(adm_proc_current_usage("", getpid(), seen, &usage));
    ck_assert_uint_gt(usage.size_kb, 100);
    ck_assert_uint_lt(usage.processor_usec, 600 * ADM_USEC_PER_SEC);
    /* Another one under the pid of one that was there when the system started. */
    ck_assert(!adm_proc_current_usage("", getpid(), 1, &usage));
    ck_assert(!adm_proc_current_usage("", 0, seen, &usage));
}

/* Of the two virtual hosts 1 and 2. */
TEST(a_request_waiting_for_a_local_program_is_known)
{
    adm_ticket_t first, second, waiter;

    stage(2, 100);
    ck_assert(!adm_who_all_sent(child, zone, 2, adm_now()));
    come(&first, "/first");
    come(&second, "/second");
    come(&waiter, "/waiter");
    adm_who_note_sent(&first, 1);
    ck_assert(!adm_who_all_sent(child, zone, 2, adm_now()));
    adm_who_note_sent(&second, 1);
    ck_assert(adm_who_all_sent(child, zone, 2, adm_now()));
    ck_assert(!adm_who_all_sent(child, zone, 1, adm_now()));
    leave(&second); /* the waiter has the permit now, and was sent nowhere */
    ck_assert(!adm_who_all_sent(child, zone, 2, adm_now()));
    leave(&waiter);
    ck_assert(adm_who_all_sent(child, zone, 2, adm_now()));
    leave(&first);
    come(&first, "/next"); /* in the place of the one before */
    ck_assert(!adm_who_all_sent(child, zone, 2, adm_now()));
    leave(&first);
}

/* test_agent_zones.c - several automatic limits share the memory, and one is tried at a time.
 *
 * The machine is files below a new directory, the clock is the test's.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auto/auto_shm.h"
#include "auto/auto_duty.h"
#include "auto/auto_file.h"
#include "auto/law_tune.h"
#include "test_support.h"

enum { ZONES = 2, CLIENTS = 30, MB = 1024, MEMORY_MB = 1000, PROGRAM_MB = 100 };

static auto_zone_t zones[ZONES];
static auto_setup_t setup;
static adm_child_t *agent;
static adm_ticket_t tickets[ZONES][CLIENTS];
static uint32_t last_pid;
static uint32_t clients[ZONES]; /* that send requests continuously */
static adm_usec_t now;

/* ---- the machine ---------------------------------------------------------- */

static void say_available(int mb)
{
    write_file("/proc/meminfo", "MemTotal: %d kB\nMemAvailable: %d kB\n", MEMORY_MB * MB, mb * MB);
}

/* ---- the zones -------------------------------------------------------------- */

static void begin(uint32_t need_kb)
{
    static const char *const names[ZONES] = { "one", "two" };
    law_tune_t law;
    int n;

    make_folder();
    write_file("/proc/stat", "cpu0 0 0 0 1 0 0 0 0 0 0\ncpu1 0 0 0 1 0 0 0 0 0 0\n");
    say_available(MEMORY_MB);
    memset(tickets, 0, sizeof(tickets));
    setup = (auto_setup_t){ .zones = zones, .count = ZONES, .root = folder, .state_fd = -1 };
    adm_segment_begin_load(segment);
    for (n = 0; n < ZONES; n++) {
        zones[n] = (auto_zone_t){ .name = names[n], .min = 1, .max = 20 };
        ck_assert_int_eq(adm_segment_configure(segment, names[n], 20, 1, 100, &zones[n].handle),
                         APR_SUCCESS);
        law_tune_remember(&law, need_kb ? 9 : 2, need_kb, need_kb);
        auto_write(segment, zones[n].handle, &law, 0, adm_now());
        clients[n] = 0;
    }
    adm_segment_end_load(segment, 1000, ADM_USEC_PER_SEC);
    agent = join();
    child = join();
    now = adm_now();
    auto_agent_duty.begin(agent, &setup, pool);
}

static uint32_t active(int n)
{
    return atomic_load(&rec_of_zone(zones[n].handle)->active);
}

static law_tune_shown_t shown(int n)
{
    law_tune_shown_t found;

    auto_view(segment, zones[n].handle, now, &found);
    return found;
}

/* Clients without a ticket enter. */
static void ask(int n)
{
    adm_entry_t entry = { .wait = ADM_WAIT_PARKED, .queue_length = 100 };
    uint32_t i;

    for (i = 0; i < clients[n]; i++) {
        adm_ticket_t *ticket = &tickets[n][i];

        if (!adm_ticket_is_in_use(ticket)) {
            memset(ticket, 0, sizeof(*ticket));
            adm_ticket_enter(child, zones[n].handle, &entry, now, ticket);
        }
    }
}

static void start_programs(int n)
{
    uint32_t i;

    for (i = 0; i < clients[n]; i++) {
        adm_ticket_t *ticket = &tickets[n][i];

        if (adm_ticket_is_granted(ticket) && !atomic_load(&rec_of_ticket(ticket)->programs)) {
            adm_ticket_begin(ticket, now);
            write_process(++last_pid, PROGRAM_MB, PROGRAM_MB);
            atomic_store(&rec_of_ticket(ticket)->programs, 1);
            atomic_store(&rec_of_ticket(ticket)->program, adm_program_word(7, last_pid));
        }
    }
}

static void end_one(int n)
{
    static uint32_t next;
    uint32_t i;

    for (i = 0; i < CLIENTS; i++) {
        adm_ticket_t *ticket = &tickets[n][next++ % CLIENTS];

        if (adm_ticket_is_in_use(ticket) && adm_ticket_is_granted(ticket)) {
            adm_ticket_release(ticket, now);
            return;
        }
    }
}

static void look(void)
{
    now += 50 * ADM_USEC_PER_MSEC;
    auto_agent_duty.run(agent, now, true);
}

/* Programs of a second and 100 MB each: nine fit. */
static void serve_for(int seconds)
{
    int looks, n;

    for (looks = 0; looks < 20 * seconds; looks++) {
        for (n = 0; n < ZONES; n++) {
            if (looks % 4 == 2 * n) {
                end_one(n);
            }
            ask(n);
            start_programs(n);
        }
        /* The minimum of a zone that starts later has precedence. */
        ck_assert_uint_le(active(0) + active(1), 10);
        say_available(MEMORY_MB - PROGRAM_MB * (int)(active(0) + active(1)));
        look();
    }
}

TEST(a_zone_that_starts_later_gets_its_part_of_the_memory)
{
    begin(PROGRAM_MB * MB);
    clients[0] = CLIENTS;
    serve_for(10);
    ck_assert_uint_eq(active(0), 9);
    ck_assert_uint_eq(shown(0).memory_cap, 9);
    clients[1] = CLIENTS;
    serve_for(15);
    ck_assert_uint_ge(active(0), 4);
    ck_assert_uint_ge(active(1), 4);
}

/* More permits do not serve more requests: only trials show that. */
TEST(one_limit_is_tried_at_a_time)
{
    uint32_t tried[ZONES] = { 0 };
    int looks, n;

    begin(0);
    clients[0] = clients[1] = CLIENTS;
    for (looks = 0; looks < 20 * 60; looks++) {
        for (n = 0; n < ZONES; n++) {
            end_one(n);
            ask(n);
            tried[n] += shown(n).trial != 0;
        }
        ck_assert(!shown(0).trial || !shown(1).trial);
        look();
    }
    ck_assert_uint_gt(tried[0], 0);
    ck_assert_uint_gt(tried[1], 0);
}

TEST(a_limit_that_has_held_is_written_in_time_and_at_the_end)
{
    static char text[AUTO_FILE_ROOM];
    FILE *file = tmpfile();
    auto_saved_t kept;

    begin(PROGRAM_MB * MB);
    setup.state_fd = fileno(file);
    clients[0] = CLIENTS;
    serve_for(200);
    auto_file_read(setup.state_fd, text);
    ck_assert(auto_file_find(text, "one", &kept));
    ck_assert_uint_eq(kept.limit, auto_limit(segment, zones[0].handle));
    ck_assert_int_eq(ftruncate(setup.state_fd, 0), 0);
    auto_agent_duty.end(agent, now);
    auto_file_read(setup.state_fd, text);
    ck_assert(auto_file_find(text, "one", &kept));
    fclose(file);
}

/* segment_child.c - a child on a segment that another child writes into.
 *
 * Whatever the segment says, a child must not read or write outside of it, go round for
 * ever, nor keep a lock. It may count wrong.
 */
#include <string.h>
#include <unistd.h>

#include "fuzz_segment.h"
#include "recycle/recycle_turns.h"

enum { REQUESTS = 12 };

typedef struct story_t {
    world_t world;
    adm_child_t *child;
    adm_zone_t zones[2];
    adm_ticket_t tickets[REQUESTS];
} story_t;

static void begin_story(story_t *story)
{
    adm_segment_t *segment;

    begin_world(&story->world);
    segment = story->world.segment;
    adm_segment_begin_load(segment);
    adm_segment_configure(segment, "a", 2, 0, 8, &story->zones[0]);
    adm_segment_configure(segment, "b", 1, 0, 0, &story->zones[1]);
    adm_segment_use_flows(segment, story->zones[0], true);
    adm_segment_end_load(segment, 16, 0);
    MUST(adm_child_register(&story->child, segment, 1, story->world.pool) == APR_SUCCESS);
}

/* As a new child in this one's place. */
static void register_again(story_t *story)
{
    adm_child_t *child;

    if (adm_child_register(&child, story->world.segment, 1, story->world.pool) == APR_SUCCESS) {
        story->child = child;
        memset(story->tickets, 0, sizeof(story->tickets));
    }
}

static void enter(story_t *story, adm_ticket_t *ticket, input_t *input)
{
    uint8_t n = take_byte(input);
    adm_entry_t entry;

    if (atomic_load(&ticket->held)) {
        return;
    }
    *ticket = (adm_ticket_t){ 0 };
    entry = (adm_entry_t){ .wait = n & 2 ? n & 8 ? ADM_WAIT_BLOCKED : ADM_WAIT_PARKED
                                         : ADM_WAIT_NEVER,
                           .worker = n & 4    ? ADM_WORKER_ONE
                                     : n & 32 ? ADM_WORKER_DENIED
                                              : ADM_WORKER_NONE,
                           .queue_length = n / 64 * 4,
                           .key = n % 5,
                           .key_name = "key",
                           .key_max = n % 3,
                           .cost = n % 4,
                           .priority = n % ADM_PRIORITIES,
                           .target_usec = n % 7,
                           .dry_run = (n & 16) != 0 };
    adm_ticket_enter(story->child, story->zones[n % 2], &entry, adm_now(), ticket);
}

/* What only a request can do that has a ticket. */
static const adm_outcome_t left_as[] = { ADM_TIMEOUT, ADM_RESERVE, ADM_GONE, ADM_STOPPED };

static void go_on(adm_ticket_t *ticket, input_t *input)
{
    adm_usec_t now = adm_now();
    char token[ADM_TOKEN_LENGTH];

    switch (take_byte(input) % 13) {
    case 0:
        adm_ticket_outcome(ticket, now, now);
        break;
    case 1:
        adm_ticket_block(ticket, now);
        break;
    case 2:
        adm_ticket_cancel(ticket, left_as[take_byte(input) % 4], now);
        break;
    case 3:
        adm_ticket_park(ticket, take_word(input));
        break;
    case 4:
        adm_ticket_unpark(ticket);
        break;
    case 5:
        adm_program_announce(ticket, take_byte(input) % 3);
        break;
    case 6:
        adm_program_token(ticket, token);
        MUST(memchr(token, '\0', sizeof(token)));
        break;
    case 7:
        adm_program_has_ended(ticket);
        break;
    case 8:
        adm_program_outlives_request(ticket);
        break;
    case 9:
        adm_ticket_abandon(ticket, true, now);
        adm_ticket_return_worker(ticket);
        break;
    case 10:
        adm_ticket_begin(ticket, now);
        break;
    default:
        adm_ticket_release(ticket, now);
        break;
    }
}

static void look(story_t *story, input_t *input)
{
    adm_segment_t *segment = story->world.segment;
    adm_zone_t zone = story->zones[take_byte(input) % 2];
    adm_zone_stats_t stats;
    adm_server_stats_t server;
    adm_history_t history;

    adm_view_zone(story->child, zone, adm_now(), &stats, NULL);
    adm_view_zone(story->child, zone, adm_now(), &stats, &history);
    adm_view_server(segment, &server);
    adm_view_has_waiters(segment);
    adm_child_note_room(story->child, take_byte(input) % 2);
    adm_lease_check(story->child, zone, adm_now() + ADM_USEC_PER_SEC);
    adm_zone_may_log(segment, zone, take_byte(input) % ADM_OUTCOMES, adm_now(), 1);
}

static void recycle(story_t *story, input_t *input)
{
    adm_segment_t *segment = story->world.segment;
    uint32_t min = take_byte(input) + 1u;
    uint32_t max = min + take_byte(input);
    uint32_t quota = recycle_quota(segment, min, max);

    MUST(quota >= min && quota <= max);
    recycle_take_turn(story->child, take_byte(input) % RECYCLE_TURNS_MAX + 1u, adm_now());
    recycle_return_turn(story->child, adm_now());
    recycle_count(segment);
}

static adm_usec_t at_once(void)
{
    return 0;
}

static void take_step(story_t *story, input_t *input)
{
    uint8_t n = take_byte(input);
    adm_ticket_t *ticket = &story->tickets[n / 16 % REQUESTS];
    uint32_t slots[8];

    switch (n % 16) {
    case 0:
    case 1:
    case 2:
        enter(story, ticket, input);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
        if (atomic_load(&ticket->held)) {
            go_on(ticket, input);
        }
        break;
    case 7:
        MUST(adm_doorbell_wait(story->child, at_once, slots, 8) <= 8);
        break;
    case 8:
        adm_round(story->child, adm_now(), true);
        break;
    case 9:
        look(story, input);
        break;
    case 10:
        recycle(story, input);
        break;
    case 11:
        adm_zone_count_exempt(story->child, story->zones[n / 16 % 2]);
        adm_doorbell_ring(story->child);
        break;
    case 12:
        if (n / 16 == 0) {
            register_again(story);
        }
        break;
    default:
        scribble(&story->world, input);
        break;
    }
}

void fuzz_segment_child(const uint8_t *data, size_t size)
{
    input_t input = { data, data + size };
    story_t story = { 0 };
    int steps;

    begin_story(&story);
    for (steps = 0; steps < MOST_STEPS && has_more(&input); steps++) {
        take_step(&story, &input);
        check_handle(&story.world);
    }
    adm_program_withdraw();
    end_world(&story.world);
}

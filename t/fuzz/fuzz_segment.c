/* fuzz_segment.c - a small segment that somebody hostile writes into. */
#include <string.h>

#include "core/adm_child.h"
#include "core/adm_system.h"
#include "fuzz_segment.h"

void begin_world(world_t *world)
{
    const adm_sizes_t sizes = { ZONES, CHILDREN, TICKETS, ZONES };

    apr_pool_create(&world->pool, NULL);
    MUST(adm_segment_create(&world->segment, &sizes, world->pool) == APR_SUCCESS);
    world->handle = *world->segment;
    adm_program_watch_forks(world->segment);
}

void end_world(world_t *world)
{
    MUST(!adm_lock_is_held_here());
    adm_child_forget_self();
    adm_segment_destroy(world->segment);
    apr_pool_destroy(world->pool);
}

void check_handle(const world_t *world)
{
    const adm_segment_t *is = world->segment, *was = &world->handle;

    MUST(is->base == was->base && is->bytes == was->bytes);
    MUST(is->chunks == was->chunks && is->sizes.zones == ZONES);
    MUST(is->sizes.children == CHILDREN && is->sizes.tickets == TICKETS);
    MUST((void *)is->header == is->base);
    MUST(is->zone_recs == was->zone_recs && is->child_recs == was->child_recs);
    MUST(is->ticket_recs == was->ticket_recs && is->names == was->names);
    MUST(is->names->nelts <= ZONES);
}

/* ---- writing ------------------------------------------------------------------ */

typedef struct place_t {
    uint8_t *at;
    size_t size;
} place_t;

/* A record: most of the segment's bytes are those of empty histories. */
static place_t choose_place(const adm_segment_t *segment, input_t *input)
{
    uint8_t n = take_byte(input);

#define PLACE(recs, count)                                                   \
    (place_t)                                                                \
    {                                                                        \
        (uint8_t *)&segment->recs[n / 8 % (count)], sizeof(segment->recs[0]) \
    }
    switch (n % 8) {
    case 0:
        return PLACE(header, 1);
    case 1:
    case 2:
        return PLACE(zone_recs, ZONES);
    case 3:
        return PLACE(child_recs, CHILDREN);
    case 4:
        return PLACE(chunk_recs, TICKETS / ADM_CHUNK_TICKETS);
    case 5:
        return PLACE(doorbell_recs, CHILDREN);
    case 6:
        return PLACE(history_recs, ZONES);
    default:
        return PLACE(ticket_recs, 32);
    }
#undef PLACE
}

static uint32_t choose_value(input_t *input)
{
    static const uint32_t telling[] = { 0,          1,          2,          3,         4,   5,
                                        63,         64,         65,         127,       128, 129,
                                        0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
    uint8_t n = take_byte(input);

    return n < sizeof(telling) / sizeof(*telling) ? telling[n] : take_word(input);
}

void scribble(const world_t *world, input_t *input)
{
    place_t place = choose_place(world->segment, input);
    size_t word = take_byte(input) | (size_t)take_byte(input) << 8;
    size_t count = take_byte(input);
    uint32_t value;

    /* One word, or many words alike. */
    for (value = choose_value(input), count = count < 240 ? 1 : count; count; count--, word++) {
        memcpy(place.at + word * 4 % (place.size - 3), &value, 4);
    }
}

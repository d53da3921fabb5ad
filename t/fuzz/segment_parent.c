/* segment_parent.c - the root parent on a segment of arbitrary content.
 *
 * Between any two calls of the parent a child, which may be compromised, has
 * written anything anywhere. The parent must not crash, wait, take a lock, go
 * round for ever, nor forget what it keeps for itself.
 */
#include <apr_strings.h>

#include "fuzz_segment.h"

static void configure(const world_t *world, input_t *input)
{
    char name[] = "zone 0";
    adm_zone_t zone = { 0, 0 }, again = { 0, 0 };
    uint32_t limit, queue_length;
    apr_status_t rv;

    name[5] = (char)('0' + take_byte(input) % 8);
    limit = take_word(input);
    queue_length = take_word(input);
    rv = adm_segment_configure(world->segment, name, limit, 0, queue_length, &zone);
    MUST(rv == APR_SUCCESS || rv == ADM_NO_ZONE);
    if (rv == APR_SUCCESS) {
        MUST(zone.idx >= 1 && zone.idx <= ZONES);
        /* Where a zone is depends on its name alone. */
        MUST(adm_segment_configure(world->segment, name, limit, 0, queue_length, &again)
             == APR_SUCCESS);
        MUST(again.idx == zone.idx && again.incarnation == zone.incarnation);
    }
}

static pid_t choose_pid(const world_t *world, input_t *input)
{
    uint8_t n = take_byte(input);

    return n < CHILDREN ? adm_life_pid(world->segment->child_recs[n].life)
                        : (pid_t)take_word(input);
}

static void make_another(const world_t *world, input_t *input)
{
    adm_sizes_t sizes = { take_word(input) % 32, take_word(input) % 32, take_word(input) % 4096,
                          0 };
    adm_segment_t *another = NULL;
    apr_status_t rv = adm_segment_create(&another, &sizes, world->pool);

    MUST(rv == APR_SUCCESS || rv == APR_EINVAL);
    if (rv == APR_SUCCESS) {
        MUST(adm_segment_bytes(another) > 0);
        adm_segment_destroy(another);
    }
}

static void take_step(const world_t *world, input_t *input)
{
    adm_segment_t *segment = world->segment;

    switch (take_byte(input) % 10) {
    case 0:
        adm_segment_begin_load(segment);
        break;
    case 1:
    case 2:
        configure(world, input);
        break;
    case 3:
        adm_segment_end_load(segment, take_word(input), (adm_usec_t)take_word(input));
        break;
    case 4:
        adm_child_ended(segment, choose_pid(world, input));
        break;
    case 5:
        adm_segment_count_unlimited(segment);
        break;
    case 6:
        make_another(world, input);
        break;
    default:
        scribble(world, input);
        break;
    }
}

void fuzz_segment_parent(const uint8_t *data, size_t size)
{
    input_t input = { data, data + size };
    world_t world;
    int steps;

    begin_world(&world);
    forbid_locks(true);
    for (steps = 0; steps < MOST_STEPS && has_more(&input); steps++) {
        take_step(&world, &input);
        check_handle(&world);
    }
    forbid_locks(false);
    end_world(&world);
}

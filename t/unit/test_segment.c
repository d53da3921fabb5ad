/* test_segment.c - making a segment and configuring its zones. */
#include "core/adm_limit.h"
#include "test_support.h"

/* ---- create -------------------------------------------------------------- */

static const adm_sizes_t impossible_sizes[] = {
    { 0, 1, 1, 0 },
    { 1, 0, 1, 0 },
    { 1, 1, 0, 0 },
    { ADM_MAX_ZONES + 1, 1, 1, 0 },
    { 1, ADM_MAX_CHILDREN + 1, 1, 0 },
    { 1, 1, ADM_MAX_CHUNKS *ADM_CHUNK_TICKETS + 1, 0 },
    { 1, 1, UINT32_MAX, 0 },
    { 1, 1, 1, ADM_MAX_FLOW_TABLES + 1 },
};

TESTS(a_size_that_cannot_be_numbered_is_refused, 0, COUNT(impossible_sizes))
{
    adm_segment_t *created = NULL;

    ck_assert_int_eq(adm_segment_create(&created, &impossible_sizes[_i], pool), APR_EINVAL);
    ck_assert_ptr_null(created);
}

/* With 32 bits the sum of the sizes is a small number again. */
TEST(a_segment_has_room_for_all_or_is_refused)
{
    const adm_sizes_t large = { 1, 1, ADM_MAX_CHUNKS * ADM_CHUNK_TICKETS, 0 };
    adm_segment_t *created = NULL;

    if (adm_segment_create(&created, &large, pool) == APR_SUCCESS) {
        ck_assert(adm_segment_bytes(created) / ADM_CACHE_LINE > large.tickets);
        adm_segment_destroy(created); /* a search for leaks would fill it all */
    }
}

TEST(unused_room_costs_no_memory)
{
    const char *base;

    make_segment(1000, 16, 1000000);
    base = segment->base;
    /* The header, the children's locks. */
    ck_assert_uint_le(resident_pages(base, base + adm_segment_bytes(segment)), 4);
}

static size_t pages_of_histories(void)
{
    return resident_pages(segment->history_recs, (char *)segment->history_recs + 64 * 4096);
}

TEST(the_history_of_a_zone_costs_nothing_until_it_is_used)
{
    static adm_history_t history;
    adm_zone_stats_t stats;
    adm_ticket_t ticket;

    make_segment(64, 16, 64);
    zone = zone_called("one", 1, 1);
    zone_called("other", 1, 1);
    child = join();
    adm_round(child, adm_now(), true);
    stats_of(child, zone);
    adm_view_zone(child, zone, adm_now(), &stats, &history);
    ck_assert_uint_eq(pages_of_histories(), 0);
    enter(child, zone, &ticket);
    ck_assert_uint_ge(pages_of_histories(), 1);
}

/* Loop test: one field differs. */
TESTS(a_header_with_a_wrong_field_is_refused, 0, 5)
{
    adm_header_rec_t *header = segment->header;

    is_spoilt = true;
    header->magic += _i == 0;
    header->layout_version += _i == 1;
    header->zones += _i == 2;
    header->children += _i == 3;
    header->chunks += _i == 4;
    ck_assert_int_eq(adm_child_register(&child, segment, 1, pool), ADM_BAD_SEGMENT);
    ck_assert_str_eq(adm_check(segment), "the header is not ours");
}

TEST(two_segments_are_told_apart_by_their_tokens)
{
    char first[ADM_TOKEN_LENGTH], second[ADM_TOKEN_LENGTH];
    adm_ticket_t ticket;

    ck_assert_int_eq(enter(join(), zone_with(1, 1), &ticket), ADM_ADMITTED);
    adm_program_token(&ticket, first);
    make_segment(8, 8, 256);
    ck_assert_int_eq(enter(join(), zone_with(1, 1), &ticket), ADM_ADMITTED);
    adm_program_token(&ticket, second);
    ck_assert_str_ne(first, second);
}

/* ---- configure ----------------------------------------------------------- */

static apr_status_t configure(const char *name, adm_zone_t *zone)
{
    return adm_segment_configure(segment, name, 1, 0, 1, zone);
}

static void load_without_zones(unsigned count)
{
    while (count--) {
        set_worker_cap(1000);
    }
}

/* Each name has its own place, and the same one at the next load and after loads without
 * it. The name is copied. */
TEST(thousands_of_names_keep_their_places)
{
    enum { ZONES = 3000 };
    static adm_zone_t places[ZONES];
    static bool is_taken[ZONES + 1];
    char name[32];
    unsigned n, load;

    make_segment(ZONES, 1, 64);
    for (load = 0; load < 3; load++) {
        load_without_zones(load == 2 ? 5 : 0);
        adm_segment_begin_load(segment);
        for (n = 0; n < ZONES; n++) {
            snprintf(name, sizeof(name), "www%u.example", n);
            ck_assert_int_eq(configure(name, &zone), APR_SUCCESS);
            if (load == 0) {
                ck_assert(!is_taken[zone.idx]);
                is_taken[zone.idx] = true;
                places[n] = zone;
            }
            ck_assert_mem_eq(&zone, &places[n], sizeof(zone));
        }
        adm_segment_end_load(segment, 1, 1);
    }
}

/* ---- retire -------------------------------------------------------------- */

static adm_zone_t old, young;

/* Loop test: this many loads went by without the zone. */
TESTS(a_retired_zone_keeps_its_place_for_two_loads, 0, 4)
{
    make_segment(1, 1, 64);
    zone_called("old", 1, 1);
    load_without_zones((unsigned)_i);
    adm_segment_begin_load(segment);
    ck_assert_int_eq(configure("new", &zone), _i < 2 ? ADM_NO_ZONE : APR_SUCCESS);
    ck_assert_int_eq(configure("old", &zone), _i < 2 ? APR_SUCCESS : ADM_NO_ZONE);
    adm_segment_end_load(segment, 1, 1);
}

TEST(places_never_used_are_taken_before_retired_ones)
{
    make_segment(2, 1, 64);
    old = zone_called("old", 1, 1);
    load_without_zones(5);
    young = zone_called("young", 1, 1);
    ck_assert_uint_ne(young.idx, old.idx);
}

/* Loop test: a request runs, or waits. */
TESTS(a_retired_zone_in_use_keeps_its_place, 0, 2)
{
    adm_ticket_t ticket;

    make_segment(1, 1, 64);
    old = zone_called("old", _i == 0 ? 1 : 0, 1);
    ck_assert_int_eq(enter(join(), old, &ticket), _i == 0 ? ADM_ADMITTED : ADM_WAITING);
    load_without_zones(5);
    adm_segment_begin_load(segment);
    ck_assert_int_eq(configure("young", &young), ADM_NO_ZONE);
    leave(&ticket);
    ck_assert_int_eq(configure("young", &young), APR_SUCCESS);
    adm_segment_end_load(segment, 1, 1);
}

/* The new names are longer than the old ones, and one has been there before. */
TEST(retired_places_are_given_to_as_many_new_zones)
{
    static const char *const names[] = {
        "a much longer name than that of any zone that had this place before", "old2", "b", "c"
    };
    adm_zone_t zones[4];
    unsigned n;

    make_segment(3, 1, 64);
    zone_called("old1", 1, 1);
    zone_called("old2", 1, 1);
    zone_called("old3", 1, 1);
    load_without_zones(5);
    adm_segment_begin_load(segment);
    ck_assert_int_eq(configure(names[1], &zones[1]), APR_SUCCESS);
    ck_assert_int_eq(configure(names[0], &zones[0]), APR_SUCCESS);
    ck_assert_int_eq(configure(names[2], &zones[2]), APR_SUCCESS);
    ck_assert_int_eq(configure(names[3], &zones[3]), ADM_NO_ZONE);
    adm_segment_end_load(segment, 1, 1);
    ck_assert_uint_eq(1U << zones[0].idx | 1U << zones[1].idx | 1U << zones[2].idx, 14);
    for (n = 0; n < 3; n++) {
        adm_zone_t again = zone_called(names[n], 1, 1);

        ck_assert_uint_eq(again.idx, zones[n].idx);
        ck_assert_uint_eq(again.incarnation, zones[n].incarnation);
    }
}

TEST(the_next_zone_of_a_slot_has_its_own_handle_and_figures)
{
    adm_override_t before, after, wanted = { 4, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP };
    static adm_history_t history;
    adm_ticket_t inside, waiting;
    adm_zone_stats_t stats;

    make_segment(1, 1, 64);
    child = join();
    old = zone_called("old", 1, 1);
    ck_assert_int_eq(enter(child, old, &inside), ADM_ADMITTED);
    ck_assert_int_eq(enter(child, old, &waiting), ADM_WAITING);
    ck_assert_int_eq(adm_ticket_cancel(&waiting, ADM_TIMEOUT, adm_now()), ADM_TIMEOUT);
    leave(&inside);
    adm_zone_count_exempt(child, old);
    ck_assert_int_eq(adm_override_set(child, old, &wanted, adm_now(), &before, &after),
                     APR_SUCCESS);
    adm_limit_set(rec_of_zone(old), ADM_LIMIT_AUTO, 2);
    load_without_zones(2);
    young = zone_called("young", 3, 4);
    ck_assert_uint_eq(young.idx, old.idx);
    adm_zone_count_exempt(child, old); /* is not counted in the new zone */
    ck_assert_int_eq(adm_override_set(child, old, &wanted, adm_now(), &before, &after),
                     ADM_ZONE_RETIRED);
    ck_assert_int_eq(enter_as(child, old, RUNS, adm_now(), &inside), ADM_UNLIMITED);
    ck_assert_int_eq(inside.fault, ADM_ZONE_RETIRED);
    ck_assert_uint_eq(atomic_load(&segment->header->workers_held), 0);
    ck_assert_int_eq(adm_view_zone(child, old, adm_now(), &stats, &history), ADM_ZONE_RETIRED);
    stats = stats_of(child, young);
    ck_assert_uint_eq(stats.limit, 3);
    ck_assert_uint_eq(adm_figures_admitted(&stats.figures), 0);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_EXEMPT], 0);
    ck_assert_uint_eq(stats.figures.outcomes[ADM_TIMEOUT], 0);
    ck_assert_uint_eq(stats.figures.queued_max, 0);
    ck_assert_uint_eq(stats.figures.service.count, 0);
    stats = stats_of(child, young); /* the previous unlock has recorded the queue */
    ck_assert_uint_eq(stats.figures.queued_usec, 0);
    ck_assert_int_eq(adm_view_zone(child, young, adm_now(), &stats, &history), APR_SUCCESS);
    ck_assert_uint_eq(history.limit[0], 3);
    ck_assert_int_eq(enter(child, young, &inside), ADM_ADMITTED);
}

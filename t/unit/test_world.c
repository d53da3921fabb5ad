/* test_world.c - a simulated web server with a limit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test_world.h"

#define GLANCE_SEC 0.05
#define HOUSE_SEC 0.04 /* memory is looked at this often */
#define CLIFF 8.0      /* how steep; the worst measured is 7 times at 2x */
#define FLOOR 0.04     /* nothing becomes slower than this */
#define MOST_QUEUED 100

enum { MOST_PROGRAMS = 1024, MOST_LIMIT = 200 };

enum what_t { ARRIVE, OPEN, BACKEND, HOUSE, GLANCE };

/* ---- what happens next ------------------------------------------------------- */

enum { AGENDA_MOST = 4096 };

typedef struct agenda_event_t {
    double at;
    uint64_t seq; /* those of one time in their order */
    int what;
    int idx;
} agenda_event_t;

/* Empty when it is all zero. */
typedef struct agenda_t {
    agenda_event_t entries[AGENDA_MOST]; /* the last one is the next */
    int count;
    uint64_t seq;
} agenda_t;

static bool is_before(const agenda_event_t *a, const agenda_event_t *b)
{
    return a->at < b->at || (a->at <= b->at && a->seq < b->seq);
}

static void agenda_add(agenda_t *agenda, double at, int what, int idx)
{
    const agenda_event_t event = { at, ++agenda->seq, what, idx };
    int i = agenda->count++;

    if (agenda->count > AGENDA_MOST) {
        abort();
    }
    for (; i > 0 && is_before(&agenda->entries[i - 1], &event); i--) {
        agenda->entries[i] = agenda->entries[i - 1];
    }
    agenda->entries[i] = event;
}

/* When the next one is; not of an empty one. */
static double agenda_next(const agenda_t *agenda)
{
    return agenda->entries[agenda->count - 1].at;
}

static agenda_event_t agenda_take(agenda_t *agenda)
{
    return agenda->entries[--agenda->count];
}

/* ---- chance that repeats ----------------------------------------------------- */

typedef struct chance_t {
    uint64_t state; /* the seed */
} chance_t;

/* @return a number from 0 to less than 1: splitmix64, small and the same everywhere. */
static double chance_of_one(chance_t *chance)
{
    uint64_t z = chance->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static double chance_exponential(chance_t *chance, double mean)
{
    return -mean * log(1 - chance_of_one(chance));
}

/* @a cv is the standard deviation over the mean. */
static double chance_lognormal(chance_t *chance, double mean, double cv)
{
    double variance = log(1 + cv * cv);
    double radius = sqrt(-2 * log(1 - chance_of_one(chance)));
    double normal = radius * cos(2 * M_PI * chance_of_one(chance));

    return mean <= 0 ? 0 : mean * exp(normal * sqrt(variance) - variance / 2);
}

/* ---- the server -------------------------------------------------------------- */

typedef struct program_t {
    double begun;
    double cpu;
    double backend;
    double mb;
    double work_end; /* in processor time given to each */
    int part;        /* 0 before the backend, 1 there, 2 after */
    int client;      /* -1: an open one */
    int active_at;   /* in world_t.active */
} program_t;

typedef struct world_t {
    const world_config_t *config;
    chance_t chance;
    double now, given, last_glance;
    double speed, slow_speed, slow_until;
    agenda_t events, working;
    program_t programs[MOST_PROGRAMS];
    int unused[MOST_PROGRAMS], unused_count;
    int active[MOST_PROGRAMS], active_count;
    int queue[MOST_PROGRAMS], queue_first, queued;
    int backend_queue[MOST_PROGRAMS], backend_first, backend_queued;
    int backend_busy;
    int clients;
    uint32_t limit;
    uint32_t permits; /* in use */
    law_tune_sample_t sample;
    double waited, busy, own, stall;
    uint32_t rss_kb[MOST_PROGRAMS];
    world_result_t *result;
} world_t;

/* ---- what there is ---------------------------------------------------------------- */

static const world_phase_t *phase(const world_t *world)
{
    const world_phase_t *phases = world->config->phases;
    int i = 0;

    while (i + 1 < WORLD_PHASES && phases[i + 1].from > 0 && phases[i + 1].from <= world->now) {
        i++;
    }
    return &phases[i];
}

/* Processors that our programs have together. */
static double cores_for_us(const world_t *world)
{
    const world_phase_t *is = phase(world);
    double n = world->working.count;
    double cores = fmax(0.1, world->config->cores - is->neighbour_cores);

    if (n + is->hogs > cores) {
        cores *= n / (n + is->hogs);
    }
    return fmin(n, cores);
}

/* Half of its processor time, or a quarter if it visits the backend, until all
 * is touched. */
static double touched_mb(const world_t *world, const program_t *program)
{
    double part = program->backend > 0 ? 0.5 : 1;
    double done;

    if (program->part != 0) {
        return program->mb;
    }
    done = part - fmax(0, program->work_end - world->given) / program->cpu;
    return program->mb * fmin(1, fmax(0, done) * 2 / part);
}

static double all_touched_mb(const world_t *world)
{
    double sum = 0;
    int i;

    for (i = 0; i < world->active_count; i++) {
        sum += touched_mb(world, &world->programs[world->active[i]]);
    }
    return sum;
}

static double free_mb(const world_t *world)
{
    return world->config->memory - phase(world)->neighbour_mb;
}

static void look_at_memory(world_t *world)
{
    double over = all_touched_mb(world) / fmax(1, free_mb(world));
    double speed;

    if (over > 1) {
        speed = fmax(FLOOR, 1 / (1 + CLIFF * (over - 1)));
        world->slow_speed = world->now < world->slow_until ? fmin(speed, world->slow_speed) : speed;
        world->slow_until = world->now + 1;
        world->speed = speed;
        world->result->thrash += HOUSE_SEC;
        world->result->thrash_in[(int)world->now] += HOUSE_SEC;
        world->result->most_touched = fmax(world->result->most_touched, over);
    }
    else if (world->now < world->slow_until) {
        world->speed = 0.5 + 0.5 * world->slow_speed; /* reads back from swap */
    }
    else {
        world->speed = world->slow_speed = 1;
    }
}

static void advance(world_t *world, double until)
{
    double sec = until - world->now;
    double cores = world->config->cores;
    double ours, others;

    if (sec <= 0) {
        return;
    }
    ours = cores_for_us(world);
    others = fmin(cores - ours, phase(world)->neighbour_cores + phase(world)->hogs);
    if (world->working.count > 0) {
        world->given += sec * world->speed * ours / world->working.count;
    }
    world->waited += world->queued > 0 ? sec : 0;
    world->own += sec * ours * world->speed / cores;
    world->busy += sec * (ours * world->speed + others) / cores;
    world->stall += sec
                    * fmax(phase(world)->others_stall, world->working.count ? 1 - world->speed : 0);
    if (world->now < WORLD_SECONDS) {
        world->result->limit[(int)world->now] += sec * world->limit;
    }
    world->now = until;
}

/* ---- requests ----------------------------------------------------------------------- */

static void work(world_t *world, int idx, int part)
{
    program_t *program = &world->programs[idx];

    program->part = part;
    program->work_end = world->given + program->cpu * (program->backend > 0 ? 0.5 : 1);
    agenda_add(&world->working, program->work_end, ARRIVE, idx);
}

static void admit(world_t *world)
{
    int idx;

    while (world->queued > 0) {
        idx = world->queue[world->queue_first % MOST_PROGRAMS];
        if (world->permits > 0 && world->permits >= world->limit) {
            break;
        }
        world->permits++;
        world->queue_first++;
        world->queued--;
        world->programs[idx].begun = world->now;
        world->programs[idx].active_at = world->active_count;
        world->active[world->active_count++] = idx;
        work(world, idx, 0);
    }
}

static const world_kind_t *choose_kind(world_t *world)
{
    const world_kind_t *kinds = phase(world)->kinds;
    double all = kinds[0].weight + kinds[1].weight;

    return chance_of_one(&world->chance) * all < kinds[0].weight ? &kinds[0] : &kinds[1];
}

static void arrive(world_t *world, int client)
{
    const world_kind_t *kind;
    program_t *program;
    int idx;

    if (world->queued >= MOST_QUEUED && world->active_count >= (int)world->limit) {
        if (client >= 0) {
            agenda_add(&world->events, world->now + 1, ARRIVE, client);
        }
        return;
    }
    idx = world->unused[--world->unused_count];
    program = &world->programs[idx];
    kind = choose_kind(world);
    program->cpu = fmax(1e-4, chance_lognormal(&world->chance, kind->cpu, kind->cv));
    program->backend = chance_lognormal(&world->chance, kind->backend, kind->cv);
    program->mb = kind->mb;
    program->client = client;
    world->queue[(world->queue_first + world->queued++) % MOST_PROGRAMS] = idx;
    admit(world);
}

/* A client that has gone looks once a second whether it is wanted again. */
static void arrive_closed(world_t *world, int client)
{
    if (client < phase(world)->clients) {
        arrive(world, client);
    }
    else {
        agenda_add(&world->events, world->now + 1, ARRIVE, client);
    }
}

static void arrive_open(world_t *world)
{
    double rate = phase(world)->rate;

    if (rate > 0) {
        arrive(world, -1);
        agenda_add(&world->events, world->now + chance_exponential(&world->chance, 1 / rate), OPEN,
                   0);
    }
    else {
        agenda_add(&world->events, world->now + 0.5, OPEN, 0);
    }
}

static void finish(world_t *world, int idx)
{
    program_t *program = &world->programs[idx];
    law_tune_sample_t *sample = &world->sample;
    double service = world->now - program->begun;
    double every = phase(world)->burst_every;
    double kb = program->mb * 1024;

    world->active[program->active_at] = world->active[--world->active_count];
    world->programs[world->active[program->active_at]].active_at = program->active_at;
    world->permits--;
    sample->served++;
    sample->service_usec += (uint64_t)(service * 1e6);
    sample->service_square_ms2 += (uint64_t)(service * service * 1e6);
    sample->ended++;
    sample->peak_kb += (uint64_t)kb;
    sample->peak_square_kb2 += (uint64_t)(kb * kb);
    sample->peak_largest_kb = fmax(sample->peak_largest_kb, kb);
    if (world->now < WORLD_SECONDS) {
        world->result->served[(int)world->now]++;
    }
    if (program->client >= 0) {
        agenda_add(&world->events, every > 0 ? (floor(world->now / every) + 1) * every : world->now,
                   ARRIVE, program->client);
    }
    world->unused[world->unused_count++] = idx;
    admit(world);
}

static void ask_backend(world_t *world, int idx)
{
    int servers = phase(world)->servers;

    world->programs[idx].part = 1;
    if (servers > 0 && world->backend_busy >= servers) {
        world->backend_queue[(world->backend_first + world->backend_queued++) % MOST_PROGRAMS] =
            idx;
        return;
    }
    world->backend_busy++;
    agenda_add(&world->events, world->now + world->programs[idx].backend, BACKEND, idx);
}

static void backend_has_answered(world_t *world, int idx)
{
    int servers = phase(world)->servers;

    world->backend_busy--;
    while (world->backend_queued > 0 && (servers == 0 || world->backend_busy < servers)) {
        world->backend_queued--;
        ask_backend(world, world->backend_queue[world->backend_first++ % MOST_PROGRAMS]);
    }
    work(world, idx, 2);
}

/* ---- control -------------------------------------------------------------------------- */

static uint32_t permille(double part, double whole)
{
    return whole > 0 ? (uint32_t)(1000 * part / whole + 0.5) : 0;
}

static void fill_sample(world_t *world)
{
    law_tune_sample_t *sample = &world->sample;
    double sec = world->now - world->last_glance;
    int i;

    /* A machine that has been up for a while. */
    sample->now_usec = (uint64_t)((world->now + 1000) * 1e6);
    sample->limit = world->limit;
    sample->active = world->permits;
    sample->waited_permille = permille(world->waited, sec);
    sample->cores = world->config->cores;
    sample->busy_permille = permille(world->busy, sec);
    sample->own_permille = permille(world->own, sec);
    sample->stall_permille = permille(world->stall, sec);
    sample->total_kb = (uint64_t)(world->config->memory * 1024);
    sample->available_kb = (uint64_t)(1024 * fmax(0, free_mb(world) - all_touched_mb(world)));
    sample->rss_kb = world->rss_kb;
    sample->programs = 0;
    if (world->config->is_blind) {
        sample->ended = sample->peak_largest_kb = 0;
        sample->peak_kb = sample->peak_square_kb2 = 0;
    }
    for (i = 0; i < world->active_count && !world->config->is_blind; i++) {
        const program_t *program = &world->programs[world->active[i]];

        world->rss_kb[sample->programs++] = (uint32_t)(1024 * touched_mb(world, program));
    }
}

static void glance(world_t *world, world_control_t *control, void *self)
{
    uint32_t limit;

    fill_sample(world);
    limit = control(self, &world->sample);
    limit = limit < MOST_LIMIT ? limit : MOST_LIMIT;
    world->result->changes += limit != world->limit;
    world->limit = limit;
    memset(&world->sample, 0, sizeof(world->sample));
    world->waited = world->busy = world->own = world->stall = 0;
    world->last_glance = world->now;
    for (; world->clients < phase(world)->clients; world->clients++) {
        agenda_add(&world->events, world->now, ARRIVE, world->clients);
    }
    admit(world);
}

/* ---- the run ---------------------------------------------------------------------------- */

/* @return when the next program ends its work on a processor. */
static double next_end(const world_t *world)
{
    double each;

    if (world->working.count == 0) {
        return INFINITY;
    }
    each = cores_for_us(world) / world->working.count * world->speed;
    return world->now + fmax(0, agenda_next(&world->working) - world->given) / each;
}

static void end_work(world_t *world)
{
    int idx;

    world->given = fmax(world->given, agenda_next(&world->working));
    idx = agenda_take(&world->working).idx;
    if (world->programs[idx].part == 0 && world->programs[idx].backend > 0) {
        ask_backend(world, idx);
    }
    else {
        finish(world, idx);
    }
}

static void happen(world_t *world, const agenda_event_t *event, world_control_t *control,
                   void *self)
{
    switch (event->what) {
    case ARRIVE:
        arrive_closed(world, event->idx);
        break;
    case OPEN:
        arrive_open(world);
        break;
    case BACKEND:
        backend_has_answered(world, event->idx);
        break;
    case HOUSE:
        look_at_memory(world);
        agenda_add(&world->events, world->now + HOUSE_SEC, HOUSE, 0);
        break;
    default:
        glance(world, control, self);
        agenda_add(&world->events, world->now + GLANCE_SEC, GLANCE, 0);
        break;
    }
}

static void begin(world_t *world)
{
    const world_phase_t *first = &world->config->phases[0];

    world->speed = world->slow_speed = 1;
    while (world->unused_count < MOST_PROGRAMS) {
        world->unused[world->unused_count] = world->unused_count;
        world->unused_count++;
    }
    for (; world->clients < first->clients; world->clients++) {
        agenda_add(&world->events, chance_of_one(&world->chance) * 0.2, ARRIVE, world->clients);
    }
    agenda_add(&world->events, 0.001, OPEN, 0);
    agenda_add(&world->events, HOUSE_SEC, HOUSE, 0);
    agenda_add(&world->events, GLANCE_SEC, GLANCE, 0);
}

void world_run(const world_config_t *config, uint64_t seed, int seconds, world_control_t *control,
               void *self, world_result_t *result)
{
    world_t *world = calloc(1, sizeof(*world));
    agenda_event_t event;
    double end;

    memset(result, 0, sizeof(*result));
    world->config = config;
    world->chance.state = seed * 1000003;
    world->result = result;
    begin(world);
    glance(world, control, self);
    while (world->now < seconds) {
        end = next_end(world);
        if (end <= agenda_next(&world->events)) {
            advance(world, end);
            end_work(world);
            continue;
        }
        event = agenda_take(&world->events);
        advance(world, event.at);
        happen(world, &event, control, self);
    }
    free(world);
}

/* ---- what it has served ------------------------------------------------------ */

static double mean_of(const double *numbers, int from, int until)
{
    double sum = 0;
    int i;

    for (i = from; i < until; i++) {
        sum += numbers[i];
    }
    return sum / (until - from);
}

double world_rate(const world_result_t *result, int from, int until)
{
    return mean_of(result->served, from, until);
}

double world_limit(const world_result_t *result, int from, int until)
{
    return mean_of(result->limit, from, until);
}

double world_thrash(const world_result_t *result, int from, int until)
{
    return mean_of(result->thrash_in, from, until);
}

int world_seconds_to(const world_result_t *result, double rate, int from, int until)
{
    int at;

    for (at = from; at + 5 <= until; at++) {
        if (world_rate(result, at, at + 5) >= 0.95 * 0.97 * rate) {
            return at - from;
        }
    }
    return -1;
}

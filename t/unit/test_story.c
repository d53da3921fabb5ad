/* test_story.c - plays a story of requests in one zone; test_story.h has the words. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/adm_doorbell.h"
#include "core/adm_worker.h"
#include "test_story.h"

enum { LETTERS = 26, CHILDREN = 4, LONGEST = 2000 };

/* What the core reads from the clock by itself is earlier. */
#define AHEAD_SEC 60

adm_usec_t story_now;

static adm_ticket_t requests[LETTERS];
static adm_child_t *children[CHILDREN];
static uint32_t queue_length;
static char step[LONGEST]; /* for messages */
static char *rest;         /* of the step */

/* Fail the test with the step and the actual state unless the condition is true. */
static void need(bool condition, const char *instead, ...) __attribute__((format(printf, 2, 3)));

static void need(bool condition, const char *instead, ...)
{
    char text[LONGEST];
    va_list args;

    va_start(args, instead);
    vsnprintf(text, sizeof(text), instead, args);
    va_end(args);
    ck_assert_msg(condition, "\"%s\": %s", step, text);
}

/* ---- words ------------------------------------------------------------------- */

static const char *next(void)
{
    const char *word = strtok_r(NULL, " ", &rest);

    need(word != NULL, "a word is missing");
    return word;
}

static bool is(const char *word, const char *other)
{
    return strcmp(word, other) == 0;
}

static uint32_t number(void)
{
    const char *word = next();

    return is(word, "none") ? ADM_OVERRIDE_NONE : (uint32_t)strtoul(word, NULL, 10);
}

static adm_usec_t duration(void)
{
    char *unit;
    adm_usec_t count = strtoll(next(), &unit, 10);

    return count
           * (is(unit, "s")    ? ADM_USEC_PER_SEC
              : is(unit, "ms") ? ADM_USEC_PER_MSEC
              : is(unit, "L")  ? ADM_LEASE_USEC
                               : 1);
}

adm_ticket_t *request(char letter)
{
    return &requests[(letter - 'A') % LETTERS];
}

static adm_child_t *child_of_word(void)
{
    return children[(number() - 1) % CHILDREN];
}

/* ---- what is so -------------------------------------------------------------- */

static adm_zone_stats_t figures_now(adm_history_t *history)
{
    adm_zone_stats_t stats;

    ck_assert_int_eq(adm_view_zone(child, zone, story_now, &stats, history), APR_SUCCESS);
    return stats;
}

uint64_t shown(const char *what)
{
    const adm_zone_stats_t zone_now = figures_now(NULL);
    const adm_figures_t *figures = &zone_now.figures;
    adm_server_stats_t server;
    adm_outcome_t outcome;
    unsigned n;

    adm_view_server(segment, &server);
    const struct {
        const char *name;
        uint64_t number;
    } numbers[] = { { "active", zone_now.active },
                    { "waiting", zone_now.queued },
                    { "limit-shown", zone_now.limit },
                    { "limit-configured", zone_now.limit_configured },
                    { "queue-shown", zone_now.queue_length },
                    { "overridden", zone_now.is_overridden },
                    { "oldest-usec", (uint64_t)zone_now.oldest_wait_usec },
                    { "admitted", adm_figures_admitted(figures) },
                    { "rejected", adm_figures_rejected(figures) },
                    { "queued-max", figures->queued_max },
                    { "passed-on", figures->grants_passed_on },
                    { "waited", figures->wait.count },
                    { "waited-usec", figures->wait.sum_usec },
                    { "served", figures->service.count },
                    { "served-usec", figures->service.sum_usec },
                    { "longest-usec", figures->service.max_usec },
                    { "dry-wait-usec", figures->dry_wait_usec },
                    { "workers", server.workers_held },
                    { "blocked", server.blocked },
                    { "blocked-workers", server.workers_blocked },
                    { "parked", server.parked },
                    { "worker-cap", server.worker_cap },
                    { "unlimited", server.unlimited },
                    { "transfers", server.transfers },
                    { "shared", atomic_load(&child->rec->workers_shared) },
                    { "has-room", adm_worker_has_room(child) } };

    for (n = 0; n < COUNT(numbers); n++) {
        if (is(what, numbers[n].name)) {
            return numbers[n].number;
        }
    }
    for (outcome = 0; outcome < ADM_OUTCOMES && !is(what, adm_outcome_name(outcome)); outcome++) {
    }
    need(outcome < ADM_OUTCOMES, "no number: %s", what);
    return figures->outcomes[outcome % ADM_OUTCOMES];
}

static void compare(const char *what, uint64_t is_so)
{
    uint64_t expected = number();

    need(is_so == expected, "%s is %ju", what, (uintmax_t)is_so);
}

static void has(void)
{
    const char *expected = next();
    char holders[LETTERS + 1] = "-";
    unsigned n, count = 0;

    for (n = 0; n < LETTERS; n++) {
        if (atomic_load(&requests[n].held) && adm_ticket_is_granted(&requests[n])) {
            holders[count++] = (char)('A' + n);
            holders[count] = '\0';
        }
    }
    need(is(holders, expected), "it is %s", holders);
}

static void rings(void)
{
    adm_child_t *rung = child_of_word();
    const char *expected = next();
    uint32_t slots[4] = { 0 };
    uint32_t count = adm_doorbell_wait(rung, at_once, slots, 4);

    need(count == !is(expected, "-"), "%u ring", count);
    need(!count || slots[0] == (uint32_t)(*expected - 'A'), "%c rings", (int)slots[0] + 'A');
}

static void tells(void)
{
    const adm_ticket_t *told = request(*next());

    need(told->drain_usec == duration(), "%jd usec", (intmax_t)told->drain_usec);
}

static void was(void)
{
    static adm_history_t history;
    const char *what = next();
    char *word;
    uint64_t is_so;
    unsigned seconds, expected, n;

    figures_now(&history);
    while ((word = strtok_r(NULL, " ", &rest))) {
        need(sscanf(word, "%u:%u", &seconds, &expected) == 2, "no numbers");
        n = ADM_HISTORY_SECONDS - 1 - seconds;
        is_so = is(what, "active")   ? history.active[n]
                : is(what, "queued") ? history.queued[n]
                : is(what, "limit")  ? history.limit[n]
                                     : history.rejected[n];
        need(is_so == expected, "%ju, %u seconds ago", (uintmax_t)is_so, seconds);
    }
}

/* ---- the zone ---------------------------------------------------------------- */

/* What a load allows is handed out at the next step. */
static bool is_loaded;

static void load(uint32_t limit)
{
    is_loaded = true;
    zone = zone_called("story", limit, queue_length);
}

static adm_entry_t usual;

static void make_zone(void)
{
    uint32_t limit = number();

    queue_length = number();
    memset(requests, 0, sizeof(requests));
    usual = (adm_entry_t){ .wait = ADM_WAIT_PARKED, .queue_length = queue_length };
    story_now = adm_now() + ADM_USEC_PER_SEC * AHEAD_SEC;
    load(limit);
    child = children[0] = join();
}

static void make_children(void)
{
    uint32_t count = number(), n;

    for (n = 1; n < count; n++) {
        children[n % CHILDREN] = join();
    }
}

static void order(void)
{
    adm_override_t wanted = { ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP, ADM_OVERRIDE_KEEP };
    adm_override_t before, after;
    adm_zone_stats_t then = figures_now(NULL), now;
    const char *what = next();

    if (is(what, "limit")) {
        wanted.limit = number();
    }
    else if (is(what, "queue")) {
        wanted.queue_length = number();
    }
    else {
        for (wanted.mode = 0; !is(what, adm_mode_name(wanted.mode)); wanted.mode++) {
            need(wanted.mode + 1 < ADM_MODES, "no mode");
        }
    }
    ck_assert_int_eq(adm_override_set(child, zone, &wanted, story_now, &before, &after),
                     APR_SUCCESS);
    now = figures_now(NULL);
    need(before.queue_length == then.queue_length && before.mode == then.mode
             && (then.mode == ADM_MODE_PAUSE || before.limit == then.limit),
         "before: %u, %u, %u", before.limit, before.queue_length, before.mode);
    need(after.queue_length == now.queue_length && after.mode == now.mode
             && (now.mode == ADM_MODE_PAUSE || after.limit == now.limit),
         "after: %u, %u, %u", after.limit, after.queue_length, after.mode);
}

/* ---- workers ------------------------------------------------------------------- */

static void budget(void)
{
    uint32_t of_child = number(), of_server = number();

    adm_worker_limit_connections(child, of_child, of_server, number());
}

static void occupies(void)
{
    static const char *const names[] = { "none", "one", "denied", "no-room" };
    const char *expected = next(), *name = names[adm_worker_occupy(child)];

    need(is(name, expected), "%s", name);
}

/* ---- requests ------------------------------------------------------------------ */

/* How a request waits, and with what worker. */
static const struct {
    const char *word;
    adm_wait_t wait;
    adm_worker_t worker;
} ways[] = { { "runs", ADM_WAIT_NEVER, ADM_WORKER_ONE },
             { "parks", ADM_WAIT_PARKED, ADM_WORKER_ONE },
             { "blocks", ADM_WAIT_BLOCKED, ADM_WORKER_ONE },
             { "elsewhere", ADM_WAIT_BLOCKED, ADM_WORKER_NONE },
             { "hurries", ADM_WAIT_NEVER, ADM_WORKER_NONE },
             { "denied", ADM_WAIT_NEVER, ADM_WORKER_DENIED },
             { "roomless", ADM_WAIT_BLOCKED, ADM_WORKER_NO_ROOM } };

static void describe(adm_entry_t *entry, adm_child_t **enters, const char *word)
{
    unsigned n;

    for (n = 0; n < COUNT(ways); n++) {
        if (is(word, ways[n].word)) {
            entry->wait = ways[n].wait;
            entry->worker = ways[n].worker;
            return;
        }
    }
    if (is(word, "key")) {
        entry->key = number();
        entry->key_name = "of a key";
    }
    else if (is(word, "max")) {
        entry->key_max = number();
    }
    else if (is(word, "cost")) {
        entry->cost = number();
    }
    else if (is(word, "queue")) {
        entry->queue_length = number();
    }
    else if (is(word, "target")) {
        entry->target_usec = duration();
    }
    else if (is(word, "child")) {
        *enters = child_of_word();
    }
    else if (is(word, "dry")) {
        entry->dry_run = true;
    }
    else {
        need(is(word, "high") || is(word, "low"), "no word: %s", word);
        entry->priority = is(word, "high") ? ADM_PRIORITY_HIGH : ADM_PRIORITY_LOW;
    }
}

static const char *name_of(adm_outcome_t outcome)
{
    return outcome == ADM_WAITING    ? "waits"
           : outcome == ADM_ADMITTED ? "in"
                                     : adm_outcome_name(outcome);
}

static void come(adm_child_t *enters, const adm_entry_t *entry, adm_ticket_t *ticket,
                 const char *verb)
{
    bool is_parked = is(verb, "parked");
    const char *expected = is_parked ? "waits" : verb, *name;

    *ticket = (adm_ticket_t){ 0 };
    name = name_of(adm_ticket_enter(enters, zone, entry, story_now, ticket));
    need(is(name, expected) || is(verb, "comes"), "%s", name);
    if (is_parked) {
        adm_ticket_park(ticket, (uint32_t)(ticket - requests));
    }
}

static void cancel(adm_ticket_t *ticket, const char *name)
{
    adm_outcome_t outcome = 0;

    while (outcome + 1 < ADM_OUTCOMES && !is(name, adm_outcome_name(outcome))) {
        outcome++;
    }
    need(adm_ticket_cancel(ticket, outcome, story_now) == outcome, "not cancelled");
}

static void act(adm_ticket_t *ticket, const char *verb)
{
    bool is_so = true;

    if (is(verb, "leaves")) {
        adm_ticket_release(ticket, story_now);
    }
    else if (is(verb, "begins") || is(verb, "lost")) {
        is_so = adm_ticket_begin(ticket, story_now) == is(verb, "begins");
    }
    else if (is(verb, "ends")) {
        is_so = adm_ticket_outcome(ticket, 0, story_now) == ADM_WAITED;
    }
    else if (is(verb, "kept")) {
        is_so = adm_ticket_cancel(ticket, ADM_TIMEOUT, story_now) == ADM_WAITED;
    }
    else if (is(verb, "parks")) {
        adm_ticket_park(ticket, (uint32_t)(ticket - requests));
    }
    else if (is(verb, "unparks")) {
        adm_ticket_unpark(ticket);
    }
    else if (is(verb, "blocks")) {
        is_so = adm_ticket_block(ticket, story_now) == ADM_WAITING;
    }
    else if (is(verb, "cannot")) {
        is_so = adm_ticket_block(ticket, story_now) == ADM_PARKING && !atomic_load(&ticket->held);
    }
    else {
        cancel(ticket, verb);
    }
    need(is_so, "not so");
}

static void follow(const char *letters)
{
    for (; letters[1] == '>'; letters += 2) {
        act(request(*letters), "leaves");
        need(adm_ticket_is_granted(request(letters[2])), "%c has no permit", letters[2]);
        act(request(letters[2]), "begins");
    }
}

static void take_request_step(const char *word)
{
    adm_entry_t entry = usual;
    adm_child_t *enters = child;
    const char *verb;

    for (; !isupper((unsigned char)*word); word = next()) {
        describe(&entry, &enters, word);
    }
    if (word[1] == '>') {
        follow(word);
        return;
    }
    for (verb = next(); *word; word++) {
        adm_ticket_t *ticket = request(*word);

        if (atomic_load(&ticket->held) || is(verb, "leaves")) {
            act(ticket, verb);
        }
        else {
            come(enters, &entry, ticket, verb);
        }
    }
}

static void describe_all(void)
{
    adm_child_t *enters = child;
    char *word;

    while ((word = strtok_r(NULL, " ", &rest))) {
        describe(&usual, &enters, word);
    }
}

static void serve(void)
{
    uint32_t count = number();
    adm_usec_t takes = duration();
    adm_ticket_t ticket;

    for (; count > 0; count--) {
        come(child, &usual, &ticket, "in");
        adm_ticket_release(&ticket, story_now += takes);
    }
}

/* @return false if it is another step. */
static bool take_short_step(const char *word)
{
    if (is(word, "flows")) {
        uses_flows = true;
        make_segment(8, 8, 256);
    }
    else if (is(word, "keys")) {
        uses_flows = is(next(), "on");
        load(figures_now(NULL).limit_configured);
    }
    else if (is(word, "limit")) {
        load(number());
    }
    else if (is(word, "length")) {
        usual.queue_length = queue_length = number();
        load(figures_now(NULL).limit_configured);
    }
    else if (is(word, "cap")) {
        set_worker_cap(number());
    }
    else if (is(word, "wait")) {
        story_now += duration();
    }
    else if (is(word, "clock")) {
        story_now = duration();
    }
    else if (is(word, "look")) {
        adm_lease_check(child_of_word(), zone, story_now);
    }
    else if (is(word, "round")) {
        adm_round(child, story_now, true);
    }
    else if (is(word, "no-room")) {
        adm_child_note_room(child_of_word(), false);
    }
    else if (is(word, "room")) {
        adm_child_note_room(child_of_word(), true);
    }
    else if (is(word, "may-block")) {
        adm_worker_limit_blocked(child, number());
    }
    else if (is(word, "lacks")) {
        adm_worker_note_lacking(child, number());
    }
    else if (is(word, "must-yield")) {
        compare("must-yield", adm_worker_claim_yield(child));
    }
    else if (is(word, "vacates")) {
        adm_worker_vacate(child);
    }
    else if (is(word, "takes")) {
        compare("takes", adm_worker_take(child, false));
    }
    else if (is(word, "accepts-no-more")) {
        adm_worker_accept_no_more(child);
    }
    else {
        return false;
    }
    return true;
}

/* ---- the story ----------------------------------------------------------------- */

static const struct {
    const char *word;
    void (*take)(void);
} steps[] = {
    { "zone", make_zone },    { "children", make_children },
    { "order", order },       { "has", has },
    { "rings", rings },       { "tells", tells },
    { "was", was },           { "all", describe_all },
    { "serve", serve },       { "budget", budget },
    { "occupies", occupies },
};

static void take_step(char *text)
{
    const char *word = strtok_r(text, " ", &rest);
    unsigned n;

    if (!word || take_short_step(word)) {
        return;
    }
    for (n = 0; n < COUNT(steps); n++) {
        if (is(word, steps[n].word)) {
            steps[n].take();
            return;
        }
    }
    if (*rest && strspn(rest, "0123456789") == strlen(rest)) {
        compare(word, shown(word));
    }
    else {
        take_request_step(word);
    }
}

/* What is counted twice agrees. */
static void check(void)
{
    adm_server_stats_t server;
    const char *wrong = is_loaded ? NULL : adm_check(segment);

    is_loaded = false;
    need(!wrong, "%s", wrong ? wrong : "");
    adm_view_server(segment, &server);
    need(server.workers_held == atomic_load(&segment->header->workers_held), "workers differ");
}

void tell(const char *format, ...)
{
    char text[LONGEST], *after, *word;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (word = strtok_r(text, ";", &after); word; word = strtok_r(NULL, ";", &after)) {
        snprintf(step, sizeof(step), "%s", word);
        take_step(word);
        check();
    }
}

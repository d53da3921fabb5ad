/* state.c - fuzz target: the file of AdmissionStateFile.
 *
 * The input is what somebody did to the file: any bytes, lines of ours, lines of any
 * text with a right checksum, cuts and changed bytes. Whatever is found in it has to be
 * what a line says, and no limit may leave the bounds.
 */
#include <string.h>

#include "auto/auto_file.h"
#include "fuzz.h"
#include "auto/law_tune.h"

enum { NAMES = 8, MOST_TEXT = 1 << 16, MOST_STEPS = 200, LONGEST_LINE = 2000 };

static const char *const names[NAMES] = { "www:/cgi-bin/", "a b",   "1", "b",
                                          "a b  c",        "\"q\"", " ", "\xe4\xf6" };

typedef struct story_t {
    char text[MOST_TEXT];
    size_t length;
    bool is_ours;   /* all lines are whole, and ours */
    bool is_forged; /* some are not ours, and have a right checksum */
    bool is_timely; /* read when it was written; else at this second */
    int64_t now;
    bool is_kept[NAMES];
    auto_saved_t kept[NAMES];
} story_t;

static void add(story_t *fuzz, const char *text, size_t length)
{
    if (length < MOST_TEXT - fuzz->length) {
        memcpy(fuzz->text + fuzz->length, text, length);
        fuzz->length += length;
    }
}

static void add_bytes(story_t *fuzz, input_t *input)
{
    size_t count = take_byte(input);
    char byte;

    while (count-- > 0) {
        byte = (char)take_byte(input);
        add(fuzz, &byte, 1);
    }
    fuzz->is_ours = false;
}

static void add_line(story_t *fuzz, input_t *input)
{
    size_t name = take_byte(input) % NAMES;
    auto_saved_t kept = { .limit = take_word(input),
                          .need_kb = take_word(input),
                          .largest_kb = take_word(input),
                          .at = (int64_t)(take_long(input) >> 1),
                          .memory_kb = take_long(input),
                          .cores = take_word(input) };
    char line[AUTO_FILE_LINE];
    size_t length = auto_file_line(line, names[name], &kept);

    MUST(length > 0 && length < AUTO_FILE_LINE);
    add(fuzz, line, length);
    fuzz->is_kept[name] = true;
    fuzz->kept[name] = kept;
}

/* Whoever can write the file can count, too. */
static void add_checked_bytes(story_t *fuzz, input_t *input)
{
    uint64_t check = UINT64_C(0xcbf29ce484222325);
    char line[LONGEST_LINE], fields[256];
    size_t n, count = take_byte(input);

    for (n = 0; n < count; n++) {
        fields[n] = (char)take_byte(input);
        check = (check ^ (unsigned char)fields[n]) * UINT64_C(0x100000001b3);
    }
    snprintf(line, sizeof(line), "zone %016llx ", (unsigned long long)check);
    add(fuzz, line, strlen(line));
    add(fuzz, fields, count);
    add(fuzz, "\n", 1);
    fuzz->is_ours = false;
    fuzz->is_forged = true;
}

static void spoil(story_t *fuzz, input_t *input)
{
    size_t at = take_word(input) % MOST_TEXT;

    if (at < fuzz->length) {
        fuzz->text[at] = (char)take_byte(input);
        fuzz->is_ours = false;
    }
}

static void cut(story_t *fuzz, input_t *input)
{
    size_t less = take_byte(input);

    fuzz->length -= less < fuzz->length ? less : fuzz->length;
    fuzz->is_ours = false;
}

static bool is_same(const auto_saved_t *one, const auto_saved_t *other)
{
    return one->limit == other->limit && one->need_kb == other->need_kb
           && one->largest_kb == other->largest_kb && one->at == other->at
           && one->memory_kb == other->memory_kb && one->cores == other->cores;
}

/* What is found can be written and is found again. */
static void write_again(const char *name, const auto_saved_t *kept)
{
    char line[AUTO_FILE_LINE];
    auto_saved_t again;

    MUST(auto_file_line(line, name, kept) > 0);
    MUST(auto_file_find(line, name, &again) && is_same(kept, &again));
}

/* The law goes on from it, as the agent has it do. */
static void use(const story_t *fuzz, auto_saved_t kept)
{
    const law_tune_rules_t rules = { 2, 40 };
    law_tune_sample_t sample = { .now_usec = 1000000000,
                                 .limit = 2,
                                 .cores = 2,
                                 .total_kb = 1 << 20,
                                 .available_kb = 1 << 20,
                                 .waited_permille = 1000 };
    int64_t now = fuzz->is_timely ? kept.at : fuzz->now;
    uint32_t limit = kept.limit, steps;
    law_tune_t tune;

    if (!auto_file_discard_useless(&kept, now, 1 << 20, 2)) {
        return;
    }
    MUST(kept.limit == 0 || kept.limit == limit);
    memset(&tune, 0, sizeof(tune));
    law_tune_remember(&tune, kept.limit < rules.max ? kept.limit : rules.max, kept.need_kb,
                      kept.largest_kb);
    for (steps = 0; steps < 20; steps++) {
        sample.now_usec += LAW_TUNE_SAMPLE_USEC;
        limit = law_tune(&tune, &rules, &sample);
        MUST(limit >= rules.min && limit <= rules.max);
        sample.active = sample.limit = limit;
    }
}

static void look(const story_t *fuzz, const char *text)
{
    auto_saved_t kept;
    size_t n;

    for (n = 0; n < NAMES; n++) {
        bool is_found = auto_file_find(text, names[n], &kept);

        MUST(!fuzz->is_ours || is_found == fuzz->is_kept[n]);
        MUST(!is_found || fuzz->is_kept[n] || fuzz->is_forged);
        if (is_found) {
            MUST(!fuzz->is_ours || is_same(&kept, &fuzz->kept[n]));
            write_again(names[n], &kept);
            use(fuzz, kept);
        }
    }
}

static void read_back(const story_t *fuzz)
{
    static char text[AUTO_FILE_ROOM];
    static FILE *file;

    file = file ? file : tmpfile();
    MUST(file && auto_file_write(fileno(file), fuzz->text, fuzz->length));
    auto_file_read(fileno(file), text);
    /* Text ends at the first 0. */
    MUST(strlen(text) == strnlen(fuzz->text, fuzz->length));
    look(fuzz, text);
    MUST(auto_file_write(fileno(file), fuzz->text, fuzz->length / 2));
    auto_file_read(fileno(file), text);
    MUST(strlen(text) == strnlen(fuzz->text, fuzz->length / 2));
}

void fuzz_state(const uint8_t *data, size_t size)
{
    input_t input = { data, data + size };
    story_t fuzz = { .is_ours = true };
    int steps;

    fuzz.is_timely = take_byte(&input) % 2;
    fuzz.now = (int64_t)(take_long(&input) >> 1);
    for (steps = 0; has_more(&input) && steps < MOST_STEPS; steps++) {
        switch (take_byte(&input) % 8) {
        case 0:
            add_bytes(&fuzz, &input);
            break;
        case 1:
            add_checked_bytes(&fuzz, &input);
            break;
        case 2:
            spoil(&fuzz, &input);
            break;
        case 3:
            cut(&fuzz, &input);
            break;
        default:
            add_line(&fuzz, &input);
            break;
        }
    }
    read_back(&fuzz);
}

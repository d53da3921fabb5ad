/* fuzz.h - what the fuzz targets share.
 *
 * A target is a function that makes of any bytes whatsoever a story, and aborts
 * when the story ends wrong. t/fuzz/run feeds it with what libFuzzer thinks of;
 * replay.c tells the stories of the corpus again in `make check`.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** The text of a configuration: sections and directives of the module. */
void fuzz_directives(const uint8_t *data, size_t size);

/** What the root parent does, on a segment that a child writes into. */
void fuzz_segment_parent(const uint8_t *data, size_t size);

/** What a child does, on a segment that another child writes into. */
void fuzz_segment_child(const uint8_t *data, size_t size);

/** The law of `auto`, on samples and a state of any bytes. */
void fuzz_tune(const uint8_t *data, size_t size);

/** The file of AdmissionStateFile, after anything was done to it. */
void fuzz_state(const uint8_t *data, size_t size);

/** The replies of a fleet's engine, as a stream. Not without hiredis. */
void fuzz_redis(const uint8_t *data, size_t size);

/** Bytes not used yet; zeros follow the last one. */
typedef struct input_t {
    const uint8_t *next;
    const uint8_t *end;
} input_t;

static inline bool has_more(const input_t *input)
{
    return input->next < input->end;
}

static inline uint8_t take_byte(input_t *input)
{
    return has_more(input) ? *input->next++ : 0;
}

static inline uint32_t take_word(input_t *input)
{
    uint32_t word = 0;
    int i;

    for (i = 0; i < 4; i++) {
        word = word << 8 | take_byte(input);
    }
    return word;
}

static inline uint64_t take_long(input_t *input)
{
    uint64_t high = take_word(input);

    return high << 32 | take_word(input);
}

/** It must be so, whatever the input. */
#define MUST(condition)                                                             \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

#endif

/* adm_words.h - a record that one process writes without a lock, and others copy.
 * Included by auto_shm and fleet_engine.
 *
 * The writer counts its sequence up to an odd number, stores, and counts up once more;
 * it stays odd if the writer is killed. What was copied is whole if the sequence was
 * even, and the same before and after.
 */
#ifndef ADM_WORDS_H
#define ADM_WORDS_H

#include <stdatomic.h>
#include <string.h>

/** Store @a bytes, whole words. */
static inline void adm_words_store(atomic_uint *words, const void *from,
                                   size_t bytes)
{
    size_t n;

    for (n = 0; n < bytes / sizeof(unsigned); n++) {
        unsigned word;

        memcpy(&word, (const char *)from + n * sizeof(word), sizeof(word));
        atomic_store_explicit(&words[n], word, memory_order_release);
    }
}

static inline void adm_words_load(const atomic_uint *words, void *to,
                                  size_t bytes)
{
    size_t n;

    for (n = 0; n < bytes / sizeof(unsigned); n++) {
        unsigned word = atomic_load_explicit(&words[n], memory_order_acquire);

        memcpy((char *)to + n * sizeof(word), &word, sizeof(word));
    }
}

#endif

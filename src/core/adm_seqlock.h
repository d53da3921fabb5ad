/* adm_seqlock.h - a sequence lock: one process writes a record, others copy it.
 * Included by auto_shm and fleet_shm.
 *
 * The writer increments its sequence to an odd number, stores, and increments
 * it again; if the writer is killed, the sequence stays odd. A copy is complete
 * if the sequence was even, and the same before and after.
 */
#ifndef ADM_WORDS_H
#define ADM_WORDS_H

#include <stdatomic.h>
#include <string.h>

/** Store @a bytes, a multiple of the word size. */
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

/** Load @a bytes. The caller compares the sequence before and after. */
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

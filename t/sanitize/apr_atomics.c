/* apr_atomics.c - APR's atomics once more, where ThreadSanitizer can see them.
 *
 * The event MPM hands connections and their pools from thread to thread through
 * lists without a lock. APR is built without the sanitizer, so that it takes
 * the next user of such a pool for a race with the last one. Loaded before
 * libapr, these take the place of the originals, with their meaning.
 */
#include <apr_atomic.h>

#define ORDER __ATOMIC_SEQ_CST

#define ATOMICS(bits)                                                                             \
    apr_uint##bits##_t apr_atomic_read##bits(volatile apr_uint##bits##_t *mem)                    \
    {                                                                                             \
        return __atomic_load_n(mem, ORDER);                                                       \
    }                                                                                             \
    void apr_atomic_set##bits(volatile apr_uint##bits##_t *mem, apr_uint##bits##_t value)         \
    {                                                                                             \
        __atomic_store_n(mem, value, ORDER);                                                      \
    }                                                                                             \
    apr_uint##bits##_t apr_atomic_add##bits(volatile apr_uint##bits##_t *mem,                     \
                                            apr_uint##bits##_t value)                             \
    {                                                                                             \
        return __atomic_fetch_add(mem, value, ORDER);                                             \
    }                                                                                             \
    void apr_atomic_sub##bits(volatile apr_uint##bits##_t *mem, apr_uint##bits##_t value)         \
    {                                                                                             \
        __atomic_fetch_sub(mem, value, ORDER);                                                    \
    }                                                                                             \
    apr_uint##bits##_t apr_atomic_inc##bits(volatile apr_uint##bits##_t *mem)                     \
    {                                                                                             \
        return __atomic_fetch_add(mem, 1, ORDER);                                                 \
    }                                                                                             \
    int apr_atomic_dec##bits(volatile apr_uint##bits##_t *mem)                                    \
    {                                                                                             \
        return __atomic_sub_fetch(mem, 1, ORDER) != 0;                                            \
    }                                                                                             \
    apr_uint##bits##_t apr_atomic_cas##bits(volatile apr_uint##bits##_t *mem,                     \
                                            apr_uint##bits##_t with, apr_uint##bits##_t expected) \
    {                                                                                             \
        __atomic_compare_exchange_n(mem, &expected, with, 0, ORDER, ORDER);                       \
        return expected;                                                                          \
    }                                                                                             \
    apr_uint##bits##_t apr_atomic_xchg##bits(volatile apr_uint##bits##_t *mem,                    \
                                             apr_uint##bits##_t value)                            \
    {                                                                                             \
        return __atomic_exchange_n(mem, value, ORDER);                                            \
    }

ATOMICS(32)
ATOMICS(64)

void *apr_atomic_casptr(volatile void **mem, void *with, const void *expected)
{
    volatile void *found = (volatile void *)expected;

    __atomic_compare_exchange_n(mem, &found, with, 0, ORDER, ORDER);
    return (void *)found;
}

void *apr_atomic_xchgptr(volatile void **mem, void *with)
{
    return (void *)__atomic_exchange_n(mem, (volatile void *)with, ORDER);
}

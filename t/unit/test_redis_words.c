/* test_redis_words.c - where somebody says that an engine is: anybody may say anything. */
#include <string.h>

#include "redis_words.h"
#include "test_support.h"

static const redis_place_t here = { "10.0.0.1", 6379, "redis.example" };

/* ---- MOVED -------------------------------------------------------------------- */

static const struct {
    const char *error;
    const char *host; /* NULL: no place */
    int port;
} moves[] = {
    { "MOVED 3999 127.0.0.1:6381", "127.0.0.1", 6381 },
    { "MOVED 0 10.1.2.3:1", "10.1.2.3", 1 },
    { "MOVED 16383 10.1.2.3:65535", "10.1.2.3", 65535 },
    { "MOVED 1 2001:db8::1:6379", "2001:db8::1", 6379 },
    { "MOVED 1 :6380", "10.0.0.1", 6380 },
    { "MOVED 1 10.1.2.3:0", NULL, 0 },
    { "MOVED 1 10.1.2.3:65536", NULL, 0 },
    { "MOVED 1 10.1.2.3:-1", NULL, 0 },
    { "MOVED 1 10.1.2.3:+6379", NULL, 0 },
    { "MOVED 1 10.1.2.3: 6379", NULL, 0 },
    { "MOVED 1 10.1.2.3:6379 ", NULL, 0 },
    { "MOVED 1 10.1.2.3:6379:", NULL, 0 },
    { "MOVED 1 10.1.2.3:18446744073709557995", NULL, 0 },
    { "MOVED 1 10.1.2.3", NULL, 0 },
    { "MOVED 1 10.1.2:6379", NULL, 0 },
    { "MOVED 1 example.org:6379", NULL, 0 },
    { "MOVED 1 ?:6379", NULL, 0 },
    { "MOVED 1  10.1.2.3:6379", NULL, 0 },
    { "MOVED 10.1.2.3:6379", NULL, 0 },
    { "MOVED 1", NULL, 0 },
    { "MOVED ", NULL, 0 },
    { "MOVED : :", NULL, 0 },
    { "MOVED 1 :", NULL, 0 },
};

START_TEST(a_node_says_where_a_key_is)
{
    redis_place_t place;

    ck_assert(redis_words_moved(moves[_i].error, &here, &place));
    ck_assert_msg(place.port == moves[_i].port, "%s: port %d", moves[_i].error,
                  place.port);
    if (moves[_i].host) {
        ck_assert_str_eq(place.host, moves[_i].host);
    }
}
END_TEST

START_TEST(a_node_without_a_name_has_that_of_the_one_who_says_so)
{
    redis_place_t place;

    ck_assert(redis_words_moved("MOVED 1 :6380", &here, &place));
    ck_assert_str_eq(place.name, "redis.example");
    ck_assert(redis_words_moved("MOVED 1 10.1.2.3:6380", &here, &place));
    ck_assert_str_eq(place.name, "10.1.2.3");
}
END_TEST

START_TEST(other_errors_say_of_no_place)
{
    static const char *const errors[] = { "", "MOVED", "moved 1 10.1.2.3:1",
                                          "ASK 1 10.1.2.3:6379",
                                          "ERR MOVED 1 10.1.2.3:6379" };
    redis_place_t place;
    size_t n;

    for (n = 0; n < sizeof(errors) / sizeof(*errors); n++) {
        ck_assert_msg(!redis_words_moved(errors[n], &here, &place), "%s",
                      errors[n]);
    }
}
END_TEST

START_TEST(errors_of_one_key_are_known)
{
    static const char *const of_one[] = {
        "ASK 1 10.1.2.3:6379",
        "TRYAGAIN Multiple keys request",
        "CLUSTERDOWN Hash slot not served",
        "WRONGTYPE Operation against a key, on @user_script:33.",
        "ERR Error running script: @user_script: 33: -WRONGTYPE Operation",
        "ERR user_script:37: Expected value but found invalid token"
    };
    static const char *const of_all[] = {
        "",
        "ASK",
        "CLUSTERDOWN The cluster is down",
        "NOSCRIPT No matching",
        "READONLY You can't write, on @user_script:61.",
        "OOM command not allowed, on @user_script:61.",
        "LOADING",
        "NOAUTH"
    };
    size_t n;

    for (n = 0; n < sizeof(of_one) / sizeof(*of_one); n++) {
        ck_assert_msg(redis_words_refused(of_one[n]), "%s", of_one[n]);
    }
    for (n = 0; n < sizeof(of_all) / sizeof(*of_all); n++) {
        ck_assert_msg(!redis_words_refused(of_all[n]), "%s", of_all[n]);
    }
}
END_TEST

START_TEST(a_text_without_an_end_is_no_place)
{
    char text[1000] = "MOVED 1 ";
    redis_place_t place;

    memset(text + 8, '1', sizeof(text) - 9);
    text[sizeof(text) - 1] = '\0';
    ck_assert(redis_words_moved(text, &here, &place));
    ck_assert_int_eq(place.port, 0);
    text[500] = ':';
    ck_assert(redis_words_moved(text, &here, &place));
    ck_assert_int_eq(place.port, 0);
    memcpy(text, "MOVED 1 10.1.2.3:6379 ", 22);
    ck_assert(redis_words_moved(text, &here, &place));
    ck_assert_int_eq(place.port, 0);
}
END_TEST

/* Each change of a few characters is refused or yields a whole place. */
START_TEST(changed_texts_are_refused_or_are_places)
{
    uint64_t random = 1;
    redis_place_t place, again;
    char text[64], port[8];
    int round, n;

    for (round = 0; round < 200000; round++) {
        memset(text, 0, sizeof(text));
        snprintf(text, sizeof(text), "%s",
                 moves[round % (int)(sizeof(moves) / sizeof(*moves))].error);
        for (n = 0; n < 1 + round % 3; n++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            text[6 + (random >> 40) % (strlen(text) - 5)] =
                ":0123456789 .-\377"[(random >> 50) % 15];
        }
        memset(&place, 'x', sizeof(place));
        ck_assert(redis_words_moved(text, &here, &place));
        if (place.port != 0) {
            snprintf(port, sizeof(port), "%d", place.port);
            ck_assert_msg(redis_place_read(place.host, port, &again)
                              && redis_place_is_same(&place, &again),
                          "%s", text);
            ck_assert_uint_lt(strlen(place.name), REDIS_PLACE_NAME);
        }
    }
}
END_TEST

/* ---- Sentinels ------------------------------------------------------------------ */

static const struct {
    const char *answer;
    const char *why; /* NULL: it is 10.0.0.7:6379 */
} masters[] = {
    { "*2\r\n$8\r\n10.0.0.7\r\n$4\r\n6379\r\n", NULL },
    { "*-1\r\n", "knows no master" },
    { "$-1\r\n", "knows no master" },
    { "-NOAUTH Authentication required.\r\n", "NOAUTH" },
    { "+OK\r\n", "something else" },
    { ":6379\r\n", "something else" },
    { "*0\r\n", "something else" },
    { "*1\r\n$8\r\n10.0.0.7\r\n", "something else" },
    { "*3\r\n$8\r\n10.0.0.7\r\n$4\r\n6379\r\n$1\r\nx\r\n", "something else" },
    { "*2\r\n$8\r\n10.0.0.7\r\n:6379\r\n", "something else" },
    { "*2\r\n*0\r\n*0\r\n", "something else" },
    { "*2\r\n$-1\r\n$-1\r\n", "something else" },
    { "*2\r\n$7\r\nexample\r\n$4\r\n6379\r\n", "address in numbers" },
    { "*2\r\n$0\r\n\r\n$4\r\n6379\r\n", "address in numbers" },
    { "*2\r\n$8\r\n10.0.0.7\r\n$1\r\n0\r\n", "address in numbers" },
    { "*2\r\n$8\r\n10.0.0.7\r\n$5\r\n65536\r\n", "address in numbers" },
    { "*2\r\n$8\r\n10.0.0.7\r\n$5\r\n-6379\r\n", "address in numbers" },
    { "*2\r\n$8\r\n10.0.0.7\r\n$0\r\n\r\n", "address in numbers" },
};

START_TEST(a_sentinel_says_where_a_master_is)
{
    const char *answer = masters[_i].answer, *why;
    redisReader *reader = redisReaderCreate();
    redis_place_t place = { .port = 0 };
    void *reply = NULL;

    ck_assert_int_eq(redisReaderFeed(reader, answer, strlen(answer)), REDIS_OK);
    ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
    ck_assert_ptr_nonnull(reply);
    why = redis_words_master(reply, &place);
    if (masters[_i].why) {
        ck_assert_msg(why && strstr(why, masters[_i].why), "%s: %s", answer,
                      why ? why : "taken");
    }
    else {
        ck_assert_msg(!why, "%s: %s", answer, why);
        ck_assert_str_eq(place.host, "10.0.0.7");
        ck_assert_int_eq(place.port, 6379);
    }
    freeReplyObject(reply);
    redisReaderFree(reader);
}
END_TEST

static void add_stories(TCase *stories)
{
    tcase_add_loop_test(stories, a_node_says_where_a_key_is, 0,
                        (int)(sizeof(moves) / sizeof(*moves)));
    tcase_add_test(stories,
                   a_node_without_a_name_has_that_of_the_one_who_says_so);
    tcase_add_test(stories, other_errors_say_of_no_place);
    tcase_add_test(stories, errors_of_one_key_are_known);
    tcase_add_test(stories, a_text_without_an_end_is_no_place);
    tcase_add_test(stories, changed_texts_are_refused_or_are_places);
    tcase_add_loop_test(stories, a_sentinel_says_where_a_master_is, 0,
                        (int)(sizeof(masters) / sizeof(*masters)));
}

int main(void)
{
    return run_stories("redis_words", add_stories);
}

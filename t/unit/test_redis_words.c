/* test_redis_words.c - replies of Redis and of a Sentinel, which can contain anything. */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fleet/redis_sentinel.h"
#include "test_support.h"

static const struct {
    const char *text;
    bool is_of_key;
} errors[] = {
    { "WRONGTYPE Operation against a key, on @user_script:33.", true },
    { "ERR Error running script: @user_script: 33: -WRONGTYPE Operation", true },
    { "ERR user_script:37: Expected value but found invalid token", true },
    { "", false },
    { "ASK 1 10.1.2.3:6379", false },
    { "CLUSTERDOWN Hash slot not served", false },
    { "NOSCRIPT No matching", false },
    { "READONLY You can't write, on @user_script:61.", false },
    { "OOM command not allowed, on @user_script:61.", false },
    { "LOADING", false },
    { "NOAUTH", false },
};

TESTS(errors_of_one_key_are_known, 0, COUNT(errors))
{
    ck_assert_msg(redis_words_is_key_error(errors[_i].text) == errors[_i].is_of_key, "%s",
                  errors[_i].text);
}

TEST(a_run_has_at_least_8_digits_and_fits)
{
    char run[9] = "", text[] = "run_id:0123456789";
    redisReply info = { .type = REDIS_REPLY_STRING, .str = text };

    ck_assert_ptr_nonnull(redis_words_read_run(&info, run, sizeof(run)));
    text[7 + 9] = '\0';
    ck_assert_ptr_nonnull(redis_words_read_run(&info, run, sizeof(run)));
    text[7 + 8] = '\0';
    ck_assert_ptr_null(redis_words_read_run(&info, run, sizeof(run)));
    ck_assert_str_eq(run, "01234567");
    text[7 + 7] = '\0';
    ck_assert_ptr_nonnull(redis_words_read_run(&info, run, sizeof(run)));
}

/* ---- Sentinels ------------------------------------------------------------------ */

static const struct {
    const char *answer;
    const char *why; /* NULL: it is 10.0.0.7:6379 */
} masters[] = {
    { "*2\r\n$8\r\n10.0.0.7\r\n$4\r\n6379\r\n", NULL },
    { "*-1\r\n", "has no master" },
    { "$-1\r\n", "has no master" },
    { "-NOAUTH Authentication required.\r\n", "NOAUTH" },
    { "+OK\r\n", "unexpected reply" },
    { ":6379\r\n", "unexpected reply" },
    { "*0\r\n", "unexpected reply" },
    { "*1\r\n$8\r\n10.0.0.7\r\n", "unexpected reply" },
    { "*3\r\n$8\r\n10.0.0.7\r\n$4\r\n6379\r\n$1\r\nx\r\n", "unexpected reply" },
    { "*2\r\n$8\r\n10.0.0.7\r\n:6379\r\n", "unexpected reply" },
    { "*2\r\n*0\r\n*0\r\n", "unexpected reply" },
    { "*2\r\n$-1\r\n$-1\r\n", "unexpected reply" },
    { "*2\r\n$7\r\nexample\r\n$4\r\n6379\r\n", "numeric address" },
    { "*2\r\n$0\r\n\r\n$4\r\n6379\r\n", "numeric address" },
    { "*2\r\n$8\r\n10.0.0.7\r\n$1\r\n0\r\n", "numeric address" },
    { "*2\r\n$8\r\n10.0.0.7\r\n$5\r\n65536\r\n", "numeric address" },
    { "*2\r\n$8\r\n10.0.0.7\r\n$5\r\n-6379\r\n", "numeric address" },
    { "*2\r\n$8\r\n10.0.0.7\r\n$0\r\n\r\n", "numeric address" },
};

TESTS(a_sentinel_returns_the_address_of_a_master, 0, COUNT(masters))
{
    const char *answer = masters[_i].answer, *why;
    redisReader *reader = redisReaderCreate();
    redis_place_t place = { .port = 0 };
    void *reply = NULL;

    ck_assert_int_eq(redisReaderFeed(reader, answer, strlen(answer)), REDIS_OK);
    ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
    ck_assert_ptr_nonnull(reply);
    why = redis_words_read_master(reply, &place);
    if (masters[_i].why) {
        ck_assert_msg(why && strstr(why, masters[_i].why), "%s: %s", answer, why ? why : "taken");
    }
    else {
        ck_assert_msg(!why, "%s: %s", answer, why);
        ck_assert_str_eq(place.host, "10.0.0.7");
        ck_assert_int_eq(place.port, 6379);
    }
    freeReplyObject(reply);
    redisReaderFree(reader);
}

/* Its connections succeed, and no process accepts them. */
TEST(a_sentinel_that_does_not_answer_in_time_is_skipped)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    const engine_address_t address = {
        .path = to.sun_path, .count = 2, .sentinel = "m", .timeout_usec = 500
    };
    redis_sentinel_t sentinel = { .next = 0 };
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int64_t time;

    make_folder();
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", path_in_folder("silent"));
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&to, sizeof(to)), 0);
    ck_assert_int_eq(listen(listener, 9), 0);
    for (time = 0; time < 1000; time += 499) {
        ck_assert_int_eq(redis_sentinel_ask(&sentinel, &address, time), REDIS_SENTINEL_ASKING);
        ck_assert_int_eq(sentinel.next, time > 499);
    }
    ck_assert_int_eq(redis_sentinel_ask(&sentinel, &address, 1498), REDIS_SENTINEL_FAILED);
    ck_assert_ptr_nonnull(strstr(sentinel.why, "it does not answer in time"));
}

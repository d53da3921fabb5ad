/* broken.pml - broken(RULE) is 1 with -DBREAK_RULE, 0 without: for expressions of all
 * models.
 */
#define broken(rule) is_1(BREAK_##rule)
#define is_1(value) is_1_now(value)
#define is_1_now(value) is_second(ZERO_AND_##value)
#define ZERO_AND_1 0,
#define is_second(zero_and) second_of(zero_and 1, 0, 0)
#define second_of(first, second, ...) second

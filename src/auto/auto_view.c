/* auto_view.c - the reason for an automatic limit as a sentence. */
#include <stdio.h>

#include "auto_view.h"

#define print(text, ...) snprintf(text, AUTO_SENTENCE, __VA_ARGS__)

typedef unsigned long long number_t;

void auto_sentence(const law_tune_shown_t *shown, uint32_t limit,
                   char text[AUTO_SENTENCE])
{
    switch (shown->reason) {
    case LAW_TUNE_MEMORY:
        print(text,
              "%u programs of %llu MB fit into %llu MB of memory (the largest "
              "program had %llu MB)",
              shown->memory_cap, (number_t)shown->program_mb,
              (number_t)shown->budget_mb, (number_t)shown->largest_mb);
        break;
    case LAW_TUNE_PROCESSORS:
        print(text,
              "the CPUs are busy (%u %%): more programs would only wait for "
              "them",
              shown->busy_permille / 10);
        break;
    case LAW_TUNE_THROUGHPUT:
        print(text,
              "%u serve %llu.%llu requests per second, and more programs would "
              "not serve more: they wait for something else%s",
              limit, (number_t)shown->requests_1000s / 1000,
              (number_t)shown->requests_1000s / 100 % 10,
              shown->program_mb ? "" : "; their memory is not known");
        break;
    case LAW_TUNE_IDLE:
        print(text, "no request waits, so %u is not tested further", limit);
        break;
    case LAW_TUNE_NEW:
        print(text, "a program is larger than any before and still grows: no "
                    "other program starts until its size is known");
        break;
    case LAW_TUNE_BRAKE:
        print(text, "memory ran out, and processes stalled");
        break;
    case LAW_TUNE_BOUNDS:
        print(text, "%u is the configured minimum or maximum", limit);
        break;
    case LAW_TUNE_ESTIMATE:
        print(text,
              "an estimate, because a dry run limits nothing: %u would "
              "serve as much",
              limit);
        break;
    case LAW_TUNE_START:
        print(text, "it grows while a higher limit serves more requests");
        break;
    case LAW_TUNE_SILENT:
        print(text,
              "the agent has not updated it for 3 s or more, so it is at "
              "most the number of programs that certainly fit into memory");
        break;
    default:
        print(text, "nothing has been measured yet");
        break;
    }
}

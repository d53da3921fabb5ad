/* test_traced.h - a process that is stopped after each of its stores. */
#ifndef TEST_TRACED_H
#define TEST_TRACED_H

#include "../unit/test_support.h"

/** @return whether tracing is possible; else it says that it is not. */
bool can_trace(void);

/** Play the story of a victim, traced, in a process of its own. */
pid_t start_traced(story_t victim);

/** Let it run up to where it would arm. */
void reach_steps(pid_t pid);

/** Step until the segment has changed @a changes times. @return false if the
 *  story ended before. */
bool steps_to_change(pid_t pid, unsigned changes);

/** Let it go on to the end of its story. @return its exit code. */
int end_of_steps(pid_t pid);

/** Step to the end of the story, and keep the segment as it is before the first
 *  step and after each change. @return the number of changes. */
unsigned record_changes(pid_t pid);

/** Make the segment what a kill after @a change of the last recording, of which the
 *  process has ended, would leave; 0: before the first. */
void bring_back_change(unsigned change);

/** What is only shown of a zone need not be complete after a kill, but contradicts
 *  nothing: histograms have no more in their buckets than they count, a history ends
 *  with now, and no number of rejections is below nothing. */
void assert_shown_is_possible(adm_child_t *looker, adm_zone_t zone, const char *scene,
                              unsigned change);

#endif

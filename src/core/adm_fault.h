/* adm_fault.h - named points where tests kill or stop the process.
 * Used by all of src; armed by t/crash.
 *
 * Empty unless compiled with ADM_FAULTS, as only the test library is. There is
 * a point wherever a kill would leave something to repair; the crash table of
 * docs/dev/shared-memory.md has a line for each.
 */
#ifndef ADM_FAULT_H
#define ADM_FAULT_H

/* clang-format off */
#define ADM_FAULT_POINTS(point) \
    point(enter_locked) point(enter_filled) point(enter_stored) \
    point(enter_unlocked) point(wait_sleeping) point(grant_stored) \
    point(grant_unlocked) point(leave_stored) point(leave_unlinked) \
    point(cancel_stored) point(chunk_claimed) point(rebuild_begun) \
    point(rebuild_counted) point(reap_freed) point(reap_orphaned) \
    point(reap_done) point(orphan_freed) point(child_claimed) point(left_noted) \
    point(left_taken) point(begin_stored) \
    point(pass_marked) point(pass_stored) point(grant_settled) \
    point(guard_wanted) \
    point(program_forked) point(program_noted) point(agent_beat) \
    point(override_limit) point(override_stored) point(auto_begun) \
    point(auto_written) point(auto_set) point(spool_taken) \
    point(fleet_lowered) point(fleet_promised) point(fleet_set) \
    point(fleet_leased) point(watch_set) point(watch_taken) point(engine_who) point(ask_filled) \
    point(flow_linked) point(flow_unlinked) point(flows_forgotten) \
    point(setup_applied) point(who_sent)
/* clang-format on */

typedef enum adm_fault_t {
    ADM_FAULT_none,
#define ADM_FAULT_ENUM(name) ADM_FAULT_##name,
    ADM_FAULT_POINTS(ADM_FAULT_ENUM)
#undef ADM_FAULT_ENUM
        ADM_FAULT_end
} adm_fault_t;

#ifdef ADM_FAULTS

/** Make this process kill itself when it reaches @a point for the @a nth time
 *  (1: the first). */
void adm_fault_arm(adm_fault_t point, unsigned nth);

/** The same, but the process stops there, and continues on SIGCONT. */
void adm_fault_arm_stop(adm_fault_t point, unsigned nth);

const char *adm_fault_name(adm_fault_t point);

void adm_fault_reach(adm_fault_t point);

#define ADM_FAULT(name) adm_fault_reach(ADM_FAULT_##name)

#else

#define ADM_FAULT(name) ((void)0)

#endif

#endif

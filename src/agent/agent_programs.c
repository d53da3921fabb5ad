/* agent_programs.c - how much memory the programs of a zone have.
 * Called by agent_tune.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent_programs.h"

void agent_programs_begin(agent_programs_t *programs, bool has_costs,
                          apr_pool_t *pool)
{
    size_t bytes = AGENT_PROGRAMS_MOST * sizeof(*programs->list);

    programs->list = apr_palloc(pool, bytes);
    programs->spare = apr_palloc(pool, bytes);
    programs->count = programs->seen = 0;
    programs->told = 0;
    programs->has_costs = has_costs;
}

/* "size resident ...", in pages. */
static uint32_t rss_kb(const agent_file_t *size)
{
    static uint64_t page_kb;
    char *rest;
    uint64_t kb;

    if (page_kb == 0) {
        page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
    }
    strtoull(agent_file_line(size), &rest, 10);
    kb = strtoull(rest, NULL, 10) * page_kb;
    return kb < UINT32_MAX ? (uint32_t)kb : UINT32_MAX;
}

static agent_program_t begin(const char *root, const adm_auto_program_t *is)
{
    agent_program_t program = { .is = *is, .peak_kb = 0 };
    char path[64];

    snprintf(path, sizeof(path), "/proc/%u/statm",
             adm_program_pid(is->program));
    agent_file_open(&program.size, root, path);
    return program;
}

static uint32_t cost_of(const agent_programs_t *programs,
                        const adm_auto_program_t *program)
{
    return programs->has_costs && program->cost > 0 ? program->cost : 1;
}

static void count(const agent_program_t *program, uint32_t cost,
                  agent_ended_t *ended)
{
    uint32_t part = program->peak_kb / cost;

    ended->count += cost;
    ended->peak_kb += program->peak_kb;
    ended->peak_square_kb2 += (uint64_t)part * part * cost;
    if (part > ended->peak_largest_kb) {
        ended->peak_largest_kb = part;
    }
}

/* It is not there any more. */
static void end(agent_programs_t *programs, agent_program_t *program,
                agent_ended_t *ended)
{
    agent_file_close(&program->size);
    if (programs->told > 0 && !programs->has_costs) {
        programs->told--;
        return;
    }
    if (program->peak_kb > 0) {
        count(program, cost_of(programs, &program->is), ended);
    }
}

/* The new list from the old one: both are sorted by ticket. */
static uint32_t merge(agent_programs_t *programs, const char *root,
                      const adm_auto_program_t *now, uint32_t count,
                      agent_ended_t *ended)
{
    agent_program_t *before = programs->list;
    agent_program_t *all_before = before + programs->count;
    uint32_t n;

    for (n = 0; n < count; n++) {
        while (before < all_before
               && before->is.ticket_idx < now[n].ticket_idx) {
            end(programs, before++, ended);
        }
        if (before < all_before && before->is.ticket_idx == now[n].ticket_idx
            && before->is.program == now[n].program) {
            programs->spare[n] = *before++;
        }
        else {
            /* Another program of the same ticket ends in its turn. */
            programs->spare[n] = begin(root, &now[n]);
        }
    }
    while (before < all_before) {
        end(programs, before++, ended);
    }
    return count;
}

static void measure(agent_programs_t *programs)
{
    uint32_t n, kb, cost, part;

    programs->seen = 0;
    for (n = 0; n < programs->count; n++) {
        agent_program_t *program = &programs->list[n];

        kb = rss_kb(&program->size);
        if (kb > program->peak_kb) {
            program->peak_kb = kb;
        }
        cost = kb > 0 ? cost_of(programs, &program->is) : 0;
        for (part = 0; part < cost && programs->seen < AGENT_PROGRAMS_MOST;
             part++) {
            programs->rss_kb[programs->seen++] = kb / cost;
        }
    }
}

void agent_programs_look(agent_programs_t *programs, const char *root,
                         const adm_auto_program_t *now, uint32_t count,
                         uint64_t told, agent_ended_t *ended)
{
    agent_program_t *before = programs->list;

    memset(ended, 0, sizeof(*ended));
    programs->told = told;
    if (count > AGENT_PROGRAMS_MOST) {
        count = AGENT_PROGRAMS_MOST;
    }
    programs->count = merge(programs, root, now, count, ended);
    programs->list = programs->spare;
    programs->spare = before;
    measure(programs);
}

/* auto_programs.c - sample the resource usage of running programs.
 *
 * If no process is notified of a program's end, its last sample is the final
 * value, so running programs are sampled four times per second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/adm_account.h"
#include "auto_procfile.h"
#include "auto_programs.h"

/* /proc/PID/statm of the program that a ticket had at the last sample. */
typedef struct size_file_t {
    uint64_t program; /* adm_program_word(); 0: none yet */
    auto_procfile_t file;
} size_file_t;

static struct {
    adm_segment_t *segment;
    const char *root;
    size_file_t *files; /* one per ticket; unused pages take no memory */
    uint32_t cursor;
    adm_usec_t next; /* sample is due */
    unsigned calls;
} sampler;

void auto_programs_begin(adm_child_t *self, const char *root)
{
    free(sampler.files);
    sampler.segment = self->segment;
    sampler.root = root;
    sampler.files = calloc(sampler.segment->sizes.tickets,
                           sizeof(*sampler.files));
    sampler.cursor = 0;
    sampler.next = 0;
    sampler.calls = 0;
}

/* @return the resident size in KiB; 0 if the program has exited or is
 * invisible. The file has "size resident ...", in pages. */
static uint64_t size_of(const auto_procfile_t *file)
{
    static uint64_t page_kb;
    char *rest;

    if (page_kb == 0) {
        page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
    }
    strtoull(auto_procfile_line(file), &rest, 10);
    return strtoull(rest, NULL, 10) * page_kb;
}

/* Sample the memory of a program. @return whether that suffices, because the
 * program was sampled before. A new program needs a sample of everything. */
static bool sample_size(uint32_t idx, uint64_t program)
{
    size_file_t *its = sampler.files ? &sampler.files[idx - 1] : NULL;
    uint64_t size_kb;
    char path[64];

    if (!its) {
        return false;
    }
    if (its->program != program) {
        if (its->program != 0) {
            auto_procfile_close(&its->file);
        }
        snprintf(path, sizeof(path), "/proc/%u/statm",
                 adm_program_pid(program));
        auto_procfile_open(&its->file, sampler.root, path);
        its->program = program;
    }
    size_kb = size_of(&its->file);
    if (size_kb == 0) {
        auto_procfile_close(&its->file);
    }
    return adm_account_note_size(sampler.segment, idx, program, size_kb);
}

/* Sample the program of a ticket. @return whether it has one. */
static bool sample(uint32_t idx, bool is_size_enough)
{
    const adm_ticket_rec_t *rec = adm_ticket_at(sampler.segment, idx);
    uint64_t program = adm_account_program(rec);
    adm_proc_usage_t usage;

    if (program == 0) {
        return false;
    }
    if (!(is_size_enough && sample_size(idx, program))
        && adm_proc_current_usage(sampler.root, (pid_t)adm_program_pid(program),
                                  atomic_load(&rec->program_seen), &usage)) {
        adm_account_note(sampler.segment, idx, program, &usage);
    }
    return true;
}

void auto_programs_sample_sizes(adm_zone_t zone)
{
    uint32_t end = adm_chunks_used(sampler.segment);
    uint32_t chunk = 0, first, n;

    while ((first = adm_chunk_next(sampler.segment, zone.idx, &chunk, end))) {
        for (n = 0; n < ADM_CHUNK_TICKETS; n++) {
            sample(first + n, true);
        }
    }
}

/* @return whether no request runs in the chunk's zone, so it has no programs. */
static bool is_idle(uint32_t chunk)
{
    const adm_zone_rec_t *zone =
        adm_zone_at(sampler.segment,
                    atomic_load(&sampler.segment->chunk_recs[chunk].zone_idx));

    return !zone || atomic_load(&zone->active) == 0;
}

bool auto_programs_sample(uint32_t most)
{
    uint32_t tickets = adm_chunks_used(sampler.segment) * ADM_CHUNK_TICKETS;
    uint32_t seen, count = 0;

    for (seen = 0; seen < tickets && count < most; seen++) {
        uint32_t at = sampler.cursor++ % tickets;

        if (at % ADM_CHUNK_TICKETS == 0 && is_idle(at / ADM_CHUNK_TICKETS)) {
            sampler.cursor += ADM_CHUNK_TICKETS - 1;
            seen += ADM_CHUNK_TICKETS - 1;
            continue;
        }
        count += sample(at + 1, false);
    }
    return count > 0;
}

/* ---- in turn -------------------------------------------------------------- */

#define BUSY_USEC (ADM_USEC_PER_SEC / 4)
#define IDLE_USEC ADM_USEC_PER_SEC

/* Programs sampled per call, some 40 us each. */
#define PROGRAMS_MOST 32

/* Calls after which the limits of cgroups are read again. */
#define CALLS_SLOW 30

static uint64_t available_kb(auto_sense_t *sense)
{
    bool is_slow = sampler.calls++ % CALLS_SLOW == 0;
    uint64_t kb = auto_sense_available_kb(sense, is_slow);

    return kb < UINT32_MAX ? kb : 0; /* 0: unknown */
}

adm_usec_t auto_programs_run(adm_child_t *self, auto_sense_t *sense,
                             adm_usec_t now)
{
    if (now >= sampler.next) {
        sampler.next = now
                       + (auto_programs_sample(PROGRAMS_MOST) ? BUSY_USEC
                                                              : IDLE_USEC);
        adm_account_note_available(self, available_kb(sense));
    }
    return sampler.next;
}

/* auto_sense.c - memory and CPU usage of the machine, or of the cgroup. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auto_sense.h"
#include "core/adm_number.h"

/* More pages than this, swapped out between two samples, count as a stall. */
#define SWAPPED_PAGES 64

/* @return the growth of a counter; 0 if it went back. */
static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* ---- CPUs --------------------------------------------------------------------------- */

/* Add the times of a line "user nice system idle iowait irq softirq steal".
 * Niced processes yield to httpd, so they count as idle. */
static void add_ticks(const char *line, uint64_t *busy, uint64_t *all)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, KINDS = 8 };
    uint64_t ticks;
    char *rest;
    int kind;

    for (kind = 0; kind < KINDS; kind++) {
        ticks = strtoull(line, &rest, 10);
        line = rest;
        *all += ticks;
        if (kind != NICE && kind != IDLE && kind != IOWAIT) {
            *busy += ticks;
        }
    }
}

/* Add up the times of the CPUs that httpd can use. @return their number. */
static uint32_t read_ticks(const auto_sense_t *sense, uint64_t *busy,
                           uint64_t *all)
{
    static cpu_set_t allowed[4]; /* of 1,024 CPUs each */
    bool is_known = sched_getaffinity(0, sizeof(allowed), allowed) == 0;
    const char *line = auto_procfile_text(&sense->stat);
    uint32_t count = 0;
    char *rest;

    *busy = *all = 0;
    while (strncmp(line, "cpu", 3) == 0) {
        bool has_number = adm_is_digit(line[3]);
        unsigned long number = strtoul(line + 3, &rest, 10);

        /* The first line, without a number, is the sum. */
        if (has_number
            && (!is_known || CPU_ISSET_S(number, sizeof(allowed), allowed))) {
            count++;
            add_ticks(rest, busy, all);
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : "";
    }
    return count;
}

/* Apply a CPU quota that is lower than the machine's CPUs. */
static void apply_quota(auto_sense_t *sense, uint64_t own_usec, uint64_t usec)
{
    uint64_t quota = auto_group_quota_permille(&sense->group);
    auto_seen_t *seen = &sense->seen;
    uint32_t used;

    if (quota != AUTO_GROUP_NONE && quota < (uint64_t)seen->cores * 1000) {
        /* The machine or the quota, whichever is busier. */
        used = adm_permille(own_usec * 1000, quota * usec);
        seen->cores = (uint32_t)((quota + 999) / 1000);
        seen->own_permille = used;
        if (used > seen->busy_permille) {
            seen->busy_permille = used;
        }
    }
}

/* Measure the CPUs over the last @a usec microseconds. */
static void sample_cpus(auto_sense_t *sense, uint64_t usec)
{
    auto_seen_t *seen = &sense->seen;
    uint64_t own = auto_group_cpu_usec(&sense->group);
    uint64_t busy, all, taken = 0;

    seen->cores = read_ticks(sense, &busy, &all);
    if (seen->cores == 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);

        seen->cores = online > 0 ? (uint32_t)online : 1;
    }
    seen->busy_permille = adm_permille(since(busy, sense->busy_ticks),
                                       since(all, sense->all_ticks));
    seen->own_permille = seen->busy_permille;
    if (own != AUTO_GROUP_NONE) {
        taken = since(own, sense->own_usec);
        sense->own_usec = own;
        seen->own_permille = adm_permille(taken, seen->cores * usec);
        apply_quota(sense, taken, usec);
        if (seen->own_permille > seen->busy_permille) {
            seen->own_permille = seen->busy_permille;
        }
    }
    sense->busy_ticks = busy;
    sense->all_ticks = all;
}

/* ---- memory ------------------------------------------------------------------------- */

/* Sample the machine's memory, or the cgroup's if that is lower. */
static void sample_memory(auto_sense_t *sense)
{
    auto_seen_t *seen = &sense->seen;
    const char *text = auto_procfile_text(&sense->memory);
    uint64_t total = 0, available = AUTO_GROUP_NONE;
    uint64_t limit = auto_group_limit_kb(&sense->group);
    uint64_t left;

    auto_procfile_number(text, "MemTotal", &total);
    auto_procfile_number(text, "MemAvailable", &available);
    left = auto_group_available_kb(&sense->group);
    seen->available_kb = left < available ? left : available;
    seen->total_kb = limit < total || total == 0 ? limit : total;
    if (seen->available_kb == AUTO_GROUP_NONE
        || seen->total_kb == AUTO_GROUP_NONE) {
        /* Unknown: only stalls can show that memory is short. */
        seen->available_kb = seen->total_kb = UINT32_MAX;
    }
}

/* Parse "some avg10=0.00 avg60=0.00 avg300=0.00 total=123", in microseconds. */
static bool read_pressure(const auto_procfile_t *file, uint64_t *stalled)
{
    const char *line = auto_procfile_line(file),
               *total = strstr(line, "total=");

    if (!total || strncmp(line, "some", 4) != 0) {
        return false;
    }
    *stalled = strtoull(total + 6, NULL, 10);
    return true;
}

/* @return the file with the stalls of this cgroup, or else of the machine. */
static const auto_procfile_t *pressure_of(const auto_sense_t *sense)
{
    return sense->group.pressure.fd >= 0 ? &sense->group.pressure
                                         : &sense->pressure;
}

/* Measure the stalls over the last @a usec microseconds, or use the estimate
 * from events. */
static void sample_stalls(auto_sense_t *sense, uint64_t usec)
{
    uint64_t stalled = 0;

    if (!read_pressure(pressure_of(sense), &stalled)) {
        sense->seen.stall_permille = sense->event_permille;
        return;
    }
    sense->seen.stall_permille = adm_permille(since(stalled,
                                                    sense->stalled_usec),
                                              usec);
    sense->stalled_usec = stalled;
}

/* @return the sum of all lines that start with @a key: one per memory zone. */
static uint64_t sum_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    uint64_t sum = 0;
    char *rest;

    for (; text && *text; text = strchr(text, '\n')) {
        text += *text == '\n';
        if (strncmp(text, key, length) == 0) {
            const char *value = strpbrk(text, " \n");

            sum += value && *value == ' ' ? strtoull(value, &rest, 10) : 0;
        }
    }
    return sum;
}

/* Estimate stalls if the kernel does not report them: from pages swapped out,
 * and from processes that reclaim pages directly. */
static void sample_events(auto_sense_t *sense)
{
    const char *text = auto_procfile_text(&sense->events);
    uint64_t pages = sum_of(text, "pswpout ");
    uint64_t reclaims = sum_of(text, "allocstall");

    sense->event_permille = since(pages, sense->swapped_pages) > SWAPPED_PAGES
                                    || since(reclaims, sense->direct_reclaims)
                                           > 0
                                ? 1000
                                : 0;
    sense->swapped_pages = pages;
    sense->direct_reclaims = reclaims;
}

/* ---- all --------------------------------------------------------------------------- */

void auto_sense_open(auto_sense_t *sense, const char *root)
{
    memset(sense, 0, sizeof(*sense));
    auto_procfile_open(&sense->memory, root, "/proc/meminfo");
    auto_procfile_open(&sense->stat, root, "/proc/stat");
    auto_procfile_open(&sense->pressure, root, "/proc/pressure/memory");
    auto_procfile_open(&sense->events, root, "/proc/vmstat");
    auto_group_open(&sense->group, root);
}

const auto_seen_t *auto_sense_sample(auto_sense_t *sense, adm_usec_t now,
                                     bool slowly)
{
    uint64_t ago;

    if (slowly || !sense->has_sampled) {
        ago = now > sense->processed_at ? (uint64_t)(now - sense->processed_at)
                                        : 1;
        auto_group_refresh(&sense->group);
        sample_cpus(sense, ago);
        sample_events(sense);
        sense->processed_at = now;
    }
    ago = now > sense->sampled_at ? (uint64_t)(now - sense->sampled_at) : 1;
    sample_memory(sense);
    sample_stalls(sense, ago);
    sense->sampled_at = now;
    if (!sense->has_sampled) {
        /* The first sample covers the time since boot, so its rates are discarded. */
        sense->has_sampled = true;
        sense->event_permille = 0;
        sense->seen.stall_permille = sense->seen.busy_permille = 0;
        sense->seen.own_permille = 0;
    }
    return &sense->seen;
}

uint64_t auto_sense_available_kb(auto_sense_t *sense, bool slowly)
{
    if (slowly) {
        auto_group_refresh(&sense->group);
    }
    sample_memory(sense);
    return sense->seen.available_kb;
}

const char *auto_sense_missing(const auto_sense_t *sense)
{
    static char list[160];
    uint64_t unused;
    size_t length;

    snprintf(list, sizeof(list), "%s%s%s%s",
             sense->memory.fd < 0 ? "available memory (/proc/meminfo), " : "",
             sense->stat.fd < 0 ? "CPUs (/proc/stat), " : "",
             read_pressure(pressure_of(sense), &unused)
                 ? ""
                 : "memory stalls (/proc/pressure), ",
             auto_group_cpu_usec(&sense->group) == AUTO_GROUP_NONE
                 ? "CPU time of httpd (a cgroup), "
                 : "");
    length = strlen(list);
    if (length > 2) {
        list[length - 2] = '\0';
    }
    return list;
}

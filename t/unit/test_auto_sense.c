/* test_auto_sense.c - what files of the system say of memory and processors.
 *
 * Each test writes the files of a system of its own below a new directory.
 */
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <apr_strings.h>

#include "core/adm_account.h"
#include "auto/auto_programs.h"
#include "auto/auto_sense.h"
#include "test_support.h"

#define QUARTER 250000

static unsigned usable = 3; /* processors, a bit each */
static auto_sense_t sense;
static const auto_seen_t *seen; /* by the last look */
static adm_usec_t now;

/* In place of the system's. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    size_t n;

    (void)pid;
    CPU_ZERO_S(size, set);
    for (n = 0; n < 32; n++) {
        if (usable >> n & 1) {
            CPU_SET_S(n, size, set);
        }
    }
    return 0;
}

static void say_ticks(int user, int nice, int idle)
{
    write_file("/proc/stat",
               "cpu  %d %d 0 %d 0 0 0 0 0 0\n"
               "cpu0 %d %d 0 %d 0 0 0 0 0 0\n"
               "cpu1 %d %d 0 %d 0 0 0 0 0 0\n"
               "intr 1 2 3\n",
               4 * user, 2 * nice, 2 * idle, user, nice, idle, 3 * user, nice, idle);
}

static void say_memory(int total_mb, int available_mb)
{
    write_file("/proc/meminfo", "MemTotal: %d kB\nMemFree: 1 kB\nMemAvailable: %d kB\n",
               total_mb * 1024, available_mb * 1024);
}

static void say_pressure(const char *path, unsigned long some)
{
    write_file(path,
               "some avg10=0.00 avg60=0.00 avg300=0.00 total=%lu\n"
               "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
               some);
}

/* A machine of two processors and 1,000 MB without control groups. */
static void make_machine(void)
{
    make_folder();
    now = 1000000;
    say_ticks(0, 0, 0);
    say_memory(1000, 600);
    say_pressure("/proc/pressure/memory", 0);
    usable = 1 << 0 | 1 << 1;
    write_file("/proc/vmstat", "pswpin 0\npswpout 0\nallocstall_dma 0\n"
                               "allocstall_normal 0\n");
}

static const auto_seen_t *look_again(void)
{
    now += QUARTER;
    return seen = auto_sense_sample(&sense, now, true);
}

static void open_senses(void)
{
    auto_sense_open(&sense, folder);
    auto_sense_sample(&sense, now, true);
}

static void assert_processors(uint32_t cores, uint32_t busy_permille)
{
    ck_assert_uint_eq(seen->cores, cores);
    ck_assert_uint_eq(seen->busy_permille, busy_permille);
}

static void assert_memory(uint64_t total_mb, uint64_t available_mb)
{
    ck_assert_uint_eq(seen->total_kb, total_mb * 1024);
    ck_assert_uint_eq(seen->available_kb, available_mb * 1024);
}

TEST(a_machine_without_groups_is_what_there_is)
{
    make_machine();
    open_senses();
    say_ticks(10, 5, 15);
    say_pressure("/proc/pressure/memory", 50000);
    say_memory(1000, 300);
    look_again();
    assert_processors(2, 500);                  /* 40 of 80 ticks; niced ones count as idle */
    ck_assert_uint_eq(seen->own_permille, 500); /* nothing tells it apart */
    assert_memory(1000, 300);
    ck_assert_uint_eq(seen->stall_permille, 200);
    ck_assert_pstr_eq(auto_sense_missing(&sense), "CPU time of httpd (a cgroup)");
}

TEST(only_processors_that_httpd_may_use_count)
{
    make_machine();
    usable = 1 << 1 | 1 << 5 | 1 << 6 | 1 << 7;
    open_senses();
    say_ticks(10, 0, 10); /* the second: 30 of 40 */
    look_again();
    assert_processors(1, 750);
}

TEST(without_pressure_pages_that_leave_and_processes_that_search_are_stalls)
{
    make_machine();
    write_file("/proc/pressure/memory", "%s", "");
    open_senses();
    ck_assert_uint_eq(look_again()->stall_permille, 0);
    write_file("/proc/vmstat", "pswpout 64\nallocstall_normal 0\n");
    ck_assert_uint_eq(look_again()->stall_permille, 0);
    write_file("/proc/vmstat", "pswpout 129\nallocstall_normal 0\n");
    ck_assert_uint_eq(look_again()->stall_permille, 1000);
    write_file("/proc/vmstat", "pswpout 129\nallocstall_dma 1\nallocstall_normal 0\n");
    ck_assert_uint_eq(look_again()->stall_permille, 1000);
    ck_assert_uint_eq(look_again()->stall_permille, 0);
    ck_assert_ptr_nonnull(strstr(auto_sense_missing(&sense), "stalls"));
}

/* ---- groups of version 2 ------------------------------------------------------- */

#define UNIFIED "/sys/fs/cgroup"
#define SLICE UNIFIED "/system.slice"
#define SERVICE SLICE "/apache2.service"

static void make_unified(void)
{
    make_machine();
    write_file("/proc/self/mountinfo",
               "22 1 0:21 / /proc rw - proc proc rw\n"
               "30 1 0:26 / " UNIFIED " rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    write_file("/proc/self/cgroup", "0::/system.slice/apache2.service\n");
    write_file(SERVICE "/cgroup.events", "populated 1\n");
    write_file(SERVICE "/memory.max", "max\n");
    write_file(SERVICE "/memory.high", "max\n");
    write_file(SERVICE "/memory.current", "0\n");
    write_file(SERVICE "/memory.stat", "anon 1\ninactive_file 0\n");
    write_file(SERVICE "/cpu.max", "max 100000\n");
    write_file(SERVICE "/cpu.stat", "usage_usec 0\nuser_usec 0\n");
    say_pressure(SERVICE "/memory.pressure", 0);
    write_file(SLICE "/memory.max", "max\n");
    write_file(SLICE "/memory.current", "0\n");
    write_file(SLICE "/memory.stat", "inactive_file 0\n");
    write_file(SLICE "/cpu.max", "max 100000\n");
}

static void say_mb(const char *path, int mb)
{
    write_file(path, "%ld\n", (long)mb << 20);
}

TEST(the_tightest_of_all_groups_above_decides)
{
    make_unified();
    say_mb(UNIFIED "/memory.max", 900);
    say_mb(UNIFIED "/memory.current", 350);
    say_mb(SERVICE "/memory.max", 800);
    say_mb(SERVICE "/memory.current", 500);
    write_file(SERVICE "/memory.stat", "inactive_file %d\n", 100 << 20);
    open_senses();
    look_again();
    assert_memory(800, 400);
    say_mb(SERVICE "/memory.high", 600);
    look_again();
    assert_memory(600, 200);
    say_mb(SLICE "/memory.max", 700);
    say_mb(SLICE "/memory.current", 650);
    ck_assert_uint_eq(look_again()->available_kb, 50 * 1024);
    say_mb(SLICE "/memory.current", 800); /* more than there is */
    ck_assert_uint_eq(look_again()->available_kb, 0);
    write_file(SLICE "/memory.max", "max\n");
    write_file(SERVICE "/memory.max", "max\n");
    write_file(SERVICE "/memory.high", "max\n");
    look_again();
    assert_memory(900, 550);
}

TEST(the_own_group_tells_own_work_and_own_stalls)
{
    make_unified();
    open_senses();
    say_ticks(20, 0, 0);
    write_file(SERVICE "/cpu.stat", "usage_usec 100000\n");
    say_pressure("/proc/pressure/memory", 200000);
    say_pressure(SERVICE "/memory.pressure", 25000);
    look_again();
    ck_assert_uint_eq(seen->busy_permille, 1000);
    ck_assert_uint_eq(seen->own_permille, 200);
    ck_assert_uint_eq(seen->stall_permille, 100);
    ck_assert_pstr_eq(auto_sense_missing(&sense), "");
}

TEST(a_quota_is_what_httpd_has)
{
    make_unified();
    write_file(SERVICE "/cpu.max", "50000 100000\n");
    open_senses();
    say_ticks(10, 0, 30);
    write_file(SERVICE "/cpu.stat", "usage_usec 125000\n");
    look_again();
    assert_processors(1, 1000); /* all of half a processor */
    ck_assert_uint_eq(seen->own_permille, 1000);
    write_file(SLICE "/cpu.max", "25000 100000\n");
    write_file(SERVICE "/cpu.stat", "usage_usec 156250\n");
    say_ticks(10, 0, 60);
    look_again();
    assert_processors(1, 500);
}

/* ---- groups of version 1 ------------------------------------------------------- */

TEST(groups_of_version_1_are_read_also_in_a_container)
{
    make_machine();
    write_file("/proc/self/mountinfo",
               "40 1 0:30 /docker/abc /cg/memory rw - cgroup cgroup rw,memory\n"
               "41 1 0:31 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
    write_file("/proc/self/cgroup", "5:cpu,cpuacct:/www\n4:memory:/docker/abc/web\n0::/\n");
    say_mb("/cg/memory/web/memory.limit_in_bytes", 500);
    say_mb("/cg/memory/web/memory.usage_in_bytes", 300);
    write_file("/cg/memory/web/memory.stat", "inactive_file 1\ntotal_inactive_file %d\n", 50 << 20);
    write_file("/cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
    say_mb("/cg/memory/memory.usage_in_bytes", 400);
    write_file("/cg/cpu/www/cpu.cfs_quota_us", "-1\n");
    write_file("/cg/cpu/www/cpu.cfs_period_us", "100000\n");
    write_file("/cg/cpu/www/cpuacct.usage", "0\n");
    open_senses();
    say_ticks(20, 0, 0);
    write_file("/cg/cpu/www/cpuacct.usage", "250000000\n");
    look_again();
    assert_memory(500, 250);
    ck_assert_uint_eq(seen->own_permille, 500);
    write_file("/cg/cpu/www/cpu.cfs_quota_us", "100000\n");
    write_file("/cg/cpu/www/cpuacct.usage", "500000000\n");
    say_ticks(30, 0, 30);
    look_again();
    assert_processors(1, 1000);
}

TEST(the_top_of_all_groups_is_no_group)
{
    make_unified();
    write_file("/proc/self/cgroup", "0::/\n");
    write_file(UNIFIED "/cpu.stat", "usage_usec 7\n");
    say_pressure(UNIFIED "/memory.pressure", 7);
    open_senses();
    ck_assert_pstr_eq(auto_sense_missing(&sense), "CPU time of httpd (a cgroup)");
}

/* ---- what cannot be ------------------------------------------------------------- */

static const char *const garbage[] = {
    "",
    "\n\n\n",
    "max",
    "-1",
    "99999999999999999999999999",
    ":::::",
    "some total=",
    "cpu cpu cpu0 cpu1",
    "cpu0\ncpu1 -1 -1 -1\n",
    "MemTotal: 0 kB\nMemAvailable: 18446744073709551615 kB\n",
    "1 2 3 / / - cgroup2",
    "4:memory:/../..",
    " - cgroup cgroup memory",
};

TESTS(garbage_is_survived, 0, COUNT(garbage))
{
    static const char *const files[] = {
        "/proc/stat",           "/proc/meminfo",         "/proc/self/status",
        "/proc/vmstat",         "/proc/pressure/memory", "/proc/self/mountinfo",
        "/proc/self/cgroup",    SERVICE "/memory.max",   SERVICE "/memory.current",
        SERVICE "/memory.stat", SERVICE "/cpu.max",      SERVICE "/cpu.stat",
    };
    size_t n;

    make_unified();
    open_senses();
    for (n = 0; n < COUNT(files); n++) {
        write_file(files[n], "%s", garbage[_i]);
        look_again();
        ck_assert_uint_ge(seen->cores, 1);
        ck_assert_uint_le(seen->busy_permille, 1000);
        ck_assert_uint_le(seen->own_permille, seen->busy_permille);
        ck_assert_uint_le(seen->stall_permille, 1000);
        open_senses();
    }
}

TEST(a_system_without_any_of_the_files_is_survived)
{
    auto_sense_open(&sense, "/nowhere");
    seen = auto_sense_sample(&sense, QUARTER, true);
    ck_assert_uint_ge(seen->cores, 1);
    ck_assert_uint_eq(seen->stall_permille, 0);
    ck_assert_uint_gt(seen->available_kb, 0);
}

/* ---- programs -------------------------------------------------------------------- */

static void say_program(const adm_ticket_rec_t *rec, int mb, int peak_mb)
{
    write_process(adm_program_pid(atomic_load(&rec->program)), mb, peak_mb);
}

static adm_ticket_rec_t *start_program(adm_child_t *child, adm_zone_t zone, uint32_t pid,
                                       adm_ticket_t *ticket)
{
    adm_ticket_rec_t *rec;

    ck_assert_int_eq(enter(child, zone, ticket), ADM_ADMITTED);
    rec = rec_of_ticket(ticket);
    atomic_store(&rec->programs, ADM_PROGRAMS_ONE);
    atomic_store(&rec->program, adm_program_word(rec->arrival, pid));
    return rec;
}

TEST(programs_are_seen_to_grow_and_to_end)
{
    adm_ticket_t ticket, hidden;
    adm_ticket_rec_t *rec;
    const adm_account_t *account;
    adm_zone_stats_t stats;

    stage(4, 0);
    make_machine();
    auto_programs_begin(child, folder);
    start_program(child, zone, 4000012, &hidden);
    rec = start_program(child, zone, 4000011, &ticket);
    say_program(rec, 10, 15);
    ck_assert(auto_programs_sample(9));
    ck_assert_uint_eq(adm_account_size_kb(segment, ticket.idx), 10 * 1024);
    ck_assert_uint_eq(adm_account_size_kb(segment, hidden.idx), 0);
    say_program(rec, 30, 0);
    auto_programs_sample_sizes(zone);
    ck_assert_uint_eq(adm_account_size_kb(segment, ticket.idx), 30 * 1024);
    say_program(rec, 20, 0);
    auto_programs_sample_sizes(zone);
    leave(&ticket);
    leave(&hidden);
    ck_assert(!auto_programs_sample(9));
    stats = stats_of(child, zone);
    account = &stats.figures.account;
    ck_assert_uint_eq(account->count, 1);
    ck_assert_uint_eq(account->peak_kb.max, 30 * 1024);
    ck_assert_uint_eq(account->faults.max, 7);
    ck_assert_uint_eq(account->processor_msec.max, 3000 / (unsigned long)sysconf(_SC_CLK_TCK));
    ck_assert_uint_eq(stats.figures.programs.count, 1);

    /* Another one of the same ticket begins with nothing. */
    rec = start_program(child, zone, 4000016, &ticket);
    ck_assert_uint_eq(adm_account_size_kb(segment, ticket.idx), 0);
    say_program(rec, 5, 6);
    auto_programs_sample_sizes(zone);
    ck_assert_uint_eq(adm_account_size_kb(segment, ticket.idx), 5 * 1024);
    leave(&ticket);
    ck_assert_uint_eq(stats_of(child, zone).figures.programs.peak_kb, 36 * 1024);
}

/* Each zone has tickets of its own chunk. */
TEST(programs_of_all_zones_are_sampled_in_parts)
{
    adm_zone_t zones[4];
    adm_ticket_t tickets[4], other;
    adm_child_t *child;
    uint32_t n;

    for (n = 0; n < 4; n++) {
        zones[n] = zone_with(4, 0);
    }
    child = join();
    make_machine();
    auto_programs_begin(child, folder);
    for (n = 0; n < 4; n++) {
        /* Nothing runs in the first and the third one. */
        ck_assert_int_eq(enter(child, zones[n], &other), ADM_ADMITTED);
        leave(&other);
        if (n % 2) {
            say_program(start_program(child, zones[n], 4000020 + n, &tickets[n]), 10, 15);
            say_program(start_program(child, zones[n], 4000030 + n, &tickets[n - 1]), 10, 15);
        }
    }
    for (n = 0; n < 4; n++) {
        ck_assert(auto_programs_sample(1));
    }
    for (n = 0; n < 4; n++) {
        ck_assert_uint_eq(adm_account_size_kb(segment, tickets[n].idx), 10 * 1024);
        leave(&tickets[n]);
    }
    ck_assert(!auto_programs_sample(1));
}

/* auto_group.c - cgroup limits of memory and CPU. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <apr_strings.h>

#include "auto_group.h"

#define MOUNTS "/proc/self/mountinfo"
#define GROUPS "/proc/self/cgroup"

/* Version 1 reports "no limit" as a number that no machine has. */
#define NO_LIMIT_KB (UINT64_C(1) << 50)

/* A hierarchy of cgroups, and the position of this process in it. */
typedef struct hierarchy_t {
    char mount[PATH_MAX]; /* mount point */
    char group[PATH_MAX]; /* cgroup below the mount point: "" or "/..." */
} hierarchy_t;

/* ---- where the groups are ------------------------------------------------------- */

/* @return whether a list separated by commas has this word. Destroys the list. */
static bool has_word(char *list, const char *word)
{
    char *rest, *next = apr_strtok(list, ",", &rest);

    while (next && strcmp(next, word) != 0) {
        next = apr_strtok(NULL, ",", &rest);
    }
    return next != NULL;
}

/* Parse a line of mountinfo: "id parent device root mount options ... - type
 * source options". @return whether it mounts the hierarchy of @a controller;
 * NULL: of version 2. */
static bool is_mount(const char *line, const char *controller, char *root,
                     char *mount)
{
    const char *dash = strstr(line, " - ");
    char type[32], source[PATH_MAX], options[PATH_MAX];

    if (!dash || sscanf(line, "%*s %*s %*s %4095s %4095s", root, mount) != 2
        || sscanf(dash, " - %31s %4095s %4095s", type, source, options) != 3) {
        return false;
    }
    return controller
               ? strcmp(type, "cgroup") == 0 && has_word(options, controller)
               : strcmp(type, "cgroup2") == 0;
}

/* Parse a line of /proc/self/cgroup: "number:controllers:path"; of version 2,
 * "0::path". */
static bool is_group(const char *line, const char *controller, char *path)
{
    char names[256];

    return controller
               ? sscanf(line, "%*d:%255[^:]:%4095[^\n]", names, path) == 2
                     && has_word(names, controller)
               : sscanf(line, "0::%4095[^\n]", path) == 1;
}

static bool read_lines(const char *root, const char *path, char *lines)
{
    auto_procfile_t file;

    if (!auto_procfile_open(&file, root, path)) {
        return false;
    }
    apr_cpystrn(lines, auto_procfile_text(&file), AUTO_PROCFILE_ROOM);
    auto_procfile_close(&file);
    return true;
}

static bool is_below(const char *path, const char *root)
{
    size_t length = strlen(root);

    return strncmp(path, root, length) == 0
           && (path[length] == '/' || path[length] == '\0');
}

/* Find a hierarchy, and this process's cgroup in it. In a container, only a part of
 * the tree is mounted; if the cgroup is outside of it, the mount point is used.
 * @return whether the hierarchy is mounted. */
static bool find_hierarchy(hierarchy_t *tree, const char *root,
                           const char *controller)
{
    static char lines[AUTO_PROCFILE_ROOM];
    char *rest, *line;
    char top[PATH_MAX], path[PATH_MAX] = "";

    tree->group[0] = '\0';
    if (!read_lines(root, MOUNTS, lines)) {
        return false;
    }
    line = apr_strtok(lines, "\n", &rest);
    while (line && !is_mount(line, controller, top, tree->mount)) {
        line = apr_strtok(NULL, "\n", &rest);
    }
    if (!line) {
        return false;
    }
    if (!read_lines(root, GROUPS, lines)) {
        return true;
    }
    line = apr_strtok(lines, "\n", &rest);
    while (line && !is_group(line, controller, path)) {
        line = apr_strtok(NULL, "\n", &rest);
    }
    if (line && !strstr(path, "..") && strcmp(path, "/") != 0) {
        if (strcmp(top, "/") == 0) {
            apr_cpystrn(tree->group, path, sizeof(tree->group));
        }
        else if (is_below(path, top)) {
            apr_cpystrn(tree->group, path + strlen(top), sizeof(tree->group));
        }
    }
    return true;
}

/* ---- their files ------------------------------------------------------------------ */

/* @a name may be NULL: no file. */
static bool open_in(auto_procfile_t *file, const char *root,
                    const hierarchy_t *tree, const char *name)
{
    char path[2 * PATH_MAX + 64];

    file->fd = -1;
    if (!name) {
        return false;
    }
    snprintf(path, sizeof(path), "%s%s/%s", tree->mount, tree->group, name);
    return auto_procfile_open(file, root, path);
}

/* Move to the parent cgroup. @return false at the top. */
static bool go_up(hierarchy_t *tree)
{
    char *slash = strrchr(tree->group, '/');

    if (slash) {
        *slash = '\0';
    }
    return slash != NULL;
}

/* Open the memory and CPU quota files of one cgroup. A missing file stays
 * closed. */
static void open_level(auto_group_level_t *level, const char *root,
                       const hierarchy_t *tree, bool is_second)
{
    level->limit_kb = AUTO_GROUP_NONE;
    level->cache_key = is_second ? "inactive_file" : "total_inactive_file";
    open_in(&level->limits[0], root, tree,
            is_second ? "memory.max" : "memory.limit_in_bytes");
    open_in(&level->limits[1], root, tree, is_second ? "memory.high" : NULL);
    open_in(&level->usage, root, tree,
            is_second ? "memory.current" : "memory.usage_in_bytes");
    open_in(&level->stat, root, tree, "memory.stat");
    open_in(&level->quota, root, tree,
            is_second ? "cpu.max" : "cpu.cfs_quota_us");
    open_in(&level->period, root, tree, is_second ? NULL : "cpu.cfs_period_us");
}

/* @return whether the cgroup has this file. */
static bool has_file(const char *root, const hierarchy_t *tree,
                     const char *name)
{
    auto_procfile_t file;
    bool is_there = open_in(&file, root, tree, name);

    auto_procfile_close(&file);
    return is_there;
}

/* Open the files of this cgroup and of those above it. */
static void open_levels(auto_group_t *group, const char *root,
                        hierarchy_t *tree, bool is_second)
{
    unsigned levels = 0;

    do {
        open_level(&group->levels[group->count++], root, tree, is_second);
    } while (++levels < AUTO_GROUP_LEVELS && go_up(tree));
}

void auto_group_open(auto_group_t *group, const char *root)
{
    static hierarchy_t tree; /* too large for the stack */

    memset(group, 0, sizeof(*group));
    group->cpu.fd = group->pressure.fd = -1;

    if (find_hierarchy(&tree, root, NULL)) { /* version 2 */
        /* Only cgroups below the root have cgroup.events. The root's statistics
         * are the system's, which are not read here. */
        if (has_file(root, &tree, "cgroup.events")) {
            open_in(&group->cpu, root, &tree, "cpu.stat");
            open_in(&group->pressure, root, &tree, "memory.pressure");
        }
        open_levels(group, root, &tree, true);
    }
    /* Version 1, in which each controller can have its own hierarchy. Only the root
     * cgroup has release_agent. */
    if (group->cpu.fd < 0 && find_hierarchy(&tree, root, "cpuacct")
        && !has_file(root, &tree, "release_agent")) {
        open_in(&group->cpu, root, &tree, "cpuacct.usage");
    }
    if (find_hierarchy(&tree, root, "memory")) {
        open_levels(group, root, &tree, false);
    }
    if (find_hierarchy(&tree, root, "cpu")) {
        open_levels(group, root, &tree, false);
    }
    auto_group_refresh(group);
}

/* ---- memory ------------------------------------------------------------------------- */

static uint64_t limit_kb(const auto_procfile_t *file)
{
    uint64_t limit = auto_procfile_leading_number(file, AUTO_GROUP_NONE);

    limit = limit == AUTO_GROUP_NONE ? limit : limit / 1024;
    return limit < NO_LIMIT_KB ? limit : AUTO_GROUP_NONE;
}

void auto_group_refresh(auto_group_t *group)
{
    unsigned n;

    for (n = 0; n < group->count; n++) {
        auto_group_level_t *level = &group->levels[n];
        uint64_t max = limit_kb(&level->limits[0]);
        uint64_t high = limit_kb(&level->limits[1]);
        uint64_t cache = 0;

        level->limit_kb = MIN(max, high);
        if (level->limit_kb != AUTO_GROUP_NONE) {
            auto_procfile_number(auto_procfile_text(&level->stat),
                                 level->cache_key, &cache);
        }
        level->cache_kb = cache / 1024;
    }
}

/* @return KiB below the cgroup's limit; reclaimable cache counts as free. */
static uint64_t left_kb(const auto_group_level_t *level)
{
    uint64_t usage = auto_procfile_leading_number(&level->usage, 0) / 1024;

    usage -= MIN(level->cache_kb, usage);
    return level->limit_kb - MIN(usage, level->limit_kb);
}

uint64_t auto_group_available_kb(const auto_group_t *group)
{
    uint64_t least = AUTO_GROUP_NONE, left;
    unsigned n;

    for (n = 0; n < group->count; n++) {
        if (group->levels[n].limit_kb != AUTO_GROUP_NONE
            && group->levels[n].usage.fd >= 0) {
            left = left_kb(&group->levels[n]);
            least = MIN(left, least);
        }
    }
    return least;
}

uint64_t auto_group_limit_kb(const auto_group_t *group)
{
    uint64_t least = AUTO_GROUP_NONE;
    unsigned n;

    for (n = 0; n < group->count; n++) {
        least = MIN(group->levels[n].limit_kb, least);
    }
    return least;
}

/* ---- CPUs --------------------------------------------------------------------------- */

/* @return thousandths of a CPU; AUTO_GROUP_NONE: no limit. */
static uint64_t quota_permille(const auto_group_level_t *level)
{
    char *rest;
    /* "max" is read as 0, and "-1" as a number that no quota has. */
    uint64_t part = strtoull(auto_procfile_text(&level->quota), &rest, 10);
    uint64_t period = strtoull(rest, NULL, 10);

    if (level->period.fd >= 0) {
        period = auto_procfile_leading_number(&level->period, 0);
    }
    return part > 0 && period > 0 && part < NO_LIMIT_KB ? part * 1000 / period
                                                        : AUTO_GROUP_NONE;
}

uint64_t auto_group_quota_permille(const auto_group_t *group)
{
    uint64_t least = AUTO_GROUP_NONE, quota;
    unsigned n;

    for (n = 0; n < group->count; n++) {
        quota = quota_permille(&group->levels[n]);
        least = MIN(quota, least);
    }
    return least;
}

uint64_t auto_group_cpu_usec(const auto_group_t *group)
{
    uint64_t time;

    if (auto_procfile_number(auto_procfile_text(&group->cpu), "usage_usec",
                             &time)) {
        return time;
    }
    time = auto_procfile_leading_number(&group->cpu,
                                        AUTO_GROUP_NONE); /* nanoseconds */
    return time == AUTO_GROUP_NONE ? time : time / 1000;
}

/* agent_group.c - cgroup limits of memory and CPU. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <apr_strings.h>

#include "agent_group.h"

#define MOUNTS "/proc/self/mountinfo"
#define GROUPS "/proc/self/cgroup"

/* Version 1 reports "no limit" as a number that no machine has. */
#define NO_LIMIT_KB (UINT64_C(1) << 50)

/* A hierarchy of cgroups, and the position of this process in it. */
typedef struct hierarchy_t {
    bool is_found;
    char mount[PATH_MAX]; /* mount point */
    char group[PATH_MAX]; /* cgroup below the mount point: "" or "/..." */
} hierarchy_t;

/* ---- where the groups are ------------------------------------------------------- */

/* @return whether a list separated by commas has this word. The list ends at a
 * space. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);

    while (*list && *list != ' ' && *list != '\n') {
        size_t next = strcspn(list, ", \n");

        if (next == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += next + (list[next] == ',');
    }
    return false;
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

/* Parse a line of /proc/self/cgroup: "number:controllers:path". */
static bool is_group(const char *line, const char *controller, char *path)
{
    const char *list = strchr(line, ':');
    const char *end = list ? strchr(list + 1, ':') : NULL;
    char names[256];
    size_t length = end ? (size_t)(end - list - 1) : sizeof(names);

    if (length >= sizeof(names)) {
        return false;
    }
    memcpy(names, list + 1, length);
    names[length] = '\0';
    if (controller ? !has_word(names, controller) : length > 0) {
        return false;
    }
    return sscanf(end + 1, "%4095[^\n]", path) == 1;
}

/* @return the next line of @a text, which is advanced; NULL: no more. */
static char *next_line(char **text)
{
    char *line = *text;
    char *end = line ? strchr(line, '\n') : NULL;

    if (end) {
        *end = '\0';
    }
    *text = end ? end + 1 : NULL;
    return line && *line ? line : NULL;
}

static bool read_lines(const char *root, const char *path, char *lines)
{
    agent_file_t file;

    if (!agent_file_open(&file, root, path)) {
        return false;
    }
    apr_cpystrn(lines, agent_file_text(&file), AGENT_FILE_ROOM);
    agent_file_close(&file);
    return true;
}

static bool is_below(const char *path, const char *root)
{
    size_t length = strlen(root);

    return strncmp(path, root, length) == 0
           && (path[length] == '/' || path[length] == '\0');
}

/* Find a hierarchy. In a container, the mount shows only a part of the tree.
 * The cgroups above it are invisible, and a cgroup outside of it is treated as
 * its top. */
static void find_hierarchy(hierarchy_t *tree, const char *root,
                           const char *controller)
{
    static char lines[AGENT_FILE_ROOM];
    char *rest = lines, *line;
    char top[PATH_MAX], path[PATH_MAX] = "";

    tree->is_found = false;
    tree->group[0] = '\0';
    if (!read_lines(root, MOUNTS, lines)) {
        return;
    }
    while (!tree->is_found && (line = next_line(&rest))) {
        tree->is_found = is_mount(line, controller, top, tree->mount);
    }
    if (!tree->is_found || !read_lines(root, GROUPS, lines)) {
        return;
    }
    rest = lines;
    while ((line = next_line(&rest)) && !is_group(line, controller, path)) {
    }
    if (line && !strstr(path, "..") && strcmp(path, "/") != 0) {
        if (strcmp(top, "/") == 0) {
            apr_cpystrn(tree->group, path, sizeof(tree->group));
        }
        else if (is_below(path, top)) {
            apr_cpystrn(tree->group, path + strlen(top), sizeof(tree->group));
        }
    }
}

/* ---- their files ------------------------------------------------------------------ */

static bool open_in(agent_file_t *file, const char *root,
                    const hierarchy_t *tree, const char *name)
{
    char path[2 * PATH_MAX + 64];

    file->fd = -1;
    if (!tree->is_found) {
        return false;
    }
    snprintf(path, sizeof(path), "%s%s/%s", tree->mount, tree->group, name);
    return agent_file_open(file, root, path);
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

/* Open the memory files of this cgroup and of those above it. Missing files are
 * left closed. */
static void open_memory(agent_group_t *group, const char *root,
                        hierarchy_t tree, bool is_second)
{
    agent_group_memory_t *memory;
    int levels = 0;

    do {
        memory = &group->memory[group->memories];
        memory->cache_key = is_second ? "inactive_file" : "total_inactive_file";
        memory->limit_kb = AGENT_GROUP_NONE;
        memory->cache_kb = 0;
        open_in(&memory->limits[0], root, &tree,
                is_second ? "memory.max" : "memory.limit_in_bytes");
        memory->limits[1].fd = -1;
        if (is_second) {
            open_in(&memory->limits[1], root, &tree, "memory.high");
        }
        open_in(&memory->usage, root, &tree,
                is_second ? "memory.current" : "memory.usage_in_bytes");
        open_in(&memory->stat, root, &tree, "memory.stat");
        group->memories++; /* closed with the others, even if unused */
    } while (++levels < AGENT_GROUP_LEVELS && go_up(&tree));
}

/* Open the CPU quota files of this cgroup and of those above it. */
static void open_quotas(agent_group_t *group, const char *root,
                        hierarchy_t tree, bool is_second)
{
    agent_group_quota_t *quota;
    int levels = 0;

    do {
        quota = &group->quotas[group->quotas_count++];
        quota->max.fd = quota->quota.fd = quota->period.fd = -1;
        if (is_second) {
            open_in(&quota->max, root, &tree, "cpu.max");
        }
        else {
            open_in(&quota->quota, root, &tree, "cpu.cfs_quota_us");
            open_in(&quota->period, root, &tree, "cpu.cfs_period_us");
        }
    } while (++levels < AGENT_GROUP_LEVELS && go_up(&tree));
}

/* @return whether the cgroup has this file. */
static bool has_file(const char *root, const hierarchy_t *tree,
                     const char *name)
{
    agent_file_t file;
    bool is_there = open_in(&file, root, tree, name);

    agent_file_close(&file);
    return is_there;
}

void agent_group_open(agent_group_t *group, const char *root)
{
    static hierarchy_t tree; /* too large for the stack */

    memset(group, 0, sizeof(*group));
    group->cpu_usec.fd = group->cpu_nsec.fd = -1;
    group->pressure.fd = -1;

    find_hierarchy(&tree, root, NULL);
    if (tree.is_found) {
        /* The root cgroup has no such file: its statistics are the system's. */
        if (has_file(root, &tree, "cgroup.events")) {
            open_in(&group->cpu_usec, root, &tree, "cpu.stat");
            open_in(&group->pressure, root, &tree, "memory.pressure");
        }
        open_memory(group, root, tree, true);
        open_quotas(group, root, tree, true);
    }
    find_hierarchy(&tree, root, "cpuacct");
    if (tree.is_found && !has_file(root, &tree, "release_agent")) {
        open_in(&group->cpu_nsec, root, &tree, "cpuacct.usage");
    }
    find_hierarchy(&tree, root, "memory");
    if (tree.is_found) {
        open_memory(group, root, tree, false);
    }
    find_hierarchy(&tree, root, "cpu");
    if (tree.is_found) {
        open_quotas(group, root, tree, false);
    }
    agent_group_refresh(group);
}

/* ---- memory ------------------------------------------------------------------------- */

static uint64_t limit_kb(const agent_file_t *file)
{
    uint64_t limit = agent_file_leading_number(file, AGENT_GROUP_NONE);

    limit = limit == AGENT_GROUP_NONE ? limit : limit / 1024;
    return limit < NO_LIMIT_KB ? limit : AGENT_GROUP_NONE;
}

void agent_group_refresh(agent_group_t *group)
{
    unsigned n;

    for (n = 0; n < group->memories; n++) {
        agent_group_memory_t *memory = &group->memory[n];
        uint64_t high = limit_kb(&memory->limits[1]);
        uint64_t cache = 0;

        memory->limit_kb = limit_kb(&memory->limits[0]);
        if (high < memory->limit_kb) {
            memory->limit_kb = high;
        }
        if (memory->limit_kb != AGENT_GROUP_NONE) {
            agent_file_number(agent_file_text(&memory->stat), memory->cache_key,
                              &cache);
        }
        memory->cache_kb = cache / 1024;
    }
}

static uint64_t left_kb(const agent_group_memory_t *memory)
{
    uint64_t usage = agent_file_leading_number(&memory->usage, 0) / 1024;

    usage -= memory->cache_kb < usage ? memory->cache_kb : usage;
    return usage < memory->limit_kb ? memory->limit_kb - usage : 0;
}

uint64_t agent_group_available_kb(const agent_group_t *group)
{
    uint64_t least = AGENT_GROUP_NONE, left;
    unsigned n;

    for (n = 0; n < group->memories; n++) {
        if (group->memory[n].limit_kb != AGENT_GROUP_NONE
            && group->memory[n].usage.fd >= 0) {
            left = left_kb(&group->memory[n]);
            least = left < least ? left : least;
        }
    }
    return least;
}

uint64_t agent_group_limit_kb(const agent_group_t *group)
{
    uint64_t least = AGENT_GROUP_NONE;
    unsigned n;

    for (n = 0; n < group->memories; n++) {
        if (group->memory[n].limit_kb < least) {
            least = group->memory[n].limit_kb;
        }
    }
    return least;
}

/* ---- CPUs --------------------------------------------------------------------------- */

/* @return thousandths of a CPU; AGENT_GROUP_NONE: no limit. */
static uint64_t quota_permille(const agent_group_quota_t *quota)
{
    uint64_t part = 0, period = 0;
    char *rest;

    if (quota->max.fd >= 0) {
        const char *text = agent_file_text(&quota->max);

        part = strtoull(text, &rest, 10); /* 0 for "max" */
        period = strtoull(rest, NULL, 10);
    }
    else {
        part = agent_file_leading_number(&quota->quota, 0); /* 0 for "-1" */
        period = agent_file_leading_number(&quota->period, 0);
    }
    return part > 0 && period > 0 && part < NO_LIMIT_KB ? part * 1000 / period
                                                        : AGENT_GROUP_NONE;
}

uint64_t agent_group_quota_permille(const agent_group_t *group)
{
    uint64_t least = AGENT_GROUP_NONE, quota;
    unsigned n;

    for (n = 0; n < group->quotas_count; n++) {
        quota = quota_permille(&group->quotas[n]);
        least = quota < least ? quota : least;
    }
    return least;
}

uint64_t agent_group_cpu_usec(const agent_group_t *group)
{
    uint64_t usec;

    if (group->cpu_usec.fd >= 0
        && agent_file_number(agent_file_text(&group->cpu_usec), "usage_usec",
                             &usec)) {
        return usec;
    }
    usec = agent_file_leading_number(&group->cpu_nsec, AGENT_GROUP_NONE);
    return usec == AGENT_GROUP_NONE ? usec : usec / 1000;
}

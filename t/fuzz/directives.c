/* directives.c - any text as a configuration of the module.
 *
 * It is read as httpd does it, line by line and section by section, with the
 * module's own table of directives. Whatever is accepted must lie within what
 * the manual allows, and whatever is refused must say by whom.
 */
#include <httpd.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>

#include "fuzz.h"
#include "recycle/recycle_turns.h"
#include "module/conf.h"
#include "module/zones.h"
#include "module/countable.h"
#include "module/capacity.h"

#define DEEPEST 16
#define MOST_ARGUMENTS 64
#define DAY apr_time_from_sec(86400)

/* The section that is being read. */
typedef struct section_t {
    ap_directive_t *directive; /* NULL: outside of any */
    server_rec *server;
    admission_dir_conf_t *conf;
} section_t;

typedef struct reader_t {
    apr_pool_t *pool;
    section_t sections[DEEPEST];
    int depth;
    int line;
} reader_t;

/* ---- what is true of each accepted configuration ------------------------------------- */

static bool is_within(apr_int64_t number, apr_int64_t min, apr_int64_t max)
{
    return number == -1 || (number >= min && number <= max);
}

static void check_dir_conf(const admission_dir_conf_t *conf)
{
    MUST(!conf->section
         || (is_within(conf->section->max_concurrent.number, 0, 65535)
             && is_within(conf->section->max_concurrent.min, 0, 65535)
             && (conf->section->max_concurrent.number <= 0
                 || conf->section->max_concurrent.min <= conf->section->max_concurrent.number)));
    if (conf->queue) {
        MUST(conf->queue->length >= 0 && conf->queue->length <= 65535);
        MUST(conf->queue->timeout >= 1000 && conf->queue->timeout <= DAY);
    }
    MUST(is_within(conf->reject_status, 400, 599));
    MUST(is_within(conf->dry_run, 0, 1));
    MUST(conf->retry >= ADMISSION_RETRY_OFF && conf->retry <= 86400);
    if (admission_conf_zone(conf)) {
        MUST(admission_conf_queue(conf)->length >= 0);
        MUST(admission_conf_queue(conf)->timeout > 0);
    }
    MUST(admission_conf_reject_status(conf) >= 400);
}

static void check_server_conf(server_rec *s)
{
    const admission_server_conf_t *conf = ap_get_module_config(s->module_config, &admission_module);

    MUST(is_within(conf->reserve, 0, conf->reserve_is_percent ? 99 : 65535));
    MUST(is_within(conf->parking, 0, 1));
    MUST(conf->recycle.together >= 0 && conf->recycle.together <= RECYCLE_TURNS_MAX);
    MUST(conf->recycle.min >= 0 && conf->recycle.min <= conf->recycle.max);
    MUST(admission_capacity_reserved(s, 400) >= 0);
}

static void check_zones(void)
{
    const admission_zone_t *zone, *other;

    for (zone = admission_zones(); zone; zone = zone->next) {
        MUST(*zone->name != '\0');
        MUST(zone->limit > 0 && zone->limit <= 65535);
        MUST(zone->queue->length >= 0 && zone->queue->timeout > 0);
        for (other = admission_zones(); other != zone; other = other->next) {
            MUST(strcmp(other->name, zone->name) != 0);
        }
    }
}

/* ---- servers and sections ------------------------------------------------------------------ */

static server_rec *make_server(apr_pool_t *p, const char *name)
{
    server_rec *s = apr_pcalloc(p, sizeof(*s));

    s->server_hostname = apr_pstrdup(p, name);
    s->is_virtual = name != NULL;
    s->module_config = apr_pcalloc(p, sizeof(void *));
    s->lookup_defaults = apr_pcalloc(p, sizeof(void *));
    ap_set_module_config(s->module_config, &admission_module, admission_conf_create_server(p, s));
    ap_set_module_config(s->lookup_defaults, &admission_module, admission_conf_create_dir(p, NULL));
    return s;
}

static admission_dir_conf_t *server_wide_conf(const server_rec *s)
{
    return ap_get_module_config(s->lookup_defaults, &admission_module);
}

static ap_directive_t *note_directive(const reader_t *reader, const char *name, const char *args)
{
    ap_directive_t *directive = apr_pcalloc(reader->pool, sizeof(*directive));

    directive->directive = name;
    directive->args = args;
    directive->filename = "fuzz.conf";
    directive->line_num = reader->line;
    directive->parent = reader->sections[reader->depth].directive;
    return directive;
}

static void open_section(reader_t *reader, const char *name, const char *args)
{
    section_t *outer = &reader->sections[reader->depth];
    section_t *inner = outer + 1;

    if (reader->depth + 1 == DEEPEST) {
        return;
    }
    inner->directive = note_directive(reader, name, args);
    if (strcasecmp(name, "<VirtualHost") == 0) {
        inner->server = make_server(reader->pool, args);
        inner->conf = server_wide_conf(inner->server);
    }
    else {
        inner->server = outer->server;
        inner->conf = admission_conf_create_dir(reader->pool, NULL);
    }
    reader->depth++;
}

static void close_section(reader_t *reader)
{
    section_t *inner = &reader->sections[reader->depth];

    if (reader->depth > 0) {
        check_dir_conf(admission_conf_merge_dir(reader->pool, inner[-1].conf, inner->conf));
        reader->depth--;
    }
}

/* ---- directives ------------------------------------------------------------------------------- */

/* As httpd calls a function that wants at most so many arguments, and one at least. */
static const char *call_with_words(cmd_parms *cmd, void *conf, const char *args, int most)
{
    char *words[MOST_ARGUMENTS] = { NULL };
    int count;

    for (count = 0; *args && count < most; count++) {
        words[count] = ap_getword_conf(cmd->pool, &args);
    }
    if (most == MOST_ARGUMENTS) {
        return cmd->cmd->AP_TAKE_ARGV(cmd, conf, count, words);
    }
    if (!words[0] || *words[0] == '\0' || *args) {
        return "wrong number of arguments";
    }
    return most == 1   ? cmd->cmd->AP_TAKE1(cmd, conf, words[0])
           : most == 2 ? cmd->cmd->AP_TAKE2(cmd, conf, words[0], words[1])
                       : cmd->cmd->AP_TAKE3(cmd, conf, words[0], words[1], words[2]);
}

static const char *call(cmd_parms *cmd, void *conf, const char *args)
{
    switch (cmd->cmd->args_how) {
    case RAW_ARGS:
        return cmd->cmd->AP_RAW_ARGS(cmd, conf, args);
    case TAKE_ARGV:
        return call_with_words(cmd, conf, args, MOST_ARGUMENTS);
    case TAKE1:
        return call_with_words(cmd, conf, args, 1);
    case TAKE12:
        return call_with_words(cmd, conf, args, 2);
    case TAKE123:
        return call_with_words(cmd, conf, args, 3);
    case TAKE2:
    case TAKE23:
        return NULL; /* of mod_actions */
    default:
        MUST(!"a directive takes its arguments in a way that is not fuzzed");
        return NULL;
    }
}

static void obey(const reader_t *reader, const command_rec *command, const char *args)
{
    const section_t *section = &reader->sections[reader->depth];
    cmd_parms parms = { .pool = reader->pool,
                        .temp_pool = reader->pool,
                        .server = section->server,
                        .override = section->directive ? ACCESS_CONF : RSRC_CONF,
                        .cmd = command,
                        .directive = note_directive(reader, command->name, args) };
    const char *error = call(&parms, section->conf, args);

    MUST(!error || *error);
    if (!error) {
        check_dir_conf(section->conf);
        check_server_conf(section->server);
    }
}

static void read_directive(const reader_t *reader, const char *name, const char *args)
{
    const command_rec *command = admission_directives;

    while (command->name && strcasecmp(command->name, name) != 0) {
        command++;
    }
    if (command->name) {
        obey(reader, command, args);
    }
}

/* ---- the text ------------------------------------------------------------------------------------ */

static void read_line(reader_t *reader, const char *line)
{
    const char *name;

    while (apr_isspace(*line)) {
        line++;
    }
    if (strncmp(line, "</", 2) == 0) {
        close_section(reader);
        return;
    }
    name = line;
    while (*line && !apr_isspace(*line)) {
        line++;
    }
    name = apr_pstrmemdup(reader->pool, name, (apr_size_t)(line - name));
    while (apr_isspace(*line)) {
        line++;
    }
    if (*name == '<') {
        open_section(reader, name, line);
    }
    else if (*name) {
        read_directive(reader, name, line);
    }
}

static void read_text(reader_t *reader, char *text)
{
    char *end;

    while (*text) {
        reader->line++;
        end = text + strcspn(text, "\n");
        if (*end) {
            *end++ = '\0';
        }
        read_line(reader, text);
        text = end;
    }
    while (reader->depth > 0) {
        close_section(reader);
    }
}

/* Requests of all kinds: which of them count. */
static void ask_which_count(const reader_t *reader)
{
    static const char *const handlers[] = { "cgi-script", "default-handler", "text/html", "", "*" };
    request_rec r = { .content_type = "text/html; charset=utf-8" };
    size_t i;

    for (i = 0; i < sizeof(handlers) / sizeof(*handlers); i++) {
        r.handler = handlers[i];
        admission_counts(reader->sections[0].conf, &r);
    }
}

void fuzz_directives(const uint8_t *data, size_t size)
{
    reader_t reader = { 0 };
    server_rec *s;

    admission_module.module_index = 0; /* the only one of each vector */
    apr_pool_create(&reader.pool, NULL);
    s = make_server(reader.pool, NULL);
    reader.sections[0] = (section_t){ .server = s, .conf = server_wide_conf(s) };
    admission_zones_begin(reader.pool);
    read_text(&reader, apr_pstrmemdup(reader.pool, (const char *)data, size));
    ask_which_count(&reader);
    if (admission_zones_settle(reader.pool, reader.pool, reader.pool, s) == OK) {
        check_zones();
    }
    apr_pool_destroy(reader.pool);
}

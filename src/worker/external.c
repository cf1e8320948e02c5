/* SPDX-License-Identifier: MIT */
/* The program of an external arm: found, identified, its command line made. */
#include "worker/external.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/program.h"
#include "core/util.h"
#include "path/path.h"
#include "core/sha256.h"

#define VERSION_NS 10000000000ull

static const struct external_tool *const tools[] = {&external_fio, &external_gdsio, NULL};

/* ------------------------------------------------------------------------------------------------
 * Words and errors
 */

static void add_owned(struct external_words *w, char *text)
{
    char **grown = text ? realloc(w->items, (w->n + 2) * sizeof(*grown)) : NULL;

    if (!grown) {
        free(text);
        w->failed = true;
        return;
    }
    w->items = grown;
    grown[w->n++] = text;
    grown[w->n] = NULL;
}

void external_add(struct external_words *w, const char *text, ...)
{
    char *word = NULL;
    va_list ap;

    va_start(ap, text);
    if (vasprintf(&word, text, ap) < 0)
        word = NULL;
    va_end(ap);
    add_owned(w, word);
}

void external_words_free(struct external_words *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->items[i]);
    free(w->items);
    *w = (struct external_words){NULL};
}

const char *external_setting(const struct trial *t, const char *key)
{
    return path_setting(t->path, key);
}

int external_not_understood(struct spur_error *e, const char *tool, const char *why, const char *line)
{
    error_foreign(e, SPUR_SOURCE_ERRNO, EPROTO, -EPROTO, "external", "%s: output not understood: %s: \"%.300s\"", tool,
                  why, line);
    error_remedy(e, "run the command line that --json stores by hand; this version may print another form");
    return -EPROTO;
}

/* ------------------------------------------------------------------------------------------------
 * What no program can be asked for
 */

static int check_common(const struct trial *t, struct spur_error *e)
{
    const struct job *job = t->job;

    if (job_writes(job))
        return error_usage(e, "op", "write with a path of spur's",
                           "--op %s: an external program only reads, for nothing would guard or verify the file",
                           job_op_name(job->op));
    if (job->verify == VERIFY_INLINE)
        return error_usage(e, "verify", "leave --verify out: an external arm is unverified",
                           "--verify inline: no byte that an external program moves can be checked");
    if (job->unaligned)
        return error_usage(e, "unaligned", "leave it out",
                           "--unaligned: spur's byte offsets have no like in external programs");
    if (job->share != SHARE_NONE)
        return error_usage(e, "share", "leave it out", "--share %s: an external program shares what it shares",
                           job_share_name(job->share));
    if (t->targets.n != 1)
        return error_usage(e, "file", "name one file", "%zu files: an external arm takes one", t->targets.n);
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * The program
 */

static int find_program(const struct trial *t, struct external *x, struct spur_error *e)
{
    const char *name = external_setting(t, "program");
    char file[PATH_MAX];

    if (!strcmp(name, "auto")) {
        if (!program_find(x->tool->name, file, sizeof(file))) {
            error_spur(e, SPUR_CODE_REFUSED, "program", "no program %s in PATH", x->tool->name);
            error_remedy(e, "install it, or name it with --set program=FILE");
            return -EPERM;
        }
        name = file;
    }
    x->program = realpath(name, NULL);
    if (x->program && access(x->program, X_OK) == 0)
        return 0;
    error_spur(e, SPUR_CODE_REFUSED, "program", "program=%.300s: %s", name, strerror(errno));
    error_remedy(e, "name an executable file");
    return -EPERM;
}

static void first_line(const char *text, char *ret, size_t size)
{
    text += strspn(text, " \t\r\n");
    snprintf(ret, size, "%.*s", (int)strcspn(text, "\r\n"), text);
}

/* What the dynamic linker says of a library that is missing is the reason, not the version. */
int external_greet(struct external *x, struct spur_error *e)
{
    char *words[] = {x->program, (char *)x->tool->version_option, NULL};
    struct external_end end;
    int r = external_execute(words, 0, VERSION_NS, "setup", NULL, &end, e);

    if (r < 0)
        return r;
    if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 127) {
        error_spur(e, SPUR_CODE_REFUSED, "program", "%s does not start: %.300s", x->program,
                   end.errors[0] ? end.errors : "exit status 127");
        error_remedy(e, "see which libraries it misses (ldd)");
        r = -EPERM;
    }
    first_line(end.output, x->version, sizeof(x->version));
    if (!x->version[0])
        first_line(end.errors, x->version, sizeof(x->version));
    free(end.output);
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * The command line
 */

static int set_variable(const char *name, const char *value, struct spur_error *e)
{
    return setenv(name, value, 1) < 0 ? error_errno(e, errno, "setenv", "%s", name) : 0;
}

/* The worker's own environment is the program's. The parent has put in env.*, json.* and the library's directory. */
static int set_environment(const struct trial *t, struct spur_error *e)
{
    const char *json = external_setting(t, "json");
    int r = 0;

    if (strcmp(json, "auto") && !getenv("SPUR_CUFILE_JSON"))
        r = set_variable("CUFILE_ENV_PATH_JSON", json, e);
    if (!r && t->memory_info.uuid[0]) /* the only one that it sees, and so its number 0 */
        r = set_variable("CUDA_VISIBLE_DEVICES", t->memory_info.uuid, e);
    return r;
}

static void add_arguments(const struct trial *t, struct external_words *words)
{
    const char *at = external_setting(t, "args");

    for (at += strspn(at, " \t"); *at; at += strspn(at, " \t")) {
        size_t length = strcspn(at, " \t");

        external_add(words, "%.*s", (int)length, at);
        at += length;
    }
}

static int make_command(const struct trial *t, uint64_t ns, uint64_t warmup_ns, struct external_words *words,
                        struct spur_error *e)
{
    size_t n_own;

    external_add(words, "%s", t->external->program);
    t->external->tool->arguments(t, ns, warmup_ns, words);
    n_own = words->n;
    add_arguments(t, words);
    if (words->failed)
        return error_errno(e, ENOMEM, "realloc", "the program's command line");
    return external_check_arguments(t->external->tool, words, n_own, e);
}

static const struct external_tool *find_tool(const char *name)
{
    for (size_t i = 0; tools[i]; i++)
        if (!strcmp(tools[i]->name, name))
            return tools[i];
    return NULL;
}

int external_open(struct trial *t, struct spur_error *e)
{
    struct external *x = calloc(1, sizeof(*x));
    int r;

    t->external = x;
    if (!x || !(x->tool = find_tool(external_setting(t, "tool"))))
        return error_errno(e, ENOMEM, "calloc", "an external program");
    r = check_common(t, e);
    if (!r)
        r = x->tool->check(t, e);
    if (!r)
        r = external_check_settings(t, x->tool, e);
    if (!r)
        r = find_program(t, x, e);
    if (!r)
        r = make_command(t, t->job->seconds_ns, x->tool->warms_up ? t->job->warmup_ns : 0, &x->command, e);
    if (!r)
        r = set_environment(t, e);
    if (!r)
        r = sha256_of_file(x->program, x->sha256, e);
    return r;
}

void external_free(struct external *x)
{
    if (!x)
        return;
    external_words_free(&x->command);
    free(x->program);
    free(x);
}

json_t *external_describe(const struct external *x)
{
    json_t *command = json_array(), *o;

    for (size_t i = 0; i < x->command.n; i++)
        json_array_append_new(command, json_filename(x->command.items[i]));
    o = json_pack("{s:s, s:o, s:s, s:o, s:o}", "tool", x->tool->name, "program", json_filename(x->program), "sha256",
                  x->sha256, "version", x->version[0] ? json_filename(x->version) : json_null(), "command", command);
    return o;
}

/* ------------------------------------------------------------------------------------------------
 * Running
 */

/* The end of what it said, on one line. */
static void last_words(const struct external_end *end, char *ret, size_t size)
{
    const char *text = end->errors[0] ? end->errors : end->output;
    size_t length = strlen(text);

    while (length && strchr(" \r\n", text[length - 1]))
        length--;
    if (length >= size) {
        text += length - size + 1;
        length = size - 1;
    }
    memcpy(ret, text, length);
    ret[length] = 0;
    for (char *c = ret; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

static int judge_end(const struct external *x, const struct external_end *end, struct spur_error *e)
{
    char words[400], more[410] = "";

    if (WIFEXITED(end->status) && !WEXITSTATUS(end->status))
        return 0;
    last_words(end, words, sizeof(words));
    if (words[0])
        snprintf(more, sizeof(more), ": %s", words);
    error_process(e, end->status, "external", x->tool->name, more);
    error_remedy(e, "run the command line that --json stores by hand");
    return -EIO;
}

static int warm_up(struct trial *t, const struct external_hooks *hooks, struct spur_error *e)
{
    const struct external *x = t->external;
    struct external_words words = {NULL};
    struct external_end end = {0};
    int r;

    if (x->tool->warms_up || !t->job->warmup_ns)
        return 0;
    r = make_command(t, t->job->warmup_ns, 0, &words, e);
    if (!r)
        r = external_execute(words.items, t->job->warmup_ns, 0, "warm-up", hooks, &end, e);
    if (!r)
        r = judge_end(x, &end, e);
    free(end.output);
    external_words_free(&words);
    return r;
}

int external_run(struct trial *t, struct measure *m, const struct external_hooks *hooks, struct spur_error *e)
{
    struct external *x = t->external;
    struct external_end end = {0};
    int r = warm_up(t, hooks, e);

    measure_begin(m); /* also without a run: the result has them */
    if (!r)
        r = external_execute(x->command.items,
                             t->job->total_bytes ? 0 : t->job->seconds_ns + (x->tool->warms_up ? t->job->warmup_ns : 0),
                             0, "external", hooks, &end, e);
    measure_end(m);
    x->usage = end.usage;
    x->wall_s = end.wall_s;
    if (!r)
        r = judge_end(x, &end, e);
    if (!r)
        r = x->tool->parse(t, end.output, &x->figures, e);
    if (r < 0)
        x->figures = (struct external_figures){0};
    free(end.output);
    return r;
}

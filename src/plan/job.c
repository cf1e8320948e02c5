/* SPDX-License-Identifier: MIT */
/* Job file -> spec: sections and keys. */
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "plan/parts.h"

#define MAX_FILE  (1u << 20)
#define MAX_SHOWN 100u

enum section { SECTION_NONE, SECTION_SWEEP, SECTION_ARM, SECTION_IGNORED };

struct job {
    const char *filename;
    const struct plan_keys *keys;
    struct plan_spec *s;
    int (*option)(void *context, const char *key, const char *value, const char *where, struct spur_error *e);
    void *context;
    struct spur_error *e;
    struct plan_lines lines;
    enum section section;
    bool has_sweep;
    char *key, *value;      /* read, not yet taken: more of the value may come */
    struct plan_item *seen; /* keys of this section */
    size_t n_seen;
    size_t given_items, given_axes, given_prepares, given_arms; /* by the command line, before the file */
    int error;
};

/* Prefixes an error with file and line. */
static int at_line(struct job *j, int r)
{
    _cleanup_free_ char *where = NULL;

    if (r < 0 && asprintf(&where, "%s:%u", j->filename, j->lines.number) < 0) {
        where = NULL;
        return plan_no_memory(j->e);
    }
    return r < 0 ? plan_at(j->e, where, r) : r;
}

static int bad_line(struct job *j, const char *reason)
{
    return at_line(j, error_spur(j->e, SPUR_CODE_USAGE, "plan", "%s", reason));
}

/* ------------------------------------------------------------------------------------------------
 * Sections
 */

static int begin_arm(struct job *j, const char *name)
{
    const struct plan_arm_spec *there = plan_arm_find(j->s, name);
    _cleanup_free_ char *where = NULL;

    if (there && (size_t)(there - j->s->arms) < j->given_arms) {
        j->section = SECTION_IGNORED;
        return 0;
    }
    if (asprintf(&where, "%s:%u: [arm %s]", j->filename, j->lines.number, name) < 0) {
        where = NULL;
        return plan_no_memory(j->e);
    }
    j->section = SECTION_ARM;
    return plan_arm_new(j->s, name, where, j->e);
}

static int begin_section(struct job *j, const char *line, size_t n)
{
    _cleanup_free_ char *text = NULL, *name = NULL;

    if (line[n - 1] != ']')
        return bad_line(j, "a section's line ends with ]");
    text = plan_trim(line + 1, n - 2);
    if (!text)
        return plan_no_memory(j->e);
    plan_items_free(j->seen, j->n_seen);
    j->seen = NULL;
    j->n_seen = 0;
    if (!strcmp(text, "sweep")) {
        if (j->has_sweep)
            return bad_line(j, "there is a [sweep] already");
        j->has_sweep = true;
        j->section = SECTION_SWEEP;
        return 0;
    }
    if (strncmp(text, "arm", 3) || (text[3] && text[3] != ' ' && text[3] != '\t'))
        return bad_line(j, "sections are [sweep] and [arm NAME]");
    name = plan_trim(text + 3, strlen(text + 3));
    return name ? begin_arm(j, name) : plan_no_memory(j->e);
}

/* ------------------------------------------------------------------------------------------------
 * Keys
 */

static bool may_repeat(const struct job *j, const char *key)
{
    if (j->section == SECTION_SWEEP && (!strcmp(key, "axis") || !strcmp(key, "prepare")))
        return true;
    return j->keys->find(j->keys->context, key).repeats;
}

static int check_repeated(struct job *j, const char *key, const char *where)
{
    const struct plan_item *other = may_repeat(j, key) ? NULL : plan_item_find(j->seen, j->n_seen, key);

    if (other)
        return error_spur(j->e, SPUR_CODE_USAGE, "plan", "%.200s: it is given already (%.200s)", where, other->where);
    return plan_item_add(&j->seen, &j->n_seen, key, "", where, j->e);
}

/* The key before the '=' of @text is one that the command line gave. */
static bool is_given(const struct plan_item *items, size_t n, const char *text)
{
    size_t length = strcspn(text, "=");

    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    for (size_t i = 0; i < n; i++)
        if (strlen(items[i].key) == length && !memcmp(items[i].key, text, length))
            return true;
    return false;
}

static bool is_key_given(const struct job *j, const char *text)
{
    return is_given(j->s->items, j->given_items, text) || is_given(j->s->axes, j->given_axes, text);
}

static int take_sweep_key(struct job *j, const char *key, const char *value, const char *where)
{
    enum plan_key_kind kind;

    if (!strcmp(key, "axis"))
        return is_key_given(j, value) ? 0 : plan_spec_add_axis(j->s, value, where, j->e);
    if (!strcmp(key, "prepare"))
        return is_given(j->s->prepares, j->given_prepares, value) ? 0 : plan_spec_add_prepare(j->s, value, where, j->e);
    kind = j->keys->find(j->keys->context, key).kind;
    if (kind == PLAN_KEY_OPTION || kind == PLAN_KEY_SETTING)
        return is_key_given(j, key) ? 0 : plan_spec_add_option(j->s, key, value, where, j->e);
    return j->option ? j->option(j->context, key, value, where, j->e) : plan_unknown_key(j->keys, key, where, j->e);
}

static int take_arm_key(struct job *j, const char *key, const char *value, const char *where)
{
    struct plan_arm_spec *arm = &j->s->arms[j->s->n_arms - 1];
    struct plan_key found;
    int r = plan_key_find(j->keys, key, where, &found, j->e);

    if (r < 0 || j->section == SECTION_IGNORED)
        return r;
    return plan_item_add(&arm->items, &arm->n_items, key, value, where, j->e);
}

static int take_key(struct job *j, const char *key, const char *value)
{
    _cleanup_free_ char *where = NULL;
    int r;

    if (j->section == SECTION_NONE)
        return bad_line(j, "keys stand in [sweep] or [arm NAME]");
    if (asprintf(&where, "%s:%u: %s", j->filename, j->lines.number, key) < 0) {
        where = NULL;
        return plan_no_memory(j->e);
    }
    if (!*value)
        return error_spur(j->e, SPUR_CODE_USAGE, "plan", "%.200s: its value is missing", where);
    r = check_repeated(j, key, where);
    if (r < 0)
        return r;
    return j->section == SECTION_SWEEP ? take_sweep_key(j, key, value, where) : take_arm_key(j, key, value, where);
}

/* The key that was read is whole. */
static int take_pending(struct job *j)
{
    _cleanup_free_ char *value = NULL;
    int r;

    if (!j->key)
        return 0;
    value = plan_trim(j->value, strlen(j->value));
    r = value ? take_key(j, j->key, value) : plan_no_memory(j->e);
    free(j->key);
    free(j->value);
    j->key = j->value = NULL;
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Through inih
 */

static int next_key(struct job *j)
{
    const char *line;
    size_t n;
    int r;

    while ((r = plan_lines_next(&j->lines, &line, &n, j->e)) == 1) {
        if (*line != '[')
            return at_line(j, plan_lines_begin(&j->lines, line, n, j->e));
        r = begin_section(j, line, n);
        if (r < 0)
            return r;
    }
    return at_line(j, r);
}

/* ini_reader */
static char *read_piece(char *ret, int size, void *stream)
{
    struct job *j = stream;

    if (!j->error && j->lines.piece == j->lines.piece_end) {
        j->error = take_pending(j);
        if (!j->error)
            j->error = next_key(j);
    }
    return j->error ? NULL : plan_lines_piece(&j->lines, ret, (size_t)size);
}

/* ini_handler: a key, or more of the value of the last one. */
static int take_piece(void *user, const char *section, const char *name, const char *value)
{
    struct job *j = user;

    if (!j->key) {
        j->key = strdup(name);
        if (!j->key)
            j->error = plan_no_memory(j->e);
    }
    if (!j->error)
        j->error = plan_lines_append(&j->value, value, j->e);
    return !j->error;
}

static int parse(struct job *j)
{
    int r = ini_parse_stream(read_piece, j, take_piece, j);

    if (!j->error && (r || j->lines.rest < j->lines.end || j->lines.piece != j->lines.piece_end))
        j->error = bad_line(j, "the INI parser of this build cannot read it");
    free(j->key);
    free(j->value);
    plan_items_free(j->seen, j->n_seen);
    return j->error;
}

/* ------------------------------------------------------------------------------------------------
 * The file
 */

static int read_text(FILE *f, const char *filename, char **ret, size_t *ret_n, struct spur_error *e)
{
    char *text = malloc(MAX_FILE + 1);
    size_t n;

    if (!text)
        return plan_no_memory(e);
    n = fread(text, 1, MAX_FILE + 1, f);
    if (ferror(f) || n > MAX_FILE) {
        int err = ferror(f) ? errno : EFBIG;

        free(text);
        return error_errno(e, err, "read", "%.300s", filename);
    }
    *ret = text;
    *ret_n = n;
    return 0;
}

/* A FIFO that has a name may have no writer; a shell's <(...) is a pipe without one. */
static bool is_fifo(int fd)
{
    struct stat st;
    struct statfs fs;

    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && fstatfs(fd, &fs) == 0 && fs.f_type != PIPEFS_MAGIC;
}

static int load(const char *filename, char **ret, size_t *ret_n, struct spur_error *e)
{
    int fd = open(filename, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
    FILE *f;

    if (fd < 0)
        return error_errno(e, errno, "open", "%.300s", filename);
    if (is_fifo(fd)) {
        close(fd);
        error_spur(e, SPUR_CODE_USAGE, "job file", "%.300s: it is a FIFO", filename);
        error_remedy(e, "name a file; a shell's <(...) will do too");
        return -EINVAL;
    }
    fcntl(fd, F_SETFL, 0);
    f = fdopen(fd, "r");
    if (!f) {
        r = error_errno(e, errno, "fdopen", "%.300s", filename);
        close(fd);
        return r;
    }
    r = read_text(f, filename, ret, ret_n, e);
    fclose(f);
    return r;
}

/* Places in errors must keep their line numbers: of a long name the end will do. */
static const char *short_name(const char *filename)
{
    size_t n = strlen(filename);

    return n > MAX_SHOWN ? filename + n - MAX_SHOWN : filename;
}

int plan_job_read(const char *filename, const struct plan_keys *keys, struct plan_spec *s,
                  int (*option)(void *context, const char *key, const char *value, const char *where,
                                struct spur_error *e),
                  void *context, struct spur_error *e)
{
    struct job j = {
        .filename = short_name(filename), .keys = keys, .s = s, .option = option, .context = context, .e = e};
    _cleanup_free_ char *text = NULL;
    size_t n = 0;
    int r = load(filename, &text, &n, e);

    if (r < 0)
        return r;
    j.lines.rest = text;
    j.lines.end = text + n;
    if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) /* byte order mark */
        j.lines.rest += 3;
    j.given_items = s->n_items;
    j.given_axes = s->n_axes;
    j.given_prepares = s->n_prepares;
    j.given_arms = s->n_arms;
    return parse(&j);
}

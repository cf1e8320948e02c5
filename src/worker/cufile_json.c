/* SPDX-License-Identifier: MIT */
/* cufile.json is JSON with comments; a trial may change single keys of the one in force. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "worker/cufile_keys.h"
#include "worker/trial_env.h"

#define DEFAULT_FILE "/etc/cufile.json"
#define MOST_BYTES   (1u << 20)

/* Comments become blanks, so that lines stay where they are. Strings are left alone. */
static void blank_comments(char *text)
{
    bool quoted = false;

    for (char *c = text; *c; c++) {
        if (quoted && *c == '\\' && c[1]) {
            c++;
        } else if (*c == '"') {
            quoted = !quoted;
        } else if (!quoted && c[0] == '/' && c[1] == '/') {
            while (*c && *c != '\n')
                *c++ = ' ';
            c--;
        } else if (!quoted && c[0] == '/' && c[1] == '*') {
            char *end = strstr(c + 2, "*/");

            for (char *stop = end ? end + 2 : c + strlen(c); c < stop; c++)
                *c = *c == '\n' ? '\n' : ' ';
            c--;
        }
    }
}

/* A comma before a closing bracket. */
static void blank_trailing_commas(char *text)
{
    bool quoted = false;

    for (char *c = text; *c; c++) {
        if (quoted && *c == '\\' && c[1])
            c++;
        else if (*c == '"')
            quoted = !quoted;
        else if (!quoted && *c == ',' && strchr("]}", c[1 + strspn(c + 1, " \t\r\n")]) &&
                 c[1 + strspn(c + 1, " \t\r\n")])
            *c = ' ';
    }
}

json_t *cufile_json_parse(const char *text, const char *filename, struct spur_error *e)
{
    _cleanup_free_ char *plain = strdup(text);
    json_error_t why;
    json_t *json;

    if (!plain) {
        error_errno(e, ENOMEM, "strdup", "%s", filename);
        return NULL;
    }
    blank_comments(plain);
    blank_trailing_commas(plain);
    json = json_loads(plain, 0, &why);
    if (json_is_object(json))
        return json;
    if (json)
        error_spur(e, SPUR_CODE_USAGE, "json", "%s: is no JSON object", filename);
    else
        error_spur(e, SPUR_CODE_USAGE, "json", "%s:%d: %s", filename, why.line, why.text);
    error_remedy(e, "correct the file, or name another with --set json=FILE");
    json_decref(json);
    return NULL;
}

/* A name that the user gave: the library would go on with its defaults and not say so. */
static int not_readable(const char *filename, const char *why, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_REFUSED, "json", "%s: %s: no cufile.json that a library can read", filename, why);
    error_remedy(e, "name a file that is there, with --set json=FILE or CUFILE_ENV_PATH_JSON");
    return -EPERM;
}

/* Opening a FIFO would wait for a writer, and it could not be read again. */
static int check_file(const char *filename, struct spur_error *e)
{
    struct stat st;

    if (stat(filename, &st) < 0 || (S_ISREG(st.st_mode) && access(filename, R_OK) < 0))
        return not_readable(filename, strerror(errno), e);
    if (S_ISDIR(st.st_mode))
        return not_readable(filename, "is a folder", e);
    return S_ISREG(st.st_mode) ? 0 : not_readable(filename, "is a FIFO or a device", e);
}

static int read_text(const char *filename, char **ret, struct spur_error *e)
{
    FILE *f = fopen(filename, "re");
    char *text;
    size_t n;

    if (!f)
        return error_errno(e, errno, "open", "%s", filename);
    text = calloc(1, MOST_BYTES + 1);
    n = text ? fread(text, 1, MOST_BYTES + 1, f) : 0;
    fclose(f);
    if (!text || n > MOST_BYTES) {
        free(text);
        return error_errno(e, text ? EFBIG : ENOMEM, "read", "%s: over %u bytes", filename, MOST_BYTES);
    }
    text[n] = 0;
    *ret = text;
    return 0;
}

static const char *setting(const struct job *job, const char *key)
{
    for (size_t i = 0; i < job->n_settings; i++)
        if (!strcmp(job->settings[i].key, key))
            return job->settings[i].value;
    return NULL;
}

const char *cufile_json_named(const struct job *job)
{
    const char *named = setting(job, "json"), *variable = setting(job, "env.CUFILE_ENV_PATH_JSON");

    if (named && strcmp(named, "auto"))
        return named;
    return variable && *variable ? variable : NULL;
}

bool cufile_json_has_keys(const struct job *job)
{
    for (size_t i = 0; i < job->n_settings; i++)
        if (!strncmp(job->settings[i].key, "json.", 5))
            return true;
    return false;
}

/* What the library would read: json=FILE, else what the environment names; NULL: the system's. */
static const char *base_file(const struct job *job)
{
    const char *named = cufile_json_named(job), *variable = getenv("CUFILE_ENV_PATH_JSON");

    return named || !variable || !*variable ? named : variable;
}

const char *cufile_json_in_force(const struct job *job)
{
    return base_file(job) ?: DEFAULT_FILE;
}

int cufile_json_check(const struct job *job, bool inherits, struct spur_error *e)
{
    const char *filename = inherits || cufile_json_has_keys(job) ? base_file(job) : cufile_json_named(job);
    static const char *const named[] = {"library", "json"};

    for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
        const char *value = setting(job, named[i]);

        if (value && !*value)
            return error_usage(e, "set", "name a file, or leave it out", "%s=: an empty value", named[i]);
    }
    return filename ? check_file(filename, e) : 0;
}

int cufile_json_read(const struct job *job, char **ret_text, const char **ret_filename, struct spur_error *e)
{
    const char *filename = base_file(job);
    struct spur_error why = {0};
    int r;

    *ret_filename = filename ? filename : DEFAULT_FILE;
    r = filename ? check_file(filename, e) : 0;
    if (r < 0)
        return r;
    r = read_text(*ret_filename, ret_text, &why);
    if (r == -ENOENT && !filename) { /* no configuration at all: the library's own defaults */
        *ret_text = strdup("{}");
        return *ret_text ? 0 : error_errno(e, ENOMEM, "strdup", "%s", *ret_filename);
    }
    if (r < 0)
        *e = why;
    return r;
}

static int load_base(const struct job *job, json_t **ret, struct spur_error *e)
{
    _cleanup_free_ char *text = NULL;
    const char *filename;
    int r = cufile_json_read(job, &text, &filename, e);

    if (r < 0)
        return r;
    *ret = cufile_json_parse(text, filename, e);
    return *ret ? 0 : -EINVAL;
}

/* true, 4 and [1,2] as they are; whatever is no JSON is a string. */
static json_t *parse_value(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

    return value ? value : json_string(text);
}

/* "execution.parallel_io": sections are made where they are missing. */
static int put(json_t *root, const char *key, const char *text, struct spur_error *e)
{
    const char *whole = key;
    struct cufile_key known;
    json_t *at = root;

    for (const char *dot; (dot = strchr(key, '.')); key = dot + 1) {
        _cleanup_free_ char *section = strndup(key, (size_t)(dot - key));
        json_t *next = section ? json_object_get(at, section) : NULL;

        if (section && !next) {
            next = json_object();
            json_object_set_new(at, section, next);
        }
        if (!json_is_object(next))
            return error_spur(e, SPUR_CODE_USAGE, "json", "json.%s: %s is no section of the configuration", key,
                              section ? section : "it");
        at = next;
    }
    if (json_is_object(json_object_get(at, key)) || (cufile_key_find(whole, 0, &known) && known.kind == KEY_SECTION))
        return error_usage(e, "set", "name a key in it: json.SECTION.KEY=VALUE", "json.%s is a section", whole);
    return json_object_set_new(at, key, parse_value(text)) < 0 ? error_errno(e, ENOMEM, "json", "%s", key) : 0;
}

int cufile_json_compose(const struct job *job, char **ret_text, struct spur_error *e)
{
    json_t *root = NULL;
    int r = load_base(job, &root, e);

    for (size_t i = 0; !r && i < job->n_settings; i++)
        if (!strncmp(job->settings[i].key, "json.", 5))
            r = put(root, job->settings[i].key + 5, job->settings[i].value, e);
    if (!r) {
        *ret_text = json_dumps(root, JSON_INDENT(4));
        r = *ret_text ? 0 : error_errno(e, ENOMEM, "json", "the trial's cufile.json");
    }
    json_decref(root);
    return r;
}

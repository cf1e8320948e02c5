/* SPDX-License-Identifier: MIT */
/* Two reports side by side: only what differs. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "doctor/check.h"

/* What is compared must be there; what it holds may be anything. */
static int check_form(const char *filename, json_t *o, struct spur_error *e)
{
    json_error_t why;
    json_t *files, *file;
    size_t i;
    int r = json_unpack_ex(o, &why, JSON_VALIDATE_ONLY, "{s:{s:s}, s:{}, s:[]}", "machine", "road", "facts", "files");

    files = json_object_get(o, "files");
    for (i = 0; !r && i < json_array_size(files); i++) {
        file = json_array_get(files, i);
        r = json_unpack_ex(file, &why, JSON_VALIDATE_ONLY, "{s:s, s:{s:s}, s:{}}", "file", "verdict", "road", "facts");
    }
    return r ? error_spur(e, SPUR_CODE_USAGE, "compare", "%s: damaged: %s", filename, why.text) : 0;
}

int doctor_load(const char *filename, json_t **ret, struct spur_error *e)
{
    _cleanup_fd_ int fd = open(filename, O_RDONLY | O_CLOEXEC);
    const char *schema;
    struct stat st;
    json_error_t why;
    json_t *o;
    int r;

    if (fd < 0)
        return error_errno(e, errno, "open", "%s", filename);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        error_errno(e, EISDIR, "read", "%s", filename);
        error_remedy(e, "name a report that spur doctor --json wrote; --root reads a record's folder");
        return -EISDIR;
    }
    o = json_loadfd(fd, 0, &why);
    if (!o)
        return error_spur(e, SPUR_CODE_USAGE, "compare", "%s:%d: %s", filename, why.line, why.text);
    schema = json_string_value(json_object_get(o, "schema"));
    if (schema && !strcmp(schema, DOCTOR_SCHEMA)) {
        r = check_form(filename, o, e);
        if (r < 0)
            json_decref(o);
        else
            *ret = o;
        return r;
    }
    error_spur(e, SPUR_CODE_USAGE, "compare", "%s: schema '%s' is not %s", filename, schema ? schema : "",
               DOCTOR_SCHEMA);
    error_remedy(e, "write it with spur doctor --json of this version of spur");
    json_decref(o);
    return -EINVAL;
}

/* Leaves of @from into @to as key -> text. */
static void flatten(json_t *to, const char *prefix, const json_t *from)
{
    const json_t *value;
    const char *key;

    json_object_foreach((json_t *)from, key, value)
    {
        _cleanup_free_ char *whole = NULL, *text = NULL;

        if (asprintf(&whole, "%s%s%s", prefix, *prefix ? "." : "", key) < 0)
            continue;
        if (json_is_object(value)) {
            flatten(to, whole, value);
            continue;
        }
        text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        json_object_set_new(to, whole, json_string(text ? text : "?"));
    }
}

static void flatten_verdict(json_t *to, const json_t *v)
{
    json_object_set(to, "verdict.road", json_object_get(v, "road"));
    json_object_set(to, "verdict.reason", json_object_get(v, "reason"));
}

/* Files are paired by their order, for paths differ between machines. */
static json_t *flat(const json_t *report, size_t index, bool of_file)
{
    const json_t *file = json_array_get(json_object_get(report, "files"), index);
    json_t *to = json_object();

    if (of_file) {
        flatten_verdict(to, json_object_get(file, "verdict"));
        flatten(to, "", json_object_get(file, "facts"));
    } else {
        flatten_verdict(to, json_object_get(report, "machine"));
        flatten(to, "", json_object_get(report, "facts"));
    }
    return to;
}

static const char *value_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key)) ?: "-";
}

static size_t print_differences(FILE *out, const char *head, json_t *here, json_t *there)
{
    const json_t *value;
    const char *key;
    size_t n = 0;

    json_object_foreach(here, key, value) if (strcmp(value_of(here, key), value_of(there, key)))
        fprintf(out, "%s%s: %s | %s\n", n++ ? "" : head, key, value_of(here, key), value_of(there, key));
    json_object_foreach(there, key, value) if (!json_object_get(here, key))
        fprintf(out, "%s%s: - | %s\n", n++ ? "" : head, key, value_of(there, key));
    json_decref(here);
    json_decref(there);
    return n;
}

static const char *file_name(const json_t *report, size_t i)
{
    const json_t *one = json_array_get(json_object_get(report, "files"), i);

    return json_string_value(json_object_get(one, "file")) ?: "(no file)";
}

size_t doctor_compare(FILE *out, const json_t *here, const json_t *there)
{
    size_t a = json_array_size(json_object_get(here, "files")), b = json_array_size(json_object_get(there, "files"));
    size_t n = print_differences(out, "machine: here | there\n", flat(here, 0, false), flat(there, 0, false));

    for (size_t i = 0; i < a || i < b; i++) {
        _cleanup_free_ char *head = NULL;

        if (asprintf(&head, "%s | %s\n", file_name(here, i), file_name(there, i)) < 0)
            continue;
        n += print_differences(out, head, flat(here, i, true), flat(there, i, true));
    }
    if (!n)
        fprintf(out, "nothing differs\n");
    return n;
}

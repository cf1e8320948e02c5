/* SPDX-License-Identifier: MIT */
/* A recorded machine is opened: its facts.json must have the form that a recording has, for what is malformed is no
 * fact. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "core/error.h"
#include "doctor/check.h"
#include "probe/read.h"

/* Members by their place: [] is any of a list, * any of a map. null is not known, and may stand for any but entries of
 * files; of what is not here nothing is read. */
static const char *const objects[] = {
    "acs",      "cuda",    "cuda.gpus[]",     "devices",         "devices.*",        "env",
    "io_uring", "library", "files[].extents", "files[].odirect", "files[].resident", "files[].lustre"};
static const char *const arrays[] = {"cuda.gpus", "files", "files[].device", "library.missing", "library.others"};
static const char *const strings[] = {"cuda.detail",
                                      "cuda.gpus[].error",
                                      "cuda.gpus[].name",
                                      "cuda.gpus[].pci",
                                      "cuda.gpus[].uuid",
                                      "cuda.remedy",
                                      "devices.*.mode",
                                      "env.*",
                                      "files[].error",
                                      "files[].extents.reason",
                                      "files[].kind",
                                      "files[].extents.status",
                                      "files[].odirect.detail",
                                      "files[].name",
                                      "files[].odirect.remedy",
                                      "files[].real",
                                      "files[].odirect.source",
                                      "files[].remedy",
                                      "files[].statfs",
                                      "files[].resident.reason",
                                      "io_uring.reason",
                                      "library.asked",
                                      "library.basis",
                                      "library.detail",
                                      "library.file",
                                      "library.found_by",
                                      "library.missing[]",
                                      "library.others[]",
                                      "library.remedy",
                                      "library.source",
                                      "library.version",
                                      "machine",
                                      "spur",
                                      "library.where"};
static const char *const integers[] = {"acs.*",
                                       "cuda.gpus[].compute_mode",
                                       "cuda.gpus[].cuda_version",
                                       "cuda.gpus[].major",
                                       "cuda.gpus[].memory_bytes",
                                       "cuda.gpus[].minor",
                                       "files[].bytes",
                                       "files[].device[]",
                                       "files[].extents.first_offset",
                                       "files[].extents.hole_bytes",
                                       "files[].extents.unwritten_bytes",
                                       "files[].extents.unflushed_bytes",
                                       "files[].flags",
                                       "files[].lustre.bytes",
                                       "files[].lustre.stripes",
                                       "files[].odirect.memory",
                                       "files[].odirect.offset",
                                       "files[].resident.bytes",
                                       "io_uring.disabled_sysctl",
                                       "library.major",
                                       "library.minor",
                                       "uid"};
static const char *const booleans[] = {"config_hangs",
                                       "cuda.simulated",
                                       "cuda.usable",
                                       "devices.*.usable",
                                       "files[].directory",
                                       "files[].hanging",
                                       "files[].odirect.works",
                                       "files[].resident.known",
                                       "files[].simfs",
                                       "io_uring.usable",
                                       "ipc_lock",
                                       "library.found",
                                       "library.simulated",
                                       "library.statistics",
                                       "library.streams"};
static const struct kind {
    json_type type; /* JSON_TRUE: a boolean */
    const char *name;
    const char *const *members;
    size_t n;
} kinds[] = {{JSON_OBJECT, "object", objects, ARRAY_SIZE(objects)},
             {JSON_ARRAY, "list", arrays, ARRAY_SIZE(arrays)},
             {JSON_STRING, "string", strings, ARRAY_SIZE(strings)},
             {JSON_INTEGER, "integer", integers, ARRAY_SIZE(integers)},
             {JSON_TRUE, "boolean", booleans, ARRAY_SIZE(booleans)}};

static const struct kind *kind_of(const char *place)
{
    if (!strcmp(place, "files[]"))
        return &kinds[0];
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        for (size_t k = 0; k < kinds[i].n; k++)
            if (!strcmp(kinds[i].members[k], place))
                return &kinds[i];
    return NULL;
}

static bool is_map(const char *place)
{
    return !strcmp(place, "acs") || !strcmp(place, "devices") || !strcmp(place, "env");
}

static int check(const char *place, const json_t *value, struct spur_error *e)
{
    const struct kind *k = kind_of(place);
    json_type type = json_is_false(value) ? JSON_TRUE : json_typeof(value);
    const json_t *member;
    const char *key;
    char below[256];
    int r = 0;

    if (k && type != k->type && (type != JSON_NULL || !strcmp(place, "files[]")))
        return error_spur(e, SPUR_CODE_USAGE, "root", "%s is no %s", place, k->name);
    if (!strcmp(place, "files[]") && !json_is_string(json_object_get(value, "name")))
        return error_spur(e, SPUR_CODE_USAGE, "root", "a member of files has no name");
    for (size_t i = 0; !r && type == JSON_ARRAY && i < json_array_size(value); i++) {
        snprintf(below, sizeof(below), "%.200s[]", place);
        r = check(below, json_array_get(value, i), e);
    }
    if (type != JSON_OBJECT)
        return r;
    json_object_foreach((json_t *)value, key, member)
    {
        snprintf(below, sizeof(below), "%.100s%s%.100s", place, *place ? "." : "", is_map(place) ? "*" : key);
        r = check(below, member, e);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ */

static int damaged(const char *root, const char *what, struct spur_error *e)
{
    error_spur(e, SPUR_CODE_USAGE, "root", "%s/facts.json: %s", root, what);
    error_remedy(e, "it was damaged: record the machine again");
    return -EINVAL;
}

static int parse(struct doctor *d, const char *root, const char *text, struct spur_error *e)
{
    struct spur_error wrong = {0};
    const char *schema;
    char what[300];
    json_error_t why;

    d->live = json_loads(text, 0, &why);
    if (!d->live) {
        snprintf(what, sizeof(what), "line %d: %s", why.line, why.text);
        return damaged(root, what, e);
    }
    schema = json_string_value(json_object_get(d->live, "schema"));
    if (schema && strcmp(schema, RECORDING_SCHEMA) != 0) {
        error_spur(e, SPUR_CODE_USAGE, "root", "%s/facts.json: schema '%s' is not %s: made by another version of spur",
                   root, schema, RECORDING_SCHEMA);
        error_remedy(e, "read it with that version, or record the machine again");
        return -EINVAL;
    }
    if (!schema)
        return damaged(root, "it is no object with a schema", e);
    return check("", d->live, &wrong) < 0 ? damaged(root, wrong.detail, e) : 0;
}

int recording_open(struct doctor *d, const char *root, struct spur_error *e)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = NULL;

    if (snprintf(d->p.root, sizeof(d->p.root), "%s", root) >= (int)sizeof(d->p.root))
        return error_errno(e, ENAMETOOLONG, "root", "%s", root);
    if (access(root, R_OK | X_OK) < 0)
        return error_errno(e, errno, "open", "%s", root);
    text = read_text(&d->p, "/facts.json", reason);
    if (text)
        return parse(d, root, text, e);
    if (errno == EIO)
        return damaged(root, "it is no text file", e);
    if (errno != ENOENT)
        return error_errno(e, errno, "open", "%s/facts.json", root);
    d->live = json_object(); /* a bare root: what only the process could say is unknown */
    return 0;
}

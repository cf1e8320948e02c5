/* SPDX-License-Identifier: MIT */
/*
 * The cuFile library that spur, or any program without an RPATH of its own, would load: told by the files, as spur
 * which tells it. Loading one to ask it is left for where they do not tell: some versions hang or crash then.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "doctor/check.h"
#include "driver/cufile.h"
#include "which/library.h"
#include "which/which.h"
#include "worker/job.h"

#define LIBRARY "libcufile.so.0"

static const char *asked_name(void)
{
    const char *named = getenv("SPUR_LIBCUFILE");

    return named && *named ? named : LIBRARY;
}

/* There is no library=FILE here, as paths have it. */
#define REMEDY                                                                                                         \
    "install a cuFile library (CUDA toolkit's libcufile, Debian's libcufile0, or the Python package nvidia-cufile) "   \
    "or name its file with SPUR_LIBCUFILE"

static json_t *not_found(const char *detail)
{
    return json_pack("{s:b, s:s, s:s, s:o, s:s}", "found", 0, "basis", "at rest", "asked", asked_name(), "detail",
                     json_filename(detail), "remedy", REMEDY);
}

/* ------------------------------------------------------------------------------------------------
 * At rest
 */

/* What it exports. Returns the first function that every cuFile has and it has not; NULL. */
static const char *put_symbols(json_t *o, const struct tree *t, const char *file)
{
    static const char *const needed[] = {"cuFileDriverOpen", "cuFileHandleRegister", "cuFileRead", "cuFileWrite"};
    static const struct {
        const char *key, *symbol;
    } told[] = {
        {"simulated", "fake_cufile_is_simulated"}, {"statistics", "cuFileGetStatsL3"}, {"streams", "cuFileReadAsync"}};
    _cleanup_fd_ int fd = tree_open_file(t, file, NULL);
    char reason[ELF_REASON];
    const char *lacks = NULL;
    struct elf elf;

    if (fd < 0 || elf_read(fd, &elf, reason) < 0)
        return needed[0];
    for (size_t i = 0; i < ARRAY_SIZE(told); i++)
        json_object_set_new(o, told[i].key, json_boolean(elf_has_string(fd, &elf, told[i].symbol)));
    for (size_t i = 0; !lacks && i < ARRAY_SIZE(needed); i++)
        lacks = elf_has_string(fd, &elf, needed[i]) ? NULL : needed[i];
    elf_free(&elf);
    return lacks;
}

/* Libraries that it needs and that are nowhere: then it does not load. */
static json_t *missing_of(const struct loader *l, const char *file)
{
    struct closure c = {NULL};
    struct spur_error e = {0};
    json_t *list = json_array();

    if (closure_make(l, file, NULL, &c, &e) == 0)
        for (size_t i = 0; i < c.n_missing; i++)
            json_array_append_new(list, json_filename(c.missing[i].name));
    closure_free(&c);
    return list;
}

static void put_version(json_t *o, const json_t *library)
{
    static const char *const keys[] = {"cuda", "sha256", "version", "version_least", "version_most"};
    const char *text = json_string_value(json_object_get(library, "version"));
    int major = -1, minor = -1;

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        json_object_set(o, keys[i], json_object_get(library, keys[i]) ?: json_null());
    json_object_set(o, "source", json_object_get(library, "version_source"));
    if (text && sscanf(text, "%4d.%4d", &major, &minor) == 2) {
        json_object_set_new(o, "major", json_integer(major));
        json_object_set_new(o, "minor", json_integer(minor));
    }
}

/* Copies that come later in the search. */
static json_t *others_of(const json_t *application)
{
    json_t *list = json_array(), *library;
    size_t i;

    json_array_foreach(json_object_get(application, "libraries"), i,
                       library) if (!json_is_true(json_object_get(library, "taken")))
        json_array_append(list, json_object_get(library, "file"));
    return list;
}

static json_t *judge(const struct tree *t, const struct loader *l, const json_t *application)
{
    static const char *const keys[] = {"file", "found_by", "where", "change"};
    const json_t *use = json_array_get(json_object_get(application, "uses"), 0);
    const json_t *fault = json_object_get(use, "fault");
    const char *file = json_string_value(json_object_get(use, "file")), *lacks;
    char words[PATH_MAX + 256];
    json_t *o;

    if (!file) {
        snprintf(words, sizeof(words), "%.3000s: no such file where the loader looks for it", asked_name());
        return not_found(words);
    }
    snprintf(words, sizeof(words), "%s: %.200s", file, json_string_value(fault) ?: "");
    if (fault)
        return not_found(words);
    o = json_pack("{s:b, s:s, s:o, s:o, s:o}", "found", 1, "basis", "at rest", "asked", json_filename(asked_name()),
                  "missing", missing_of(l, file), "others", others_of(application));
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        json_object_set(o, keys[i], json_object_get(use, keys[i]));
    put_version(o, json_array_get(json_object_get(application, "libraries"), 0));
    lacks = put_symbols(o, t, file);
    if (!lacks)
        return o;
    json_decref(o);
    snprintf(words, sizeof(words), "%s has no %s: it is no cuFile library", file, lacks);
    return not_found(words);
}

/* What was loaded with the program is what dlopen gives, whatever the search would meet. */
static void search(struct app *a, const struct closure *c)
{
    const struct closure_item *loaded = c->n_items ? closure_by_name(c, asked_name()) : NULL;

    a->program = c->n_items ? &c->items[0]->object : NULL;
    if (loaded)
        app_use(a, "dlopen", NULL, asked_name(), &loaded->found);
    else
        app_search(a, "dlopen", a->program, asked_name(), false);
}

json_t *live_library(void *context)
{
    const char *library_path = getenv("LD_LIBRARY_PATH");
    struct closure c = {NULL};
    struct spur_error e = {0};
    char program[PATH_MAX] = "";
    json_t *application, *o;
    struct loader l;
    struct tree t;
    struct app a;

    (void)context;
    if (tree_open(&t, "/", &e) < 0 || !realpath("/proc/self/exe", program) || !getcwd(t.cwd, sizeof(t.cwd)))
        return not_found("the program's own file is not seen");
    loader_open(&l, &t, which_machine(&t, program), library_path);
    closure_make(&l, program, getenv("LD_PRELOAD"), &c, &e);
    if (app_open(&a, &t, "program", NULL, library_path, l.machine) < 0)
        return NULL;
    search(&a, &c);
    application = app_close(&a);
    o = judge(&t, &l, application);
    json_decref(application);
    closure_free(&c);
    loader_close(&l);
    tree_close(&t);
    return o;
}

/* ------------------------------------------------------------------------------------------------
 * By loading it
 */

bool live_library_is_told(const json_t *at_rest)
{
    return json_is_true(json_object_get(at_rest, "found")) && json_is_string(json_object_get(at_rest, "version")) &&
           !json_array_size(json_object_get(at_rest, "missing"));
}

json_t *live_library_loaded(void *context)
{
    struct spur_error e = {0};
    struct cufile *c;

    (void)context;
    if (cufile_open(NULL, &c, &e) < 0)
        return json_pack("{s:b, s:s, s:o, s:o, s:o}", "found", 0, "basis", "loaded", "asked",
                         json_filename(asked_name()), "detail", json_filename(e.detail), "remedy",
                         strstr(e.remedy, "library=FILE") ? json_string(REMEDY) : json_filename(e.remedy));
    return json_pack(
        "{s:b, s:s, s:o, s:o, s:s, s:i, s:i, s:s, s:b, s:b, s:b, s:[]}", "found", 1, "basis", "loaded", "asked",
        json_filename(c->asked_file), "file", c->real_file ? json_filename(c->real_file) : json_null(), "version",
        c->version.text, "major", c->version.major, "minor", c->version.minor, "source", c->version.source, "simulated",
        c->is_simulated, "statistics", c->cuFileGetStatsL3 != NULL, "streams", c->cuFileReadAsync != NULL, "missing");
}

/* SPDX-License-Identifier: MIT */
#include "cli/which_text.h"

#include <stdarg.h>
#include <string.h>

#include "cli/exit.h"
#include "cli/wrap.h"
#include "which/which.h"

#define COLUMN    13 /* of the text behind a word */
#define MOST_USES 4
#define TEXT      9000

static const char *text_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));

    return s ? s : "";
}

static bool is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* "  word      text", folded. */
static void line(FILE *out, const char *word, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(FILE *out, const char *word, const char *format, ...)
{
    char text[TEXT], plain[TEXT];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    exit_escape(text, plain, sizeof(plain));
    fprintf(out, "  %-*s", COLUMN - 2, word);
    wrap_print(out, plain, COLUMN, COLUMN);
}

/* Names of files are not folded. */
static void whole_line(FILE *out, const char *word, const char *text)
{
    char plain[TEXT];

    exit_escape(text, plain, sizeof(plain));
    fprintf(out, "  %-*s%s\n", COLUMN - 2, word, plain);
}

/* ------------------------------------------------------------------------------------------------
 * The first line
 */

/* The use by which the application comes to it: of several the surest. NULL: none is known. */
static const json_t *use_of(const json_t *application, const json_t *library)
{
    const json_t *use, *best = NULL, *file = json_object_get(library, "file");
    size_t i;

    json_array_foreach(json_object_get(application, "uses"), i, use)
    {
        if (!json_equal(json_object_get(use, "file"), file))
            continue;
        if (!best || (strcmp(text_of(use, "how"), "needed") == 0 && strcmp(text_of(best, "how"), "needed") != 0))
            best = use;
    }
    return best;
}

static void print_state(FILE *out, const json_t *application, const json_t *library)
{
    const json_t *use = use_of(application, library);
    bool needed = strcmp(text_of(use, "how"), "needed") == 0 || strcmp(text_of(use, "how"), "preload") == 0;
    const char *package = text_of(json_object_get(use, "package"), "name");

    if (is_true(application, "loaded"))
        fprintf(out, "is loaded\n");
    else if (*package)
        fprintf(out, "would be loaded %s%s\n", needed ? "with " : "when asked for by ", package);
    else if (!strcmp(text_of(application, "kind"), "image"))
        fprintf(out, "is what %s\n",
                *text_of(use, "object") ? "a program in it gets" : "a program without an RPATH gets");
    else
        fprintf(out, "%s\n", needed ? "would be loaded at its start" : "would be loaded when it opens it");
}

static void print_name(FILE *out, const json_t *application)
{
    char plain[TEXT];

    exit_escape(text_of(application, "name"), plain, sizeof(plain));
    fprintf(out, "%s %s", text_of(application, "kind"), plain);
    if (*text_of(application, "python_version"))
        fprintf(out, " (Python %s)", text_of(application, "python_version"));
    fprintf(out, ": ");
}

/* "1.13.1.3", "of 1.9 to 1.13", "of an unknown version". */
static const char *version_of(const json_t *library, char *buffer, size_t size)
{
    const char *least = text_of(library, "version_least"), *most = text_of(library, "version_most");

    if (*text_of(library, "version"))
        return text_of(library, "version");
    if (*least && *most)
        snprintf(buffer, size, "of a version from %s to %s", least, most);
    else if (*least)
        snprintf(buffer, size, "of version %s or later", least);
    else
        snprintf(buffer, size, "of an unknown version");
    return buffer;
}

static size_t count_taken(const json_t *application)
{
    const json_t *library;
    size_t i, n = 0;

    json_array_foreach(json_object_get(application, "libraries"), i, library) n += is_true(library, "taken");
    return n;
}

/* @alone: of an image that no other application was found in. */
static const char *none_of(const json_t *application, bool alone)
{
    bool uses = json_array_size(json_object_get(application, "uses"));
    bool libraries = json_array_size(json_object_get(application, "libraries"));

    if (!strcmp(text_of(application, "kind"), "image")) {
        if (uses)
            return "what asks for libcufile in it would find none";
        if (!alone)
            return "nothing else in it asks for cuFile";
        return libraries ? "nothing in it asks for cuFile, though there is one"
                         : "nothing in it asks for cuFile, and there is none";
    }
    if (uses)
        return "asks for libcufile, but would find none";
    return libraries ? "loads no cuFile by itself, though there is one" : "loads no cuFile";
}

static void print_head(FILE *out, const json_t *application, bool alone)
{
    const json_t *library;
    char version[96];
    size_t i, n = count_taken(application);

    if (!n) {
        print_name(out, application);
        fprintf(out, "%s\n", none_of(application, alone));
        return;
    }
    json_array_foreach(json_object_get(application, "libraries"), i, library)
    {
        if (!is_true(library, "taken"))
            continue;
        print_name(out, application);
        fprintf(out, "libcufile %s ", version_of(library, version, sizeof(version)));
        print_state(out, application, library);
    }
    if (n > 1 && !is_true(application, "loaded"))
        fprintf(out,
                "  They answer to one name: in a process that uses several, the first that is loaded serves all.\n");
}

/* ------------------------------------------------------------------------------------------------
 * One library
 */

static void print_package(const json_t *package, char *ret, size_t size)
{
    if (json_is_object(package))
        snprintf(ret, size, " (%s %s)", text_of(package, "name"), text_of(package, "version"));
    else
        ret[0] = '\0';
}

static const char *verb_of(const json_t *use)
{
    const char *how = text_of(use, "how");

    return !strcmp(how, "needed") ? "needs" : !strcmp(how, "preload") ? "is told by LD_PRELOAD to load" : "opens";
}

/* Within a folder of packages from there on. */
static const char *shorter(const char *file)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};

    for (size_t i = 0; i < 2; i++)
        if (strstr(file, folders[i]))
            return strstr(file, folders[i]) + strlen(folders[i]);
    return file;
}

/* ", by RPATH $ORIGIN/../../nvidia/cufile/lib"; the owner where it is another object. */
static void print_found(const json_t *use, char *ret, size_t size)
{
    const char *owner = text_of(use, "owner");
    bool other = *owner && strcmp(owner, text_of(use, "object")) != 0;

    ret[0] = '\0';
    if (*text_of(use, "found_by"))
        snprintf(ret, size, ", found by %s%s%s%s%s", text_of(use, "found_by"), *text_of(use, "where") ? " " : "",
                 text_of(use, "where"), other ? " of " : "", other ? shorter(owner) : "");
}

static void print_use(FILE *out, const char *word, const json_t *use, const char *end)
{
    const char *object = text_of(use, "object");
    char package[400], found[TEXT / 2];

    print_package(json_object_get(use, "package"), package, sizeof(package));
    print_found(use, found, sizeof(found));
    line(out, word, "%s%s %s %s%s%s%s", *object ? shorter(object) : "a program", package, verb_of(use),
         text_of(use, "name"), is_true(use, "in_code") ? " (the name is in its code)" : "", found, end);
}

/* In a process an object that is not loaded has not asked for anything. */
static const char *word_of(const json_t *use, size_t n)
{
    const json_t *loaded = json_object_get(use, "object_loaded");

    if (loaded && !json_is_true(loaded))
        return "perhaps by";
    return n == 1 ? "used by" : "";
}

static void print_uses(FILE *out, const json_t *application, const json_t *library)
{
    const json_t *use, *first = use_of(application, library);
    size_t i, n = 0;

    json_array_foreach(json_object_get(application, "uses"), i,
                       use) if (json_equal(json_object_get(use, "file"), json_object_get(library, "file")) &&
                                n++ < MOST_USES) print_use(out, word_of(use, n), use, "");
    if (n > MOST_USES)
        line(out, "", "and %zu more (--json names them)", n - MOST_USES);
    if (first && !is_true(application, "loaded"))
        line(out, "change", "%s", text_of(first, "change"));
}

static void print_chain(FILE *out, const json_t *chain, const char *word)
{
    const json_t *step = NULL;
    char text[TEXT] = "";
    size_t i, n = 0;

    json_array_foreach(chain, i, step)
    {
        if (i == 0)
            n += (size_t)snprintf(text, sizeof(text), "%s %s", text_of(step, "name"), text_of(step, "version"));
        if (n < sizeof(text))
            n += (size_t)snprintf(text + n, sizeof(text) - n, " -> %s%s", text_of(step, "needs"), text_of(step, "as"));
    }
    if (step)
        line(out, word, "%s%s%s", text, is_true(step, "pinned") ? " (pinned)" : "",
             is_true(step, "satisfied") ? "" : "; what is installed is another version");
}

static void print_chains(FILE *out, const json_t *library)
{
    const json_t *chains = json_object_get(library, "chains"), *package = json_object_get(library, "package"), *chain;
    size_t i;

    if (json_is_object(package))
        line(out, "package", "%s %s", text_of(package, "name"), text_of(package, "version"));
    json_array_foreach(chains, i, chain) print_chain(out, chain, i ? "" : "required");
    if (json_is_object(package) && !json_array_size(chains))
        line(out, "required", "by no package that is installed");
}

static void print_known(FILE *out, const json_t *library)
{
    const json_t *known = json_object_get(library, "known"), *fault;
    size_t i;

    if (!json_is_object(known)) {
        line(out, "known", "%s", text_of(library, "known_reason"));
        return;
    }
    line(out, "requests", "%s (%s)", text_of(known, "requests_words"), text_of(known, "basis"));
    if (*text_of(known, "remedy"))
        line(out, "remedy", "%s", text_of(known, "remedy"));
    line(out, "statistics", "%s", text_of(known, "statistics"));
    json_array_foreach(json_object_get(known, "faults"), i, fault)
        line(out, "fault", "%s%s%s", text_of(fault, "what"), *text_of(fault, "remedy") ? "; remedy: " : "",
             text_of(fault, "remedy"));
}

static void print_version(FILE *out, const json_t *library)
{
    const char *cuda = text_of(library, "cuda");
    char version[96];

    if (!*text_of(library, "version"))
        line(out, "version", "%s: %s%s", version_of(library, version, sizeof(version)),
             text_of(library, "version_reason"),
             *text_of(library, "version_least") ? "; the range is by the functions that it has" : "");
    else
        line(out, "version", "%s%s%s%s, by its %s", text_of(library, "version"), *cuda ? " (CUDA " : "", cuda,
             *cuda ? ")" : "", text_of(library, "version_source"));
}

static void print_library(FILE *out, const json_t *application, const json_t *library)
{
    const char *sha256 = text_of(library, "sha256");

    fputc('\n', out);
    whole_line(out, "file", text_of(library, "file"));
    if (is_true(library, "deleted"))
        line(out, "", "deleted or replaced since it was loaded: what lies there now is another file");
    print_version(out, library);
    whole_line(out, "sha256", *sha256 ? sha256 : text_of(library, "sha256_reason"));
    print_uses(out, application, library);
    print_chains(out, library);
    print_known(out, library);
}

/* ------------------------------------------------------------------------------------------------ */

static void print_copy(FILE *out, const json_t *library)
{
    char version[96], package[400];
    const char *fault = text_of(library, "fault");

    whole_line(out, "not taken", text_of(library, "file"));
    print_package(json_object_get(library, "package"), package, sizeof(package));
    line(out, "", "libcufile %s%s: %s%s%s", version_of(library, version, sizeof(version)), package,
         text_of(library, "why_not"), *fault ? "; " : "", fault);
}

/* Uses that get no file. */
static void print_misses(FILE *out, const json_t *application)
{
    const char *end = count_taken(application) ? " by its own search: it gets the one that was loaded before, if any"
                                               : "";
    const json_t *use;
    size_t i;

    json_array_foreach(json_object_get(application, "uses"), i, use)
    {
        if (*text_of(use, "fault"))
            line(out, "broken", "%s: %s; the loader ends there with an error", text_of(use, "file"),
                 text_of(use, "fault"));
        else if (json_is_null(json_object_get(use, "file")))
            print_use(out, "not found", use, end);
    }
}

static void print_application(FILE *out, const json_t *application, bool alone)
{
    const json_t *library, *note;
    size_t i;

    print_head(out, application, alone);
    json_array_foreach(json_object_get(application, "notes"), i, note) line(out, "note", "%s", json_string_value(note));
    json_array_foreach(json_object_get(application, "libraries"), i, library) if (is_true(library, "taken"))
        print_library(out, application, library);
    print_misses(out, application);
    json_array_foreach(json_object_get(application, "libraries"), i, library) if (!is_true(library, "taken"))
        print_copy(out, library);
}

void which_text_print(FILE *out, const json_t *answer)
{
    const json_t *application, *table = json_object_get(answer, "table");
    size_t i, n = json_array_size(json_object_get(answer, "applications"));

    json_array_foreach(json_object_get(answer, "applications"), i, application)
    {
        if (i)
            fputc('\n', out);
        print_application(out, application, n == 1);
    }
    if (which_is_found(answer))
        fprintf(out,
                "\nWhat is known of versions is from spur's table of %s, up to %s. Any version can be tried with\n"
                "spur run --path cufile --set library=FILE.\n",
                text_of(table, "date"), text_of(table, "newest"));
}

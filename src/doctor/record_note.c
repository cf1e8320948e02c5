/* SPDX-License-Identifier: MIT */
/* What a record does not tell: people, hosts, and the names of files and of what they lie on. */
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor/record.h"
#include "worker/job.h"

static void note_path(struct record *r, const char *path)
{
    if (!path || path[0] != '/' || r->n_paths == ARRAY_SIZE(r->paths))
        return;
    r->paths[r->n_paths] = strdup(path);
    r->n_paths += r->paths[r->n_paths] != NULL;
    scrub_path(&r->scrub, path);
}

/* Folders of an overlay, and the server and folder of a network mount. */
static void note_mount(struct record *r, const struct probe_mount *m)
{
    static const char *const keys[] = {"upperdir", "lowerdir", "workdir"};
    char value[PATH_MAX], *at = value, *one;
    const char *colon = strchr(m->source, ':');

    scrub_path(&r->scrub, m->mount_point);
    if (colon) {
        scrub_word(&r->scrub, SCRUB_HOST, m->source, (size_t)(colon - m->source));
        scrub_path(&r->scrub, colon + 1);
    }
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (!option_value(m->super_options, keys[i], value, sizeof(value)))
            continue;
        for (at = value; (one = strsep(&at, ":"));)
            note_path(r, one);
    }
}

static void note_loops(struct record *r)
{
    json_t *disks = look_names(r->d, "/sys/block"), *one;
    size_t i;

    json_array_foreach(disks, i, one)
    {
        _cleanup_free_ char *file = look_line(r->d, "/sys/block/%s/loop/backing_file", json_string_value(one));

        note_path(r, file);
    }
    json_decref(disks);
}

static void note_groups(struct record *r)
{
    char reason[PROBE_REASON];
    _cleanup_free_ char *text = look_text(r->d, reason, "/proc/self/cgroup");
    char *at = text, *line;

    while (at && (line = strsep(&at, "\n"))) {
        const char *path = strchr(line, ':') ? strchr(strchr(line, ':') + 1, ':') : NULL;

        if (path)
            scrub_path(&r->scrub, path + 1);
    }
}

static void note_people(struct record *r)
{
    const struct passwd *who = getpwuid(getuid());
    const char *login = getenv("SUDO_USER");
    struct utsname u;

    if (uname(&u) == 0)
        scrub_word(&r->scrub, SCRUB_HOST, u.nodename, strlen(u.nodename));
    if (who && strcmp(who->pw_name, "root"))
        scrub_word(&r->scrub, SCRUB_USER, who->pw_name, strlen(who->pw_name));
    if (login)
        scrub_word(&r->scrub, SCRUB_USER, login, strlen(login));
}

/* As it is, and as JSON shows it where it is not UTF-8. */
static void note_name(struct record *r, const char *name)
{
    json_t *shown = json_filename(name);

    scrub_path(&r->scrub, name);
    scrub_path(&r->scrub, json_string_value(shown) ?: "");
    json_decref(shown);
}

/* Folders that libraries have everywhere; what else their paths name may be somebody's. */
static bool is_usual(const char *word, size_t n)
{
    static const char *const stems[] = {"lib",    "nvidia",  "cu",   "python",  "site-packages", "dist-packages",
                                        "target", "x86_64-", "venv", "aarch64", ".venv"};

    for (size_t i = 0; i < ARRAY_SIZE(stems); i++)
        if (n >= strlen(stems[i]) && !strncmp(word, stems[i], strlen(stems[i])))
            return true;
    return false;
}

static void note_library(struct record *r, const char *file)
{
    while (file && *file) {
        size_t n = strcspn(file, "/");

        if (!is_usual(file, n))
            scrub_word(&r->scrub, SCRUB_NAME, file, n);
        file += n + (file[n] == '/');
    }
}

static void note_libraries(struct record *r)
{
    static const char *const keys[] = {"library.file", "library.asked", "library.where"};
    const json_t *other;
    size_t i;

    for (i = 0; i < ARRAY_SIZE(keys); i++)
        if (strchr(live_text(r->d, keys[i]) ?: "", '/'))
            note_library(r, live_text(r->d, keys[i]));
    json_array_foreach(live_get(r->d, "library.others"), i, other) note_library(r, json_string_value(other));
}

void record_note_all(struct record *r)
{
    note_people(r);
    note_groups(r);
    note_loops(r);
    note_libraries(r);
    for (size_t i = 0; i < r->d->n_files; i++) {
        const struct doctor_file *f = &r->d->files[i];

        note_name(r, f->name);
        note_path(r, json_string_value(json_object_get(f->facts, "real")) ?: f->name);
        if (f->mount.known)
            note_mount(r, &f->mount);
    }
}

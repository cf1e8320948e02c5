/* SPDX-License-Identifier: MIT */
#include "driver/cufile_version.h"

#include "core/util.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX  ".dist-info"
#define MOST_UP 5 /* site-packages/nvidia/cu13/lib/libcufile.so.0 is three folders below its dist-info */

static bool parse(const char *text, struct cufile_version *ret)
{
    ret->major = ret->minor = ret->patch = ret->build = -1;
    return sscanf(text, "%d.%d.%d.%d", &ret->major, &ret->minor, &ret->patch, &ret->build) >= 2;
}

bool cufile_version_of_name(const char *file, struct cufile_version *ret)
{
    const char *slash = strrchr(file, '/');
    const char *so = strstr(slash ? slash : file, ".so.");

    return so && parse(so + strlen(".so."), ret);
}

/* ------------------------------------------------------------------------------------------------
 * Python packages
 */

/* Whether RECORD in the folder @info has a line for @relative. */
static bool record_lists(const char *info, const char *relative)
{
    size_t n = strlen(relative);
    char line[PATH_MAX + 128];
    bool found = false;
    FILE *f;

    snprintf(line, sizeof(line), "%s/RECORD", info);
    f = fopen(line, "re");
    if (!f)
        return false;
    while (!found && fgets(line, sizeof(line), f))
        found = !strncmp(line, relative, n) && line[n] == ',';
    fclose(f);
    return found;
}

/* "nvidia_cufile_cu12-1.11.1.6.dist-info": where its version begins; NULL: another name. */
static const char *version_in(const char *name)
{
    const char *dash = strrchr(name, '-');
    size_t n = strlen(name);

    /* The last '-' is that of "dist-info" itself. */
    while (dash && dash > name && strncmp(dash, "-info", 5) == 0)
        dash = memrchr(name, '-', (size_t)(dash - name));
    if (strncmp(name, "nvidia_cufile", 13) || n < sizeof(SUFFIX) || strcmp(name + n - strlen(SUFFIX), SUFFIX) || !dash)
        return NULL;
    return dash + 1;
}

/* Looks in @folder, whose path below which the library lies is @relative. */
static bool package_in(const char *folder, const char *relative, struct cufile_version *ret, char *name, size_t size)
{
    DIR *d = opendir(folder);
    bool found = false;
    struct dirent *entry;

    if (!d)
        return false;
    while (!found && (entry = readdir(d))) {
        const char *version = version_in(entry->d_name);
        char info[PATH_MAX];

        if (!version || snprintf(info, sizeof(info), "%s/%s", folder, entry->d_name) >= (int)sizeof(info))
            continue;
        found = record_lists(info, relative) && parse(version, ret);
        if (found)
            snprintf(name, size, "%s", entry->d_name);
    }
    closedir(d);
    return found;
}

static bool package_of(const char *file, struct cufile_version *ret, char *name, size_t size)
{
    char folder[PATH_MAX];

    if (strlen(file) >= sizeof(folder))
        return false;
    strcpy(folder, file);
    for (int up = 0; up < MOST_UP; up++) {
        char *slash = strrchr(folder, '/');

        if (!slash || slash == folder)
            return false;
        *slash = '\0';
        if (package_in(folder, file + (slash - folder) + 1, ret, name, size))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static void say(struct cufile_version *v, const char *format, ...)
{
    size_t n = strlen(v->source);
    va_list ap;

    va_start(ap, format);
    vsnprintf(v->source + n, sizeof(v->source) - n, format, ap);
    va_end(ap);
}

/* Takes @named where it does not contradict what the library says of itself. */
static void take(struct cufile_version *v, const struct cufile_version *named, const char *source)
{
    if (v->number && (named->major != v->major || named->minor != v->minor)) {
        say(v, "; %s not believed", source);
        return;
    }
    v->major = named->major;
    v->minor = named->minor;
    v->patch = named->patch;
    v->build = named->build;
    say(v, "%s%s", *v->source ? "; " : "", source);
}

static void write_text(struct cufile_version *v)
{
    const int numbers[] = {v->major, v->minor, v->patch, v->build};
    size_t n = 0;

    for (unsigned i = 0; i < ARRAY_SIZE(numbers) && numbers[i] >= 0; i++)
        n += (size_t)snprintf(v->text + n, sizeof(v->text) - n, "%s%d", i ? "." : "", numbers[i] % 100000);
}

void cufile_version_find(CUfileError_t (*get)(int *), const char *real_file, struct cufile_version *ret)
{
    struct cufile_version v = {.major = -1, .minor = -1, .patch = -1, .build = -1}, named = {0};
    char name[96];

    if (get && get(&v.number).err == CUFILE_SUCCESS && v.number > 0) {
        v.major = v.number / 1000;
        v.minor = v.number % 1000 / 10;
        say(&v, "cuFileGetVersion");
    } else {
        v.number = 0;
    }
    if (real_file && cufile_version_of_name(real_file, &named))
        take(&v, &named, "file name");
    else if (real_file && package_of(real_file, &named, name, sizeof(name)))
        take(&v, &named, name);
    write_text(&v);
    *ret = v;
}

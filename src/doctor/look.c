/* SPDX-License-Identifier: MIT */
/* Looking below the root, and small texts. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "doctor/check.h"
#include "probe/read.h"

#define FORMAT_PATH(path, format)                                                                                      \
    do {                                                                                                               \
        va_list ap;                                                                                                    \
        int n_;                                                                                                        \
        va_start(ap, format);                                                                                          \
        n_ = vsnprintf(path, sizeof(path), format, ap);                                                                \
        va_end(ap);                                                                                                    \
        if (n_ < 0 || (size_t)n_ >= sizeof(path))                                                                      \
            path[0] = 0;                                                                                               \
    } while (0)

char *look_line(const struct doctor *d, const char *format, ...)
{
    char path[PATH_MAX], reason[PROBE_REASON], *text;
    size_t n;

    FORMAT_PATH(path, format);
    text = read_text(&d->p, path, reason);
    if (!text)
        return NULL;
    n = strcspn(text, "\n");
    while (n && strchr(" \t\r", text[n - 1]))
        n--;
    text[n] = 0;
    return text;
}

char *look_text(const struct doctor *d, char *reason, const char *format, ...)
{
    char path[PATH_MAX];

    FORMAT_PATH(path, format);
    return read_text(&d->p, path, reason);
}

bool look_u64(const struct doctor *d, uint64_t *ret, const char *format, ...)
{
    char path[PATH_MAX], reason[PROBE_REASON];

    FORMAT_PATH(path, format);
    return read_u64(&d->p, path, ret, reason) == 0;
}

bool look_exists(const struct doctor *d, const char *format, ...)
{
    char path[PATH_MAX];
    int fd;

    FORMAT_PATH(path, format);
    fd = path[0] ? read_open(&d->p, path, O_PATH) : -1;
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

json_t *look_names(const struct doctor *d, const char *format, ...)
{
    char path[PATH_MAX], *names[1024];
    json_t *list = json_array();
    struct dirent *entry;
    size_t n = 0;
    DIR *dir;
    int fd;

    FORMAT_PATH(path, format);
    fd = path[0] ? read_open(&d->p, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK) : -1;
    dir = fd >= 0 ? fdopendir(fd) : NULL;
    while (dir && n < ARRAY_SIZE(names) && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && (names[n] = strdup(entry->d_name)))
            n++;
    if (dir)
        closedir(dir);
    qsort(names, n, sizeof(*names), by_name);
    for (size_t i = 0; i < n; i++) {
        json_t *name = json_string(names[i]);

        if (name) /* else not UTF-8: no name of the kernel's */
            json_array_append_new(list, name);
        free(names[i]);
    }
    return list;
}

char *look_link(const struct doctor *d, const char *format, ...)
{
    char path[PATH_MAX], full[PATH_MAX + sizeof(d->p.root)], real[PATH_MAX], root[PATH_MAX] = "";
    size_t n;

    FORMAT_PATH(path, format);
    if (!path[0] || !read_path(&d->p, full, sizeof(full), "%s", path) || !realpath(full, real))
        return NULL;
    if (d->p.root[0] && !realpath(d->p.root, root))
        return NULL;
    n = strlen(root);
    return !strncmp(real, root, n) && real[n] == '/' ? strdup(real + n) : NULL;
}

bool option_value(const char *options, const char *key, char *ret, size_t size)
{
    size_t n = strlen(key);

    for (const char *at = options; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, key, n) || at[n] != '=')
            continue;
        at += n + 1;
        n = strcspn(at, ",");
        if (n >= size)
            return false;
        memcpy(ret, at, n);
        ret[n] = 0;
        return true;
    }
    return false;
}

void kernel_numbers(const char *release, unsigned *major, unsigned *minor)
{
    if (sscanf(release, "%4u.%4u", major, minor) != 2)
        *major = *minor = 0;
}

static const json_t *dotted_get(const json_t *at, const char *dotted)
{
    char word[64];

    while (at && *dotted) {
        size_t n = strcspn(dotted, ".");

        if (n >= sizeof(word))
            return NULL;
        memcpy(word, dotted, n);
        word[n] = 0;
        at = json_object_get(at, word);
        dotted += n + (dotted[n] == '.');
    }
    return at;
}

const json_t *live_get(const struct doctor *d, const char *dotted)
{
    return dotted_get(d->live, dotted);
}

const char *live_text(const struct doctor *d, const char *dotted)
{
    return json_string_value(live_get(d, dotted));
}

const json_t *config_get(const struct doctor *d, const char *dotted)
{
    return dotted_get(d->config, dotted);
}

/* SPDX-License-Identifier: MIT */
#include "probe/read.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_BYTES (16u << 20)

void probe_init(struct probe *p)
{
    const char *root = getenv("SPUR_ROOT");

    snprintf(p->root, sizeof(p->root), "%s", root ? root : "");
}

void reason_set(char *reason, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(reason, PROBE_REASON, format, ap);
    va_end(ap);
}

bool read_path(const struct probe *p, char *ret, size_t size, const char *path, ...)
{
    int n = snprintf(ret, size, "%s", p->root), m;
    va_list ap;

    if (n < 0 || (size_t)n >= size)
        return false;
    va_start(ap, path);
    m = vsnprintf(ret + n, size - (size_t)n, path, ap);
    va_end(ap);
    return m >= 0 && (size_t)m < size - (size_t)n;
}

static char *grow(char *text, size_t used, size_t *size)
{
    char *larger;

    if (used + 1 < *size)
        return text;
    *size = *size ? *size * 4 : 4096;
    larger = *size <= MOST_BYTES ? realloc(text, *size) : NULL;
    if (!larger)
        free(text);
    return larger;
}

static char *read_all(int fd, const char *path, char *reason)
{
    size_t used = 0, size = 0;
    char *text = NULL;
    ssize_t n;

    do {
        text = grow(text, used, &size);
        if (!text) {
            reason_set(reason, "%s: too large", path);
            return NULL;
        }
        n = read(fd, text + used, size - used - 1);
        used += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    text[used] = 0;
    if (n == 0 && !memchr(text, 0, used))
        return text;
    reason_set(reason, "%s: %s", path, n < 0 ? strerrordesc_np(errno) : "holds a NUL byte");
    free(text);
    return NULL;
}

int read_open(const struct probe *p, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
    char full[4096];
    int root, fd;

    if (!read_path(p, full, sizeof(full), "%s", path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!p->root[0])
        return open(full, flags | O_CLOEXEC);
    root = open(p->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
    close(root);
    if (fd < 0 && errno == ENOSYS) /* before Linux 5.6, or under a profile that does not know it */
        fd = open(full, flags | O_CLOEXEC | O_NOFOLLOW);
    return fd;
}

char *read_text(const struct probe *p, const char *path, char *reason)
{
    int fd = read_open(p, path, O_RDONLY | O_NONBLOCK);
    char *text;

    if (fd < 0) {
        reason_set(reason, "%s: %s", path, strerrordesc_np(errno));
        return NULL;
    }
    text = read_all(fd, path, reason);
    close(fd);
    if (!text)
        errno = EIO; /* it is there */
    return text;
}

int read_line(const struct probe *p, const char *path, char *ret, size_t size, char *reason)
{
    char *text = read_text(p, path, reason);
    size_t n;

    if (!text)
        return -ENOENT;
    n = strcspn(text, "\n");
    text[n] = 0;
    if (n >= size || n == 0) {
        reason_set(reason, "%s: %s", path, n ? "line too long" : "empty");
        free(text);
        return -EINVAL;
    }
    memcpy(ret, text, n + 1);
    free(text);
    return 0;
}

bool parse_u64(const char **s, uint64_t *ret)
{
    const char *c = *s;
    uint64_t v = 0;

    while (*c == ' ' || *c == '\t')
        c++;
    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9'; c++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*c - '0'), &v))
            return false;
    *s = c;
    *ret = v;
    return true;
}

int read_u64(const struct probe *p, const char *path, uint64_t *ret, char *reason)
{
    const char *at;
    char line[64];
    uint64_t v;
    int r = read_line(p, path, line, sizeof(line), reason);

    if (r < 0)
        return r;
    at = line;
    if (!parse_u64(&at, &v) || at[strspn(at, " \t")]) {
        reason_set(reason, "%s: not a number: '%s'", path, line);
        return -EINVAL;
    }
    *ret = v;
    return 0;
}

bool parse_key_u64(const char *text, const char *key, char separator, uint64_t *ret)
{
    size_t n = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, n) || line[n] != separator)
            continue;
        line += n + 1;
        return parse_u64(&line, ret);
    }
    return false;
}

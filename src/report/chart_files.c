/* SPDX-License-Identifier: MIT */
/* Charts as files: data, scripts that run by themselves, and the SVG that gnuplot makes of them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"
#include "report/chart_all.h"
#include "report/chart_gnuplot.h"
#include "report/report.h"

static bool is_empty(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    bool ret = d != NULL;

    for (struct dirent *entry; d && (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            ret = false;
    if (d)
        closedir(d);
    else if (copy >= 0)
        close(copy);
    return ret;
}

static int open_directory(const char *dir, int *ret_fd, struct spur_error *e)
{
    bool is_new = mkdir(dir, 0777) == 0;
    int fd, r;

    if (!is_new && errno != EEXIST)
        return error_errno(e, errno, "mkdir", "%s", dir);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        r = error_spur(e, SPUR_CODE_REFUSED, "charts", "--charts: %s is there and is no folder", dir);
        error_remedy(e, "name a new folder");
        return r;
    }
    if (fd < 0)
        return error_errno(e, errno, "open", "%s", dir);
    if (!is_empty(fd)) {
        close(fd);
        r = error_spur(e, SPUR_CODE_REFUSED, "charts", "%s: not empty", dir);
        error_remedy(e, "name a new folder, or empty this one");
        return r;
    }
    *ret_fd = fd;
    return 0;
}

static FILE *create(int fd, const char *name, const char *suffix)
{
    char file[128];
    FILE *ret;
    int f;

    snprintf(file, sizeof(file), "%s.%s", name, suffix);
    f = openat(fd, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (f < 0)
        return NULL;
    ret = fdopen(f, "w");
    if (!ret)
        close(f);
    return ret;
}

static int finish(FILE *f)
{
    bool failed = ferror(f);

    errno = EIO;
    return fclose(f) || failed ? -errno : 0;
}

static int write_chart(int fd, const struct chart *c, const char *name)
{
    FILE *f = create(fd, name, "dat");
    int r;

    if (!f)
        return -errno;
    fputs(c->data, f);
    r = finish(f);
    if (r < 0)
        return r;
    f = create(fd, name, "gp");
    if (!f)
        return -errno;
    chart_write_file(f, c, name);
    return finish(f);
}

/* All scripts in one gnuplot, in the folder. */
static int draw(int fd, char *const *scripts)
{
    _cleanup_free_ char *program = chart_gnuplot_find(), *output = NULL;
    struct chart_gnuplot_run run = {
        .program = program, .arguments = scripts, .directory = fd, .limit_ns = CHART_LIMIT_NS};
    char reason[CHART_REASON];
    size_t length;

    return program ? chart_gnuplot_run(&run, &output, &length, reason) : -ENOENT;
}

static int write_all(int fd, const char *dir, const struct charts *charts, bool *ret_drawn, struct spur_error *e)
{
    char **scripts = calloc(charts->n + 1, sizeof(*scripts));
    char name[96];
    int r = scripts ? 0 : -ENOMEM;

    for (size_t i = 0; i < charts->n && !r; i++) {
        snprintf(name, sizeof(name), "%02zu-%s", i + 1, charts->items[i].name);
        r = write_chart(fd, &charts->items[i], name);
        if (!r && asprintf(&scripts[i], "%s.gp", name) < 0) {
            scripts[i] = NULL;
            r = -ENOMEM;
        }
    }
    if (r < 0)
        error_errno(e, -r, "write", "charts in %s", dir);
    else
        *ret_drawn = !charts->n || draw(fd, scripts) == 0;
    for (size_t i = 0; scripts && i < charts->n; i++)
        free(scripts[i]);
    free(scripts);
    return r;
}

int report_charts(const char *dir, struct store *s, const struct analysis *a, const char **ret_without,
                  struct spur_error *e)
{
    struct chart_book book;
    bool drawn = false;
    int fd = -1, r;

    r = chart_book_make(s, a, &book, e);
    if (r < 0)
        return r;
    r = open_directory(dir, &fd, e);
    if (!r)
        r = write_all(fd, dir, &book.charts, &drawn, e);
    if (fd >= 0)
        close(fd);
    chart_book_free(&book);
    if (!r)
        *ret_without = drawn ? NULL : "gnuplot";
    return r;
}

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

struct folder {
    const char *name;
    int fd;
    bool is_new;
};

static int refuse(const struct folder *f, const char *why, const char *remedy, struct spur_error *e)
{
    int r = error_spur(e, SPUR_CODE_REFUSED, "charts", "--charts: %s%s", f->name, why);

    error_remedy(e, "%s", remedy);
    return r;
}

static int open_folder(struct folder *f, struct spur_error *e)
{
    f->is_new = mkdir(f->name, 0700) == 0;
    if (!f->is_new && errno != EEXIST)
        return error_errno(e, errno, "mkdir", "%s", f->name);
    f->fd = open(f->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return refuse(f, " is there and is no folder", "name a new folder", e);
    if (f->fd < 0)
        return error_errno(e, errno, "open", "%s", f->name);
    return is_empty(f->fd) ? 0 : refuse(f, ": not empty", "name a new folder, or empty this one", e);
}

/* ------------------------------------------------------------------------------------------------
 * Its files: 01-set1-throughput.dat, .gp, .svg
 */

static char *name_of(const struct charts *charts, size_t i, const char *suffix)
{
    char *ret;

    return asprintf(&ret, "%02zu-%s%s", i + 1, charts->items[i].name, suffix) < 0 ? NULL : ret;
}

static int create(int fd, const struct charts *charts, size_t i, const char *suffix, FILE **ret)
{
    _cleanup_free_ char *name = name_of(charts, i, suffix);
    int f = name ? openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;

    if (f < 0)
        return name ? -errno : -ENOMEM;
    *ret = fdopen(f, "w");
    if (*ret)
        return 0;
    close(f);
    return -ENOMEM;
}

static int finish(FILE *f)
{
    bool failed = ferror(f);

    errno = EIO;
    return fclose(f) || failed ? -errno : 0;
}

static int write_chart(int fd, const struct charts *charts, size_t i)
{
    _cleanup_free_ char *name = name_of(charts, i, "");
    FILE *f;
    int r = name ? create(fd, charts, i, ".dat", &f) : -ENOMEM;

    if (r < 0)
        return r;
    fputs(charts->items[i].data, f);
    r = finish(f);
    if (!r)
        r = create(fd, charts, i, ".gp", &f);
    if (r < 0)
        return r;
    chart_write_file(f, &charts->items[i], name);
    return finish(f);
}

/* The folder was empty: what has these names is ours. */
static void remove_files(int fd, const struct charts *charts, const char *suffix)
{
    for (size_t i = 0; i < charts->n; i++) {
        _cleanup_free_ char *name = name_of(charts, i, suffix);

        if (name)
            unlinkat(fd, name, 0);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Drawing
 */

/* gnuplot keeps the mode of a file that is there. */
static int make_empty(int fd, const struct charts *charts)
{
    int r = 0;

    for (size_t i = 0; i < charts->n && !r; i++) {
        FILE *f;

        r = create(fd, charts, i, ".svg", &f);
        if (!r)
            r = finish(f);
    }
    return r;
}

static void free_names(char **names, size_t n)
{
    for (size_t i = 0; names && i < n; i++)
        free(names[i]);
    free(names);
}

/* All scripts in one gnuplot, in the folder. */
static int run(const char *program, int fd, const struct charts *charts, char reason[CHART_REASON])
{
    char **scripts = calloc(charts->n + 1, sizeof(*scripts));
    struct chart_gnuplot_run run = {
        .program = program, .arguments = scripts, .directory = fd, .limit_ns = CHART_LIMIT_NS};
    _cleanup_free_ char *output = NULL;
    int r = scripts ? 0 : -ENOMEM;
    size_t length;

    for (size_t i = 0; i < charts->n && !r; i++) {
        scripts[i] = name_of(charts, i, ".gp");
        r = scripts[i] ? 0 : -ENOMEM;
    }
    if (!r)
        r = chart_gnuplot_run(&run, &output, &length, reason);
    free_names(scripts, charts->n);
    return r;
}

static void draw(int fd, const struct charts *charts, struct report_undrawn *ret)
{
    _cleanup_free_ char *program = chart_gnuplot_find();
    int r;

    *ret = (struct report_undrawn){.why = ""};
    if (!charts->n)
        return;
    if (!program) {
        *ret = (struct report_undrawn){true, "gnuplot was not found"};
        return;
    }
    r = make_empty(fd, charts);
    snprintf(ret->why, sizeof(ret->why), "%s", r ? strerrordesc_np(-r) : "out of memory");
    if (!r)
        r = run(program, fd, charts, ret->why);
    if (r < 0)
        remove_files(fd, charts, ".svg");
    else
        *ret->why = '\0';
}

/* ------------------------------------------------------------------------------------------------ */

static int write_files(struct folder *f, const struct charts *charts, struct spur_error *e)
{
    int r = 0;

    for (size_t i = 0; i < charts->n && !r; i++)
        r = write_chart(f->fd, charts, i);
    if (!r)
        return 0;
    error_errno(e, -r, "write", "--charts: %s", f->name);
    error_remedy_room(e, -r);
    remove_files(f->fd, charts, ".dat");
    remove_files(f->fd, charts, ".gp");
    if (f->is_new)
        rmdir(f->name);
    return r;
}

int report_charts(const char *dir, struct store *s, const struct analysis *a, struct report_undrawn *ret,
                  struct spur_error *e)
{
    struct folder f = {dir, -1, false};
    struct chart_book book;
    int r = chart_book_make(s, a, &book, e);

    if (r < 0)
        return r;
    r = open_folder(&f, e);
    if (!r)
        r = write_files(&f, &book.charts, e);
    if (!r)
        draw(f.fd, &book.charts, ret);
    if (f.fd >= 0)
        close(f.fd);
    chart_book_free(&book);
    return r;
}

/* SPDX-License-Identifier: MIT */
/* pread and pwrite through the page cache. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/error.h"
#include "core/util.h"
#include "path/advice.h"
#include "path/direct.h"
#include "path/host.h"

static const char *const advice_names[] = {"normal", "sequential", "random"};

int advice_parse(const struct spur_path *p, enum advice *ret_advice, struct spur_error *e)
{
    const char *word = path_setting(p, "advice");

    for (size_t i = 0; i < ARRAY_SIZE(advice_names); i++) {
        if (strcmp(word, advice_names[i]))
            continue;
        *ret_advice = (enum advice)i;
        return 0;
    }
    return error_spur(e, SPUR_CODE_USAGE, "set", "advice: '%s' is none of normal, sequential, random", word);
}

static int buffered_open(struct spur_path *p, struct spur_error *e)
{
    enum advice advice;

    return advice_parse(p, &advice, e);
}

static int buffered_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    static const int kernel_advice[] = {POSIX_FADV_NORMAL, POSIX_FADV_SEQUENTIAL, POSIX_FADV_RANDOM};
    enum advice advice;
    int r = advice_parse(p, &advice, e);

    if (!r)
        r = host_file_open(p, f, e);
    if (r < 0)
        return r;
    r = posix_fadvise(f->fd, 0, 0, kernel_advice[advice]);
    if (!r)
        return 0;
    host_file_close(f);
    return error_errno(e, r, "posix_fadvise", "%s", f->filename);
}

static int64_t move(struct spur_file *f, uint32_t op, void *host, size_t length, uint64_t offset, struct spur_error *e)
{
    if (op == SPUR_OP_READ)
        return file_read(f->fd, f->filename, host, length, offset, 1, f->bytes, e);
    return file_write(f->fd, f->filename, host, length, offset, e);
}

static int64_t buffered_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    return host_transfer(q, r, move, e);
}

static const struct spur_setting buffered_settings[] = {ADVICE_SETTING, {0}};

const struct path_ops buffered_path = {
    .name = "buffered",
    .summary = "pread/pwrite through the page cache, then a copy to the GPU",
    .settings = buffered_settings,
    .observed = SPUR_OBSERVED_HOST,
    .uses_page_cache = true,
    .open = buffered_open,
    .file_open = buffered_file_open,
    .file_close = host_file_close,
    .queue_open = host_queue_open,
    .queue_close = host_queue_close,
    .transfer = buffered_transfer,
};

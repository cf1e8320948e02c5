/* SPDX-License-Identifier: MIT */
/* Pieces that came from the wire: what is sent again for what is missing, what has failed, what goes on to be copied.
 */
#include <errno.h>

#include "core/error.h"
#include "path/direct.h"
#include "path/fanout.h"

#define MAX_RETRIES 64

static void fail_io(struct fanout_queue *q, const struct fanout_piece *p, int code)
{
    const char *verb = p->write ? "writ" : "read";
    struct spur_error e;

    error_errno(&e, -code, p->write ? "write" : "read", "%s: %sing %u bytes at offset %llu", p->file->filename, verb,
                p->io_bytes - p->got, (unsigned long long)(p->io_offset + p->got));
    switch (-code) {
    case ENOSPC:
        error_remedy(&e, "free space on the file system, or write less");
        break;
    case EDQUOT:
        error_remedy(&e, "the user's quota is used up: raise it or write less");
        break;
    case EFBIG:
        error_remedy(&e, "over the file-size limit: raise ulimit -f, or the file system's own limit");
        break;
    case EROFS:
        error_remedy(&e, "the file system is mounted read-only");
        break;
    case EINVAL:
        error_remedy(&e, "the file system refuses this alignment or O_DIRECT itself: set direct=no to go through the "
                         "page cache");
        break;
    }
    fanout_request_fail(q, p->request, code, &e);
}

static void fail_stalled(struct fanout_queue *q, const struct fanout_piece *p, uint64_t at)
{
    const struct spur_file *f = p->file;
    const char *operation = p->write ? "write" : "read";
    uint64_t bytes = f->bytes;
    struct spur_error e;

    file_size_get(f->fd, f->filename, &bytes, NULL);
    if (!p->write && bytes < f->bytes)
        error_errno(&e, EIO, operation, "%s: truncated during the run, from %llu to %llu bytes; reading at offset %llu",
                    f->filename, (unsigned long long)f->bytes, (unsigned long long)bytes, (unsigned long long)at);
    else
        error_errno(&e, EIO, operation, "%s: no progress at offset %llu", f->filename, (unsigned long long)at);
    fanout_request_fail(q, p->request, -EIO, &e);
}

static bool may_retry(struct fanout_queue *q, struct fanout_piece *p)
{
    q->stats.retries++;
    return ++p->retries <= MAX_RETRIES;
}

/* Fewer bytes than asked for. Returns true if the rest is to be asked for again; p->got says from where. */
static bool short_read(struct fanout_queue *q, struct fanout_piece *p, uint32_t n)
{
    uint32_t total = p->got + n;
    uint64_t at = p->io_offset + total;
    uint32_t grain = p->file->align > p->file->align_address ? p->file->align : p->file->align_address;
    uint32_t keep = total & ~(grain - 1);
    bool enough = at >= p->want_offset + p->want_bytes; /* the file ends in the last aligned unit */

    if (!enough && at != p->file->bytes && keep > p->got) {
        p->got = keep;
        q->stats.short_completions++;
        return true;
    }
    if (!enough && at < p->file->bytes) {
        if (n && may_retry(q, p))
            return true;
        fail_stalled(q, p, at);
    }
    p->got = total;
    return false;
}

static bool short_write(struct fanout_queue *q, struct fanout_piece *p, uint32_t n)
{
    uint32_t grain = p->buffered                               ? 1
                     : p->file->align > p->file->align_address ? p->file->align
                                                               : p->file->align_address;
    uint32_t keep = (p->got + n) & ~(grain - 1);

    if (keep == p->got && !may_retry(q, p)) {
        fail_stalled(q, p, p->io_offset + p->got);
        return false;
    }
    p->got = keep;
    q->stats.short_completions++;
    return true;
}

/* true: to be sent again for what is missing. */
static bool to_be_continued(struct fanout_queue *q, struct fanout_piece *p, int32_t result)
{
    if (result < 0) {
        if ((result == -EINTR || result == -EAGAIN) && may_retry(q, p))
            return true;
        fail_io(q, p, result);
        return false;
    }
    if (p->write)
        q->stats.bytes_written += (uint32_t)result;
    else
        q->stats.bytes_read += (uint32_t)result;
    if ((uint32_t)result == p->io_bytes - p->got) {
        p->got = p->io_bytes;
        return false;
    }
    return p->write ? short_write(q, p, (uint32_t)result) : short_read(q, p, (uint32_t)result);
}

/* A read may have ended at the end of the file: then the request does too. */
static void clip(struct fanout_request *r, struct fanout_piece *p)
{
    uint64_t end = p->io_offset + p->got;

    if (end >= p->want_offset + p->want_bytes)
        return;
    p->want_bytes = end > p->want_offset ? (uint32_t)(end - p->want_offset) : 0;
    if (p->want_offset + p->want_bytes < r->end)
        r->end = p->want_offset + p->want_bytes;
}

void fanout_piece_land(struct fanout_queue *q, uint32_t i, int32_t result)
{
    struct fanout_piece *p = &q->pieces[i];
    struct fanout_request *r = &q->requests[p->request];
    bool again = to_be_continued(q, p, result);

    q->n_wire--;
    if (again && !r->code) {
        fanout_request_moved(q, r, -1, 0);
        fanout_piece_send(q, i);
        return;
    }
    if (!p->write && !r->code)
        clip(r, p);
    if (p->slot != FANOUT_NONE && !p->write && p->want_bytes && !r->code) {
        fanout_request_moved(q, r, -1, 1);
        fanout_copy_add(q, i);
        return;
    }
    fanout_request_moved(q, r, -1, 0);
    fanout_piece_finish(q, i);
}

/* SPDX-License-Identifier: MIT */
/* The library, files and buffers of the three cuFile paths. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/fit.h"
#include "core/util.h"
#include "path/cufile_path.h"
#include "path/cufile_stage.h"
#include "path/direct.h"

/* Only whether there is such a library: loading it belongs into a process that is about to use it. */
int cufile_path_probe(struct spur_error *e)
{
    struct cufile *lib;
    int r = cufile_open(NULL, &lib, e);

    if (r < 0)
        return r;
    cufile_close(lib);
    return 0;
}

const char *cufile_file(const struct cufile_path_state *s)
{
    return s->lib->real_file ? s->lib->real_file : s->lib->asked_file;
}

static int open_driver(struct spur_path *p, struct spur_error *e)
{
    struct cufile_path_state *s = p->state;
    CUfileError_t status = s->lib->cuFileDriverOpen();

    if (status.err)
        return cufile_error(e, status, "cuFileDriverOpen", "%s", fit_name(cufile_file(s)).text);
    s->driver_open = true;
    if (!strcmp(path_setting(p, "poll"), "yes") && !s->lib->cuFileSetParameterBool && s->lib->cuFileDriverSetPollMode)
        status = s->lib->cuFileDriverSetPollMode(true, 4);
    if (status.err)
        return cufile_error(e, status, "cuFileDriverSetPollMode", "poll=yes");
    return 0;
}

static void start_counting(struct cufile_path_state *s)
{
    struct spur_error why = {0};

    if (!s->counts || cufile_stats_start(s->lib, &why) == 0)
        return;
    s->counts = false;
    snprintf(s->no_counts, sizeof(s->no_counts), "%s", why.detail);
}

static void note(const struct cufile_path_state *s, enum cufile_stage stage)
{
    cufile_stage_note(stage, cufile_file(s), s->lib->version.text);
}

static int load_library(struct cufile_path_state *s, const char *library, struct spur_error *e)
{
    int r;

    library = strcmp(library, "auto") ? library : NULL;
    cufile_stage_note(CUFILE_STAGE_LOAD, cufile_asked(library), "");
    r = cufile_open(library, &s->lib, e);
    if (!r)
        note(s, CUFILE_STAGE_OPEN);
    return r;
}

int cufile_path_open(struct spur_path *p, struct spur_error *e)
{
    struct cufile_path_state *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return error_errno(e, ENOMEM, "calloc", "path %s", p->ops->name);
    p->state = s;
    r = cufile_configure_environment(p, e);
    if (!r)
        r = load_library(s, path_setting(p, "library"), e);
    if (!r)
        r = cufile_configure_library(p, e);
    if (!r)
        r = open_driver(p, e);
    if (r < 0) {
        cufile_path_close(p);
        return r;
    }
    note(s, CUFILE_STAGE_USE);
    start_counting(s);
    cufile_properties_read(s->lib, &s->properties);
    cufile_parameters_read(s->lib, s->parameters);
    return 0;
}

void cufile_path_close(struct spur_path *p)
{
    struct cufile_path_state *s = p->state;

    if (!s)
        return;
    if (s->driver_open) {
        note(s, CUFILE_STAGE_CLOSE);
        if (s->lib->cuFileDriverClose)
            s->lib->cuFileDriverClose();
        note(s, CUFILE_STAGE_EXIT);
    }
    cufile_close(s->lib);
    free(s);
    p->state = NULL;
}

/* ------------------------------------------------------------------------------------------------ */

static int register_file(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    const struct cufile_path_state *s = p->state;
    /* Older or newer libraries may know a larger structure: what is behind ours is zero. */
    union {
        CUfileDescr_t descr;
        uint8_t room[256];
    } u = {.room = {0}};
    CUfileHandle_t handle = NULL;
    CUfileError_t status;

    u.descr.type = CUFILE_HANDLE_OPAQUE_FD;
    u.descr.handle.fd = f->fd;
    status = s->lib->cuFileHandleRegister(&handle, &u.descr);
    if (status.err)
        return cufile_error_file(e, status, f->fd, "cuFileHandleRegister", "%s", f->filename);
    f->state = handle;
    return 0;
}

int cufile_file_open(struct spur_path *p, struct spur_file *f, struct spur_error *e)
{
    int r;

    f->fd = file_open_fd(f->filename, f->flags & SPUR_FILE_WRITE, true, e);
    if (f->fd < 0)
        return f->fd;
    r = file_size_get(f->fd, f->filename, &f->bytes, e);
    if (!r)
        r = register_file(p, f, e);
    if (r < 0) {
        close(f->fd);
        f->fd = -1;
    }
    return r;
}

void cufile_file_close(struct spur_file *f)
{
    const struct cufile_path_state *s = f->path->state;

    if (f->state && s->lib->cuFileHandleDeregister)
        s->lib->cuFileHandleDeregister(f->state);
    f->state = NULL;
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

int cufile_attach(struct spur_path *p, struct spur_buffer *b, struct spur_error *e)
{
    const struct cufile_path_state *s = p->state;
    CUfileError_t status;

    if (!s->registers)
        return 0;
    status = s->lib->cuFileBufRegister(cufile_base(b), b->bytes, 0);
    return status.err ? cufile_error(e, status, "cuFileBufRegister", "%zu bytes of %s", b->bytes, b->memory->name) : 0;
}

void cufile_detach(struct spur_path *p, struct spur_buffer *b)
{
    const struct cufile_path_state *s = p->state;

    if (s->registers && s->lib->cuFileBufDeregister)
        s->lib->cuFileBufDeregister(cufile_base(b));
}

/* ------------------------------------------------------------------------------------------------ */

static int no_progress(const struct spur_request *r, uint64_t done, struct spur_error *e)
{
    return error_errno(e, EIO, r->op == SPUR_OP_READ ? "cuFileRead" : "cuFileWrite",
                       "%s: 0 bytes at offset %llu, before the end of the file", r->file->filename,
                       (unsigned long long)(r->offset + done));
}

int64_t cufile_move(struct spur_queue *q, const struct spur_request *r, uint64_t done, struct spur_error *e)
{
    const struct cufile_path_state *s = q->path->state;
    bool reads = r->op == SPUR_OP_READ;
    void *base = cufile_base(r->buffer);

    while (done < r->length) {
        off_t at = (off_t)(r->offset + done), in_buffer = (off_t)(r->buffer_offset + done);
        size_t left = r->length - done;
        ssize_t n;

        errno = 0;
        n = reads ? s->lib->cuFileRead(cufile_handle(r->file), base, left, at, in_buffer)
                  : s->lib->cuFileWrite(cufile_handle(r->file), base, left, at, in_buffer);
        if (n < 0)
            return cufile_error_transfer(e, n, errno, reads ? "cuFileRead" : "cuFileWrite",
                                         "%s: offset %llu, %zu bytes", fit_name(r->file->filename).text,
                                         (unsigned long long)at, left);
        if (n == 0 && reads && r->offset + done >= r->file->bytes)
            break;
        if (n == 0)
            return no_progress(r, done, e);
        done += (uint64_t)n;
    }
    return (int64_t)done;
}

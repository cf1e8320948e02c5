/* SPDX-License-Identifier: MIT */
/* The stream API: a request is carried out on the stream's thread, when its turn comes. See libcufile.h. */
#include "libcufile.h"

#include <errno.h>
#include <stdlib.h>

struct request {
    CUfileHandle_t handle;
    void *base;
    const size_t *bytes; /* all read when its turn comes, as the real one does without the FIXED flags */
    const off_t *file_offset, *offset;
    ssize_t *done;
    bool is_write;
};

static void perform(void *argument)
{
    struct request *r = argument;

    if (r->is_write)
        *r->done = cuFileWrite(r->handle, r->base, *r->bytes, *r->file_offset, *r->offset);
    else
        *r->done = cuFileRead(r->handle, r->base, *r->bytes, *r->file_offset, *r->offset);
    free(r);
}

static int check(const char *symbol, const struct request *r)
{
    int code = fault_code(symbol);

    if (code)
        return code;
    if (!r->bytes || !r->file_offset || !r->offset || !r->done)
        return CUFILE_INVALID_VALUE;
    state_lock();
    code = driver_ensure();
    if (!code && (!config_number(KEY_PARALLEL_IO) || !config_number(KEY_IO_THREADS)))
        code = CUFILE_ASYNC_NOT_SUPPORTED;
    state_unlock();
    return code;
}

static CUfileError_t enqueue(const char *symbol, const struct request *from, CUstream stream)
{
    int code = check(symbol, from);
    struct request *r;
    CUresult result;

    if (code)
        return status_of(code);
    r = malloc(sizeof(*r));
    if (!r)
        return status_of(5043);
    *r = *from;
    result = memory_call(stream, perform, r);
    if (!result)
        return status_of(0);
    free(r);
    return (CUfileError_t){.err = CUFILE_CUDA_DRIVER_ERROR, .cu_err = result};
}

CUfileError_t cuFileReadAsync(CUfileHandle_t handle, void *base, size_t *bytes, off_t *file_offset, off_t *offset,
                              ssize_t *done, CUstream stream)
{
    struct request r = {handle, base, bytes, file_offset, offset, done, false};

    return enqueue("cuFileReadAsync", &r, stream);
}

CUfileError_t cuFileWriteAsync(CUfileHandle_t handle, void *base, size_t *bytes, off_t *file_offset, off_t *offset,
                               ssize_t *done, CUstream stream)
{
    struct request r = {handle, base, bytes, file_offset, offset, done, true};

    return enqueue("cuFileWriteAsync", &r, stream);
}

CUfileError_t cuFileStreamRegister(CUstream stream, unsigned flags)
{
    int code = fault_code("cuFileStreamRegister");

    return status_of(code ? code : flags > 0xf ? CUFILE_INVALID_VALUE : 0);
}

CUfileError_t cuFileStreamDeregister(CUstream stream)
{
    return status_of(fault_code("cuFileStreamDeregister"));
}

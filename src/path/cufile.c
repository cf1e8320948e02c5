/* SPDX-License-Identifier: MIT */
/* NVIDIA's cuFile, one request a thread: cuFileRead and cuFileWrite. */
#include "path/cufile_path.h"

static int64_t cufile_transfer(struct spur_queue *q, const struct spur_request *r, struct spur_error *e)
{
    return cufile_move(q, r, 0, e);
}

const struct path_ops cufile_path = {
    .name = "cufile",
    .summary = "NVIDIA's cuFile (GPUDirect Storage): cuFileRead and cuFileWrite",
    .settings = cufile_settings,
    .observed = SPUR_OBSERVED_UNKNOWN,
    .needs_real_memory = true,
    .probe = cufile_path_probe,
    .open = cufile_path_open,
    .close = cufile_path_close,
    .file_open = cufile_file_open,
    .file_close = cufile_file_close,
    .attach = cufile_attach,
    .detach = cufile_detach,
    .transfer = cufile_transfer,
    .effective = cufile_effective,
    .evidence = cufile_evidence,
    .roads = cufile_roads,
    .asked_road = cufile_asked_road,
};

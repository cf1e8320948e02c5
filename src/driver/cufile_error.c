/* SPDX-License-Identifier: MIT */
/* cuFile's codes with their likely causes and remedies. See cufile.h. */
#include "driver/cufile.h"

#include "core/error.h"
#include "core/util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVFS_LOG "see dmesg and cufile.log"

/* In order of the codes. 5021 and 5032 do not exist; the vendor's MAX moved from 5037 to 5050 and means nothing. */
static const struct cufile_code codes[] = {
    {5001, "DRIVER_NOT_INITIALIZED",
     "the library finds no direct road here (no nvidia-fs that it can use, no P2PDMA) and compatibility mode is "
     "forbidden",
     "see that nvidia-fs is loaded (modprobe nvidia-fs), set properties.use_pci_p2pdma where the kernel and drive "
     "allow it, or allow "
     "compatibility mode (route=any)",
     -ENODEV},
    {5002, "DRIVER_INVALID_PROPS", "cuFile rejects a property", "check the properties section of cufile.json", -EINVAL},
    {5003, "DRIVER_UNSUPPORTED_LIMIT", "a size lies outside the range of this library version",
     "check the sizes in cufile.json against the version's documentation", -EINVAL},
    {5004, "DRIVER_VERSION_MISMATCH", "nvidia-fs is too old or too new for this libcufile",
     "install nvidia-fs and libcufile of one CUDA release; /proc/driver/nvidia-fs/version has the module's version",
     -ENODEV},
    {5005, "DRIVER_VERSION_READ_ERROR", "the version of nvidia-fs could not be read",
     "in a container, pass /proc/driver/nvidia-fs and /dev/nvidia-fs* through", -ENODEV},
    {5006, "DRIVER_CLOSING", "the cuFile driver is being closed while a request comes", NULL, -ESHUTDOWN},
    {5007, "PLATFORM_NOT_SUPPORTED", "cuFile does not know a direct road on this platform",
     "allow compatibility mode (route=any)", -ENODEV},
    {5008, "IO_NOT_SUPPORTED",
     "the file's file system or device has no direct road (ext4 needs data=ordered; RAID, LVM, encryption and overlays "
     "have none)",
     "use a file on ext4 or xfs on plain NVMe, or on a supported network file system; or allow compatibility mode "
     "(route=any)",
     -EOPNOTSUPP},
    {5009, "DEVICE_NOT_SUPPORTED", "this GPU cannot take part in GPUDirect Storage",
     "allow compatibility mode (route=any) or choose another GPU", -ENODEV},
    {5010, "NVFS_DRIVER_ERROR", "nvidia-fs failed", NVFS_LOG, -EIO},
    {5011, "CUDA_DRIVER_ERROR", "the CUDA driver failed below cuFile", "the CUDA code stands beside it; " NVFS_LOG,
     -EIO},
    {5012, "CUDA_POINTER_INVALID", "the address is no GPU memory of this process", NULL, -EINVAL},
    {5013, "CUDA_MEMORY_TYPE_INVALID", "memory of this kind is not taken by this library (host memory: since 1.7)",
     "use memory cuda:N, or a newer libcufile", -EINVAL},
    {5014, "CUDA_POINTER_RANGE_ERROR", "the range reaches beyond the allocation", NULL, -EINVAL},
    {5015, "CUDA_CONTEXT_MISMATCH", "the memory belongs to another CUDA context than the caller's", NULL, -EINVAL},
    {5016, "INVALID_MAPPING_SIZE", "the buffer is larger than cuFile may pin",
     "raise properties.max_device_pinned_mem_size_kb, or use smaller buffers (register=no)", -ENOMEM},
    {5017, "INVALID_MAPPING_RANGE", "the request reaches beyond the registered buffer", NULL, -EINVAL},
    {5018, "INVALID_FILE_TYPE", "neither a regular file nor a block device that cuFile takes", "name a regular file",
     -EINVAL},
    {5019, "INVALID_FILE_OPEN_FLAG",
     "the file was opened with flags that cuFile does not take (O_APPEND, or O_WRONLY "
     "for a read)",
     NULL, -EINVAL},
    {5020, "DIO_NOT_SET", "the file was opened without O_DIRECT, which this library needs",
     "use a newer libcufile (1.7 and later take other files)", -EINVAL},
    {5022, "INVALID_VALUE",
     "an argument is out of range (a negative offset, more batch entries than "
     "properties.io_batchsize)",
     "lower the depth, or raise properties.io_batchsize (256 at most before 1.18)", -EINVAL},
    {5023, "MEMORY_ALREADY_REGISTERED", "the buffer, or one that overlaps it, is registered already", NULL, -EEXIST},
    {5024, "MEMORY_NOT_REGISTERED", "the buffer is not registered", NULL, -ENOENT},
    {5025, "PERMISSION_DENIED", "the driver or the file may not be opened by this user",
     "check the file's mode and that of /dev/nvidia-fs*", -EACCES},
    {5026, "DRIVER_ALREADY_OPEN", "settings are fixed once the driver is open", NULL, -EBUSY},
    {5027, "HANDLE_NOT_REGISTERED",
     "cuFile found no file system for the file's device: udev facts are missing (containers, machines without udev) or "
     "the device number is anonymous (tmpfs, FUSE, overlay)",
     "see that /run/udev/data/b<MAJ>:<MIN> of the file's device has E:ID_FS_USAGE=filesystem: run udev, or pass "
     "/run/udev through to the container",
     -ENODEV},
    {5028, "HANDLE_ALREADY_REGISTERED", "the file descriptor is registered already", NULL, -EEXIST},
    {5029, "DEVICE_NOT_FOUND", "cuFile finds no GPU", "see whether `nvidia-smi -L` lists one, and CUDA_VISIBLE_DEVICES",
     -ENODEV},
    {5030, "INTERNAL_ERROR", "cuFile failed inside", "see cufile.log at logging.level TRACE", -EIO},
    {5031, "GETNEWFD_FAILED", "cuFile could not open the file a second time",
     "raise the limit of open files (ulimit -n); in a container, see that /proc/self/fd can be opened", -EMFILE},
    {5033, "NVFS_SETUP_ERROR", "libcufile found no CUDA driver (libcuda.so.1), or nvidia-fs could not be set up",
     "see whether `nvidia-smi` works here; " NVFS_LOG, -EIO},
    {5034, "IO_DISABLED", "cufile.json forbids cuFile on this file (denylist)",
     "remove the device, mount or file system from the denylist section of cufile.json", -EPERM},
    {5035, "BATCH_SUBMIT_FAILED", "a batch was not taken", "see cufile.log; lower the depth", -EIO},
    {5036, "GPU_MEMORY_PINNING_FAILED", "GPU memory could not be pinned (BAR1 is full or too small)",
     "register smaller buffers or none (register=no); `nvidia-smi -q -d MEMORY` shows BAR1", -ENOMEM},
    {5037, "BATCH_FULL", "the batch has no room for more entries", "lower the depth", -EAGAIN},
    {5038, "ASYNC_NOT_SUPPORTED", "the stream API is off",
     "set execution.parallel_io to true and execution.max_io_threads above 0", -EOPNOTSUPP},
    {5039, "INTERNAL_BATCH_SETUP_ERROR", "a batch could not be set up", "see cufile.log; lower the depth", -EIO},
    {5040, "INTERNAL_BATCH_SUBMIT_ERROR", "a batch was not taken: an entry is malformed, or the batch failed inside",
     "see cufile.log", -EIO},
    {5041, "INTERNAL_BATCH_GETSTATUS_ERROR", "the state of a batch could not be had", "see cufile.log", -EIO},
    {5042, "INTERNAL_BATCH_CANCEL_ERROR", "a batch could not be cancelled", NULL, -EIO},
    {5043, "NOMEM_ERROR", "cuFile is out of memory", "lower depth, request size or the pools in cufile.json", -ENOMEM},
    {5044, "IO_ERROR", "the storage failed a request", "see dmesg for the device or mount", -EIO},
    {5045, "INTERNAL_BUF_REGISTER_ERROR", "a buffer could not be registered",
     "register smaller buffers or none (register=no); see cufile.log", -EIO},
    {5046, "HASH_OPR_ERROR", "cuFile failed inside (hash table)", "see cufile.log", -EIO},
    {5047, "INVALID_CONTEXT_ERROR", "the thread has no CUDA context that cuFile can use", NULL, -EINVAL},
    {5048, "NVFS_INTERNAL_DRIVER_ERROR", "nvidia-fs failed inside", NVFS_LOG, -EIO},
    {5049, "BATCH_NOCOMPAT_ERROR", "the batch would need compatibility mode, which is forbidden",
     "allow compatibility mode (route=any)", -EOPNOTSUPP},
};

const struct cufile_code *cufile_code_row(size_t index)
{
    return index < ARRAY_SIZE(codes) ? &codes[index] : NULL;
}

const struct cufile_code *cufile_code_find(int code)
{
    for (unsigned i = 0; i < ARRAY_SIZE(codes); i++)
        if (codes[i].code == code)
            return &codes[i];
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ */

static int unknown_code(struct spur_error *e, int code, const char *operation, const char *subject)
{
    int rc = error_foreign(e, SPUR_SOURCE_CUFILE, code, -EIO, operation, "%s: cuFile code %d, which spur does not know",
                           subject, code);

    error_remedy(e, "see cufile.log and the CUfileOpError list of this library's version");
    return rc;
}

static int known_code(struct spur_error *e, const struct cufile_code *row, const char *more, const char *operation,
                      const char *subject)
{
    int rc = error_foreign(e, SPUR_SOURCE_CUFILE, row->code, row->ret, operation, "%s: CU_FILE_%s (%d)%s: %s", subject,
                           row->name, row->code, more, row->cause);

    if (row->remedy)
        error_remedy(e, "%s", row->remedy);
    return rc;
}

/* cuFileDriverOpen answers so for a file or value that it does not take. */
static int negative_errno(struct spur_error *e, int code, const char *operation, const char *subject)
{
    const char *text = strerrordesc_np(-code);
    int rc = error_foreign(e, SPUR_SOURCE_CUFILE, code, code, operation, "%s: err %d (%s)", subject, code,
                           text ? text : "no such errno");

    if (code == -EINVAL)
        error_remedy(e, "cuFile answers so when a value in cufile.json is out of its range or of another kind: check "
                        "the keys set (and CUFILE_ENV_PATH_JSON); cufile.log may name the key");
    return rc;
}

/* " with CUDA_ERROR_NO_DEVICE (100)". The driver is in the process already when cuFile speaks of it. */
static void cuda_words(CUresult code, char *to, size_t size)
{
    const struct cuda_api *api;
    const char *name = NULL;

    if (cuda_api_get(&api, NULL) || api->cuGetErrorName(code, &name) || !name)
        name = "CUresult";
    snprintf(to, size, " with %s (%d)", name, code);
}

static int word(struct spur_error *e, CUfileError_t status, const char *operation, const char *subject)
{
    const struct cufile_code *row = cufile_code_find(status.err);
    char more[96] = "";

    if (status.err < 0 && status.err > -CUFILE_BASE_ERROR)
        return negative_errno(e, status.err, operation, subject);
    if (!row)
        return unknown_code(e, status.err, operation, subject);
    if (status.err == CUFILE_CUDA_DRIVER_ERROR)
        cuda_words(status.cu_err, more, sizeof(more));
    return known_code(e, row, more, operation, subject);
}

#define FORMAT(subject, format)                                                                                        \
    do {                                                                                                               \
        va_list ap;                                                                                                    \
        va_start(ap, format);                                                                                          \
        vsnprintf(subject, sizeof(subject), format, ap);                                                               \
        va_end(ap);                                                                                                    \
    } while (0)

int cufile_error(struct spur_error *e, CUfileError_t status, const char *operation, const char *detail, ...)
{
    char subject[256];

    FORMAT(subject, detail);
    return word(e, status, operation, subject);
}

int cufile_error_transfer(struct spur_error *e, ssize_t result, int err, const char *operation, const char *detail, ...)
{
    char subject[256];
    int code = (int)-result;

    FORMAT(subject, detail);
    if (result == -1)
        code = err;
    if (code > CUFILE_BASE_ERROR)
        return word(e, (CUfileError_t){.err = code}, operation, subject);
    if (code <= 0)
        return error_foreign(e, SPUR_SOURCE_CUFILE, (int)result, -EIO, operation, "%s: result %zd without an errno",
                             subject, result);
    return error_errno(e, code, operation, "%s", subject);
}

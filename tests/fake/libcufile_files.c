/* SPDX-License-Identifier: MIT */
/* Registered files. See libcufile.h. */
#include "libcufile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static struct fake_file *files;

struct fake_file *file_of(CUfileHandle_t handle)
{
    struct fake_file *f;

    state_lock();
    f = files;
    while (f && f != handle)
        f = f->next;
    state_unlock();
    return f;
}

/* As libcufile does for block devices and what is mounted from them; other device numbers have no facts. */
static bool udev_knows(const struct stat *st)
{
    dev_t device = S_ISBLK(st->st_mode) ? st->st_rdev : st->st_dev;
    const char *root = getenv("SPUR_ROOT");
    char line[1024];
    bool found = false;
    FILE *f;

    snprintf(line, sizeof(line), "%.900s/run/udev/data/b%u:%u", root ? root : "", major(device), minor(device));
    f = major(device) ? fopen(line, "re") : NULL;
    while (f && !found && fgets(line, sizeof(line), f))
        found = !strncmp(line, "E:ID_FS_USAGE=filesystem", 24);
    if (f)
        fclose(f);
    return found;
}

static int check_road(const struct stat *st)
{
    const struct profile *p = profile_get();

    if (p->udev == UDEV_MISSING || (p->udev == UDEV_READ && !udev_knows(st)))
        return CUFILE_HANDLE_NOT_REGISTERED;
    if (config_number(KEY_FORCE_COMPAT) || config_number(KEY_ALLOW_COMPAT))
        return 0;
    return has_direct_road() && p->files_supported ? 0 : CUFILE_IO_NOT_SUPPORTED;
}

static int check_file(int fd, int *ret_flags)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, &st))
        return CUFILE_INVALID_VALUE;
    if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
        return CUFILE_INVALID_FILE_TYPE;
    if (flags & O_APPEND)
        return CUFILE_INVALID_FILE_OPEN_FLAG;
    if (!(flags & O_DIRECT) && profile_get()->version < 1070)
        return 5020;
    *ret_flags = flags;
    return check_road(&st);
}

static struct fake_file *make(int fd, int flags)
{
    struct fake_file *f = calloc(1, sizeof(*f));
    char path[64];

    if (!f)
        return NULL;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    f->fd = fd;
    f->flags = flags;
    f->is_direct_io = (flags & O_DIRECT) != 0;
    f->cached_fd = open(path, (flags & (O_ACCMODE | O_NOATIME)) | O_CLOEXEC);
    if (f->cached_fd < 0) {
        free(f);
        return NULL;
    }
    f->direct_fd = f->is_direct_io ? fd : open(path, (flags & (O_ACCMODE | O_NOATIME)) | O_CLOEXEC | O_DIRECT);
    f->is_past_cache = f->direct_fd >= 0;
    if (!f->is_past_cache)
        f->direct_fd = fd;
    return f;
}

/* Lock held. */
static int add(int fd, CUfileHandle_t *ret)
{
    struct fake_file *f = files;
    int flags, code = driver_ensure();

    while (f && f->fd != fd)
        f = f->next;
    if (!code && f)
        code = CUFILE_HANDLE_ALREADY_REGISTERED;
    if (!code)
        code = check_file(fd, &flags);
    if (code)
        return code;
    f = make(fd, flags);
    if (!f)
        return 5031;
    f->next = files;
    files = f;
    *ret = f;
    return 0;
}

CUfileError_t cuFileHandleRegister(CUfileHandle_t *handle, CUfileDescr_t *descr)
{
    int code = fault_code("cuFileHandleRegister");

    if (!code && (!handle || !descr || descr->type != CUFILE_HANDLE_OPAQUE_FD))
        code = CUFILE_INVALID_VALUE;
    state_lock();
    if (!code)
        code = add(descr->handle.fd, handle);
    state_unlock();
    stats_registered(true, false, !code, -1, 0);
    if (code)
        log_line("ERROR", "cuFileHandleRegister failed with %d", code);
    return status_of(code);
}

void cuFileHandleDeregister(CUfileHandle_t handle)
{
    struct fake_file **at = &files, *f;

    fault_enter("cuFileHandleDeregister");
    state_lock();
    while (*at && *at != handle)
        at = &(*at)->next;
    f = *at;
    if (f)
        *at = f->next;
    state_unlock();
    stats_registered(true, true, f != NULL, -1, 0);
    if (!f) {
        fake_violation("cuFileHandleDeregister of a handle that is not registered");
        return;
    }
    if (f->direct_fd != f->fd)
        close(f->direct_fd);
    close(f->cached_fd);
    free(f);
}

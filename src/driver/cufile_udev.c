/* SPDX-License-Identifier: MIT */
/* 5027 of cuFileHandleRegister: which of the udev facts that cuFile reads is missing. See cufile.h. */
#include "driver/cufile.h"

#include "core/error.h"
#include "core/fit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum facts { FACTS_ANONYMOUS, FACTS_NO_FILE, FACTS_NO_USAGE, FACTS_THERE };

static enum facts look(const char *file)
{
    enum facts found = FACTS_NO_USAGE;
    char line[512];
    FILE *f = fopen(file, "re");

    if (!f)
        return FACTS_NO_FILE;
    while (fgets(line, sizeof(line), f))
        if (!strncmp(line, "E:ID_FS_USAGE=filesystem", 24))
            found = FACTS_THERE;
    fclose(f);
    return found;
}

static void word(struct spur_error *e, enum facts facts, unsigned major_number, unsigned minor_number)
{
    switch (facts) {
    case FACTS_ANONYMOUS:
        error_remedy(e,
                     "the file's device number %u:%u is anonymous (tmpfs, FUSE, overlay, NFS), so no udev facts can "
                     "exist: use a file on a block device, or a libcufile that takes such file systems",
                     major_number, minor_number);
        break;
    case FACTS_NO_FILE:
        error_remedy(e,
                     "/run/udev/data/b%u:%u cannot be read, where cuFile looks for E:ID_FS_USAGE=filesystem: run udev "
                     "(udevadm trigger), or pass /run/udev through to the container",
                     major_number, minor_number);
        break;
    case FACTS_NO_USAGE:
        error_remedy(e, "/run/udev/data/b%u:%u has no E:ID_FS_USAGE=filesystem: run udevadm trigger on that device",
                     major_number, minor_number);
        break;
    case FACTS_THERE:
        error_remedy(e,
                     "/run/udev/data/b%u:%u has the udev fact that is usually missing; see cufile.log at "
                     "logging.level TRACE",
                     major_number, minor_number);
        break;
    }
}

static void judge(struct spur_error *e, int fd)
{
    const char *root = getenv("SPUR_ROOT");
    char path[4200];
    struct stat st;
    dev_t device;

    if (fstat(fd, &st))
        return;
    device = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
    snprintf(path, sizeof(path), "%.4000s/run/udev/data/b%u:%u", root ? root : "", major(device), minor(device));
    word(e, major(device) ? look(path) : FACTS_ANONYMOUS, major(device), minor(device));
}

int cufile_error_file(struct spur_error *e, CUfileError_t status, int fd, const char *operation, const char *detail,
                      ...)
{
    char subject[256];
    va_list ap;
    int rc;

    va_start(ap, detail);
    fit_vprint(subject, sizeof(subject), detail, ap);
    va_end(ap);
    rc = cufile_error(e, status, operation, "%s", subject);
    if (status.err == CUFILE_HANDLE_NOT_REGISTERED)
        judge(e, fd);
    return rc;
}

/* SPDX-License-Identifier: MIT */
/* Looking before mounting, and unmounting. */
#include "simfs/server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "core/error.h"
#include "core/util.h"
#include "probe/mount.h"
#include "probe/read.h"
#include "probe/simfs.h"

#define RPC_LIBFUSE (1u << 20) /* what its buffer holds */
#define LINGER_NS   1000000000u

uint64_t simfs_rpc_max(const char **ret_what)
{
    struct probe p = {""};
    char reason[PROBE_REASON];
    uint64_t pages, bytes = RPC_LIBFUSE;

    *ret_what = "libfuse";
    if (read_u64(&p, "/proc/sys/fs/fuse/max_pages_limit", &pages, reason) < 0)
        pages = 256; /* kernels before 6.13 */
    if (pages * (uint64_t)sysconf(_SC_PAGESIZE) <= bytes) {
        bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
        *ret_what = "the kernel (sysctl fs.fuse.max_pages_limit)";
    }
    return bytes;
}

/* ------------------------------------------------------------------------------------------------
 * Before
 */

static int refuse(struct spur_error *e, const char *name, const char *why, const char *remedy)
{
    error_spur(e, SPUR_CODE_REFUSED, "mount", "%s: %s", name, why);
    error_remedy(e, "%s", remedy);
    return -EPERM;
}

static int check_directory(const char *name, struct spur_error *e)
{
    const char *remedy = "name an empty directory";
    const struct dirent *entry;
    struct stat st;
    DIR *dir;
    int n = 0;

    if (stat(name, &st) < 0 && errno == ENOTCONN)
        return refuse(e, name, "a FUSE mount without its server is there", "unmount it (spur simfs --unmount)");
    if (stat(name, &st) < 0)
        return refuse(e, name, strerrordesc_np(errno), remedy);
    if (!S_ISDIR(st.st_mode))
        return refuse(e, name, "is no directory", remedy);
    dir = opendir(name);
    if (!dir)
        return refuse(e, name, strerrordesc_np(errno), remedy);
    while (n < 3 && (entry = readdir(dir)))
        n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") ? 3 : 0;
    closedir(dir);
    return n ? refuse(e, name, "is not empty", remedy) : 0;
}

static int check_device(const char *name, struct spur_error *e)
{
    struct stat st;

    if (stat(name, &st) < 0)
        return refuse(e, name, strerrordesc_np(errno), "make a loop device with losetup, and name it");
    if (!S_ISBLK(st.st_mode) || major(st.st_rdev) != 7)
        return refuse(e, name, "is no loop device", "make a loop device with losetup, and name it");
    return geteuid() ? refuse(e, name, "only root can mount on a block device", "run it as root, or without --fuseblk")
                     : 0;
}

static bool has_fusermount(void)
{
    return access("/usr/bin/fusermount3", X_OK) == 0 || access("/bin/fusermount3", X_OK) == 0;
}

int mount_check(const struct simfs_options *o, struct spur_error *e)
{
    int fd;

    if (check_directory(o->mount, e) < 0 || (o->device && check_device(o->device, e) < 0))
        return -EPERM;
    fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        int why = errno;

        error_spur(e, SPUR_CODE_REFUSED, "mount", "/dev/fuse: %s: no FUSE here", strerrordesc_np(why));
        error_remedy(e, "%s; a container needs --device /dev/fuse and --cap-add SYS_ADMIN",
                     why == EACCES ? "give it mode 0666, as most systems do" : "modprobe fuse");
        return -EPERM;
    }
    close(fd);
    if (geteuid() && !has_fusermount())
        return refuse(e, "fusermount3", "is not there, without which only root can mount",
                      "install the package fuse3, or run it as root");
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * After
 */

/* Only a mount of ours may be taken away for an ordinary user, by the program that put it there. */
static int fusermount(const char *mount, const char *options)
{
    char *argv[] = {(char *)(uintptr_t) "fusermount3", (char *)(uintptr_t)options, (char *)(uintptr_t) "--",
                    (char *)(uintptr_t)mount, NULL};
    char *environment[] = {NULL};
    int status;
    pid_t pid;

    if (posix_spawn(&pid, "/usr/bin/fusermount3", NULL, NULL, argv, environment) &&
        posix_spawn(&pid, "/bin/fusermount3", NULL, NULL, argv, environment))
        return -ENOENT;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EBUSY;
}

static struct probe_mount *mount_at(const char *name)
{
    struct probe_mount *m = malloc(sizeof(*m));
    struct probe p = {""};

    if (m)
        mount_find_name(&p, name, m);
    if (m && m->known && !strcmp(m->mount_point, name))
        return m;
    free(m);
    return NULL;
}

void mount_detach(const char *mount, uint64_t device)
{
    _cleanup_free_ struct probe_mount *m = mount_at(mount);

    if (!m || makedev(m->major, m->minor) != device || strncmp(m->fs_type, "fuse", 4))
        return;
    if (umount2(mount, MNT_DETACH) < 0)
        fusermount(mount, "-uqz");
}

static bool is_ours(const char *mount, const struct probe_mount *m)
{
    struct probe_simfs stats;
    struct probe p = {""};

    if (!strcmp(m->fs_type, "fuse.spur"))
        return true;
    if (strcmp(m->fs_type, "fuseblk"))
        return false;
    probe_simfs_read(&p, mount, &stats);
    return stats.known;
}

/* The server's process, as a descriptor; -1: not known, or gone. */
static int server_fd(const char *mount, uint64_t *ret_pid)
{
    struct probe p = {""};
    char name[4200], reason[PROBE_REASON];
    _cleanup_free_ char *text = NULL;

    *ret_pid = 0;
    snprintf(name, sizeof(name), "%s/.spur/config", mount);
    text = read_text(&p, name, reason);
    if (!text || !parse_key_u64(text, "pid", ' ', ret_pid))
        return -1;
    return (int)syscall(SYS_pidfd_open, (pid_t)*ret_pid, 0);
}

static int say_busy(const char *mount, int code, uint64_t pid, struct spur_error *e)
{
    error_errno(e, code, "umount", "%s", mount);
    if (code == EBUSY && pid)
        error_remedy(e, "end what has files open there; or kill %llu takes it away at once", (unsigned long long)pid);
    else if (code == EPERM)
        error_remedy(e, "only who mounted it, or root, can unmount it");
    return -code;
}

static int unmount_once(const char *mount)
{
    if (umount2(mount, 0) == 0)
        return 0;
    return errno == EPERM ? fusermount(mount, "-uq") : -errno;
}

/* The kernel closes what a process had open after its end: an io_uring some time after. */
static int unmount(const char *mount)
{
    uint64_t until = now_ns() + LINGER_NS;
    int r = unmount_once(mount);

    while (r == -EBUSY && now_ns() < until) {
        usleep(LINGER_NS / 50 / 1000);
        r = unmount_once(mount);
    }
    return r;
}

int simfs_unmount(const char *name, struct spur_error *e)
{
    const char *remedy = "name the mount of a running simfs";
    _cleanup_free_ char *mount = realpath(name, NULL);
    _cleanup_free_ struct probe_mount *m = NULL;
    _cleanup_fd_ int server = -1;
    struct pollfd p = {.events = POLLIN};
    uint64_t pid = 0;
    int r;

    if (!mount && errno != ENOTCONN)
        return refuse(e, name, strerrordesc_np(errno), remedy);
    m = mount_at(mount ? mount : name);
    if (!m || !is_ours(m->mount_point, m))
        return refuse(e, name, "is no mount of simfs", remedy);
    server = server_fd(m->mount_point, &pid);
    r = unmount(m->mount_point);
    if (r < 0)
        return say_busy(m->mount_point, -r, pid, e);
    p.fd = server;
    if (server >= 0 && poll(&p, 1, 30000) == 0)
        return error_errno(e, ETIMEDOUT, "waiting for the server's end", "%s: unmounted", m->mount_point);
    return 0;
}

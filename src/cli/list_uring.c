/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <string.h>

#include "cli/list.h"
#include "core/util.h"
#include "probe/probe.h"

static const struct {
    unsigned bit;
    const char *name;
} features[] = {
    {IORING_FEAT_SINGLE_MMAP, "single-mmap"},
    {IORING_FEAT_NODROP, "nodrop"},
    {IORING_FEAT_SUBMIT_STABLE, "submit-stable"},
    {IORING_FEAT_RW_CUR_POS, "rw-cur-pos"},
    {IORING_FEAT_CUR_PERSONALITY, "cur-personality"},
    {IORING_FEAT_FAST_POLL, "fast-poll"},
    {IORING_FEAT_POLL_32BITS, "poll-32bits"},
    {IORING_FEAT_SQPOLL_NONFIXED, "sqpoll-nonfixed"},
    {IORING_FEAT_EXT_ARG, "ext-arg"},
    {IORING_FEAT_NATIVE_WORKERS, "native-workers"},
    {IORING_FEAT_RSRC_TAGS, "rsrc-tags"},
    {IORING_FEAT_CQE_SKIP, "cqe-skip"},
    {IORING_FEAT_LINKED_FILE, "linked-file"},
};

/* Value of kernel.io_uring_disabled, or -1: the kernel has no such switch (before 6.6), or it cannot be read. */
static int read_switch(json_t *nulls)
{
    struct probe p;
    char name[320], text[16] = "";
    ssize_t n = -1;
    int fd;

    probe_init(&p);
    snprintf(name, sizeof(name), "%s/proc/sys/kernel/io_uring_disabled", p.root);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    if (n > 0 && text[0] >= '0' && text[0] <= '9')
        return text[0] - '0';
    json_object_set_new(
        nulls, "io_uring.disabled_sysctl",
        json_sprintf("/proc/sys/kernel/io_uring_disabled: %s", fd < 0 ? strerrordesc_np(errno) : "not a number"));
    return -1;
}

static void word_failure(int err, int disabled, char *ret_text, size_t size)
{
    int n = snprintf(ret_text, size, "io_uring_setup: %s", strerrordesc_np(err));
    const char *why = "";

    if (err == EPERM && disabled == 2)
        why = "; kernel.io_uring_disabled is 2: switched off for everybody";
    else if (err == EPERM && disabled == 1)
        why = "; kernel.io_uring_disabled is 1: only for CAP_SYS_ADMIN and members of kernel.io_uring_group";
    else if (err == EPERM)
        why = "; a seccomp filter forbids it (the container's profile)";
    else if (err == ENOSYS)
        why = "; the kernel was built without it, or a seccomp filter hides it";
    else if (err == ENOMEM)
        why = "; RLIMIT_MEMLOCK is too small";
    snprintf(ret_text + n, size - (size_t)n, "%s", why);
}

json_t *list_uring(json_t *nulls)
{
    struct io_uring_params params = {0};
    struct io_uring ring;
    int disabled = read_switch(nulls);
    int r = io_uring_queue_init_params(2, &ring, &params);
    json_t *names = json_array();
    char reason[200];

    if (r == 0) {
        for (size_t i = 0; i < ARRAY_SIZE(features); i++)
            if (params.features & features[i].bit)
                json_array_append_new(names, json_string(features[i].name));
        io_uring_queue_exit(&ring);
    } else {
        word_failure(-r, disabled, reason, sizeof(reason));
    }
    return json_pack("{s:b, s:o, s:o, s:o}", "usable", r == 0, "reason", r ? json_string(reason) : json_null(),
                     "disabled_sysctl", disabled >= 0 ? json_integer(disabled) : json_null(), "features", names);
}

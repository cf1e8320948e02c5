/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "probe/read.h"

#define IO "/proc/self/io"

void probe_process_io_read(const struct probe *p, struct probe_process_io *ret)
{
    char *text;

    memset(ret, 0, sizeof(*ret));
    text = read_text(p, IO, ret->reason);
    if (!text)
        return;
    ret->known = parse_key_u64(text, "rchar", ':', &ret->rchar) && parse_key_u64(text, "wchar", ':', &ret->wchar) &&
                 parse_key_u64(text, "syscr", ':', &ret->syscr) && parse_key_u64(text, "syscw", ':', &ret->syscw) &&
                 parse_key_u64(text, "read_bytes", ':', &ret->read_bytes) &&
                 parse_key_u64(text, "write_bytes", ':', &ret->write_bytes);
    free(text);
    if (!ret->known)
        reason_set(ret->reason, IO ": not all of the lines that proc_pid_io(5) names");
}

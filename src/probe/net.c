/* SPDX-License-Identifier: MIT */
#include "probe/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/read.h"

#define DEV "/proc/net/dev"

/* Mbit/s; -1 or an error where there is no link, or none that has a speed. */
static void take_speed(const struct probe *p, struct probe_port *port)
{
    char path[128], full[512], reason[PROBE_REASON];
    uint64_t mbits;

    snprintf(path, sizeof(path), "/sys/class/net/%s/device", port->name);
    port->is_hardware = read_path(p, full, sizeof(full), "%s", path) && access(full, F_OK) == 0;
    snprintf(path, sizeof(path), "/sys/class/net/%s/speed", port->name);
    if (read_u64(p, path, &mbits, reason) < 0 || !mbits || mbits >= UINT32_MAX)
        return;
    port->has_speed = true;
    port->speed_bits_per_s = mbits * 1000000;
}

/* "  eth0: bytes packets errs drop fifo frame compressed multicast bytes ...": dev_seq_printf_stats() */
static bool take_line(const char *line, struct probe_port *port)
{
    const char *colon = strrchr(line, ':'), *at = colon + 1;
    uint64_t v[9];
    size_t length;

    if (!colon)
        return false;
    line += strspn(line, " ");
    length = (size_t)(colon - line);
    if (!length || length >= sizeof(port->name) || memchr(line, '/', length))
        return false;
    for (int i = 0; i < 9; i++)
        if (!parse_u64(&at, &v[i]) || (*at && *at != ' '))
            return false;
    *port = (struct probe_port){.known = true, .received_bytes = v[0], .sent_bytes = v[8]};
    memcpy(port->name, line, length);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct probe_port *)a)->name, ((const struct probe_port *)b)->name);
}

static bool take_lines(const struct probe *p, char *text, struct probe_ports *ret)
{
    char *at = text, *line;

    for (unsigned n = 1; (line = strsep(&at, "\n")); n++) {
        struct probe_port port;

        if (n <= 2 || !*line) /* two lines of heads */
            continue;
        if (!take_line(line, &port)) {
            reason_set(ret->reason, DEV ": line %u is malformed", n);
            return false;
        }
        if (ret->n == PROBE_MAX_PORTS) {
            ret->n_left_out++;
            continue;
        }
        take_speed(p, &port);
        ret->items[ret->n++] = port;
    }
    qsort(ret->items, ret->n, sizeof(ret->items[0]), by_name);
    return true;
}

void probe_net_read(const struct probe *p, struct probe_ports *ret)
{
    char *text;

    memset(ret, 0, sizeof(*ret));
    text = read_text(p, DEV, ret->reason);
    ret->known = text && take_lines(p, text, ret);
    free(text);
    if (!ret->known)
        ret->n = 0;
}

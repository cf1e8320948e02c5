/* SPDX-License-Identifier: MIT */
/* Worker protocol: JSON objects, one a line, over a stream socket. Documented in docs/worker-protocol.md. */
#ifndef SPUR_WORKER_WIRE_H
#define SPUR_WORKER_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define WIRE_FD 3 /* the worker's end */

struct wire {
    int fd;
    char *buffer;
    size_t size, used, scanned;
};

/* Sends @message (reference stolen). 0 or negative errno (-EPIPE: the other side is gone). */
int wire_send(struct wire *w, json_t *message);
/* 1: *ret_message is a new reference; 0: nothing yet (only with @wait false); negative: -EPIPE at the end of the
 * stream, -EBADMSG for a line that is no JSON object. */
int wire_receive(struct wire *w, bool wait, json_t **ret_message);
void wire_close(struct wire *w);

#endif

/* SPDX-License-Identifier: MIT */
#include "worker/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/util.h"

#define MAX_LINE (256u << 20)

int wire_send(struct wire *w, json_t *message)
{
    _cleanup_free_ char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    size_t length, sent = 0;

    json_decref(message);
    if (!text)
        return -ENOMEM;
    length = strlen(text);
    text[length++] = '\n'; /* the terminating zero's place */
    while (sent < length) {
        ssize_t n = send(w->fd, text + sent, length - sent, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        sent += (size_t)n;
    }
    return 0;
}

static int take_line(struct wire *w, json_t **ret_message)
{
    char *end = memchr(w->buffer + w->scanned, '\n', w->used - w->scanned);
    size_t length;

    w->scanned = w->used;
    if (!end)
        return 0;
    length = (size_t)(end - w->buffer);
    *ret_message = json_loadb(w->buffer, length, 0, NULL);
    w->used -= length + 1;
    memmove(w->buffer, end + 1, w->used);
    w->scanned = 0;
    if (json_is_object(*ret_message))
        return 1;
    json_decref(*ret_message);
    return -EBADMSG;
}

static int grow(struct wire *w)
{
    size_t size = w->size ? w->size * 2 : 65536;
    char *buffer;

    if (w->used < w->size)
        return 0;
    buffer = size > MAX_LINE ? NULL : realloc(w->buffer, size);
    if (!buffer)
        return -ENOMEM;
    w->buffer = buffer;
    w->size = size;
    return 0;
}

int wire_receive(struct wire *w, bool wait, json_t **ret_message)
{
    for (;;) {
        int r = w->used > w->scanned ? take_line(w, ret_message) : 0;
        ssize_t n;

        if (r || (r = grow(w)) < 0)
            return r;
        n = recv(w->fd, w->buffer + w->used, w->size - w->used, wait ? 0 : MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -errno;
        if (n == 0)
            return -EPIPE;
        w->used += (size_t)n;
    }
}

void wire_close(struct wire *w)
{
    if (w->fd >= 0)
        close(w->fd);
    free(w->buffer);
    *w = (struct wire){.fd = -1};
}

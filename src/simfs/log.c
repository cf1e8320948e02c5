/* SPDX-License-Identifier: MIT */
#include "simfs/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"

#define ROOM (16u << 20)

size_t log_line(const struct log_entry *l, char *ret)
{
    typedef unsigned long long ull;
    char answer[32];

    if (l->answer < 0)
        snprintf(answer, sizeof(answer), "%s", fault_errno_name((int)-l->answer));
    else
        snprintf(answer, sizeof(answer), "%llu", (ull)l->answer);
    return (size_t)snprintf(ret, LOG_LINE, "%llu %s data.%llu %llu %llu %u %llu %s %s\n", (ull)l->arrival_ns,
                            l->op == MODEL_READ ? "read" : "write", (ull)l->file, (ull)l->offset, (ull)l->bytes,
                            l->server, (ull)l->service_ns, answer, fault_name(l->fault));
}

/* An older log may be replaced, and an empty file; nothing else. */
static int check_old(int fd, const char *name, struct spur_error *e)
{
    char head[12] = "";
    struct stat st;
    ssize_t n = -1;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        n = pread(fd, head, sizeof(head), 0);
    if (n == 0 || (n == sizeof(head) && !memcmp(head, LOG_FIRST_LINE, sizeof(head))))
        return ftruncate(fd, 0) < 0 ? error_errno(e, errno, "ftruncate", "--log: %s", name) : 0;
    error_spur(e, SPUR_CODE_REFUSED, "log", "--log: %s exists and is no log of simfs", name);
    error_remedy(e, "name a new file");
    return -EPERM;
}

int log_open(struct log *l, const char *name, struct spur_error *e)
{
    ssize_t first = (ssize_t)strlen(LOG_FIRST_LINE);

    *l = (struct log){.fd = -1};
    if (!name)
        return 0;
    l->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_NONBLOCK, 0644);
    if (l->fd < 0)
        return error_errno(e, errno, "open", "--log: %s", name);
    if (check_old(l->fd, name, e) < 0)
        return -e->code;
    return write(l->fd, LOG_FIRST_LINE, (size_t)first) == first ? 0 : error_errno(e, errno, "write", "--log: %s", name);
}

/* ------------------------------------------------------------------------------------------------ */

static int write_all(int fd, const char *text, size_t n)
{
    while (n) {
        ssize_t w = write(fd, text, n);

        if (w < 0 && errno != EINTR)
            return errno;
        if (w > 0) {
            text += w;
            n -= (size_t)w;
        }
    }
    return 0;
}

static uint64_t count_lines(const char *text, size_t n)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

/* Takes the lines, and gives an empty buffer back for them. */
static void write_lines(struct log *l)
{
    char *text = l->text;
    size_t n = l->n;
    int r;

    l->text = l->spare;
    l->n = 0;
    pthread_mutex_unlock(&l->mutex);
    r = l->error ? l->error : write_all(l->fd, text, n);
    pthread_mutex_lock(&l->mutex);
    l->spare = text;
    if (r) {
        l->error = r;
        l->lost += count_lines(text, n);
    }
    pthread_cond_broadcast(&l->drained);
}

static void *thread_main(void *arg)
{
    struct log *l = arg;

    pthread_mutex_lock(&l->mutex);
    while (!l->stopping || l->n) {
        struct timespec soon;

        if (l->n) {
            write_lines(l);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec++;
        pthread_cond_timedwait(&l->changed, &l->mutex, &soon);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

int log_start(struct log *l)
{
    int r;

    if (l->fd < 0)
        return 0;
    l->room = ROOM;
    l->text = malloc(l->room);
    l->spare = malloc(l->room);
    if (!l->text || !l->spare)
        return -ENOMEM;
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->changed, NULL);
    pthread_cond_init(&l->drained, NULL);
    r = pthread_create(&l->thread, NULL, thread_main, l);
    l->started = !r;
    return -r;
}

/* The thread is called once there is something worth a write; it looks by itself every second. */
void log_add(struct log *l, const struct log_entry *entry)
{
    char line[LOG_LINE];
    size_t n;

    if (!l->started)
        return;
    n = log_line(entry, line);
    pthread_mutex_lock(&l->mutex);
    while (l->room - l->n < n)
        pthread_cond_wait(&l->drained, &l->mutex);
    memcpy(l->text + l->n, line, n);
    if (l->n < 65536 && l->n + n >= 65536)
        pthread_cond_signal(&l->changed);
    l->n += n;
    pthread_mutex_unlock(&l->mutex);
}

uint64_t log_lost(struct log *l)
{
    uint64_t lost;

    if (!l->started)
        return 0;
    pthread_mutex_lock(&l->mutex);
    lost = l->lost;
    pthread_mutex_unlock(&l->mutex);
    return lost;
}

int log_close(struct log *l)
{
    int error = 0;

    if (l->started) {
        pthread_mutex_lock(&l->mutex);
        l->stopping = true;
        pthread_cond_signal(&l->changed);
        pthread_mutex_unlock(&l->mutex);
        pthread_join(l->thread, NULL);
        error = l->error;
        pthread_cond_destroy(&l->changed);
        pthread_cond_destroy(&l->drained);
        pthread_mutex_destroy(&l->mutex);
    }
    free(l->text);
    free(l->spare);
    if (l->fd >= 0 && close(l->fd) < 0 && !error)
        error = errno;
    *l = (struct log){.fd = -1};
    return -error;
}
